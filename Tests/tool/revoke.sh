#!/bin/sh
# revoke: numbering, carrying forward, restoring; what it takes and what it refuses.
. "$(dirname "$0")/lib.sh"
make_keys
app orders 5
publish orders 5 a.nshpkg

t 0 revoke --root root.secret --first -o 1.json; says "list 1 of root "; says "nothing revoked"
t 0 revoke --root root.secret --previous 1.json --key release.pub --certificate release.cert --package a.nshpkg \
    --min-build com.example.orders=6 --max-build com.example.orders=9 --transfer "com.example.orders=New Owner" \
    --expires 2030-01-01T00:00:00Z -o 2.json --json
json 'list(o) == ["file","verdict","kind","signatures","says"] and o["kind"] == "revocations"'
json 'o["says"]["sequence"] == 2 and len(o["says"]["keys"]) == 1 and len(o["says"]["certificates"]) == 1'
json 'o["says"]["minimumBuilds"] == {"com.example.orders": 6} and o["says"]["maximumBuilds"] == {"com.example.orders": 9}'
json 'o["says"]["transfers"] == {"com.example.orders": "New Owner"} and o["says"]["expiresAt"] == 1893456000'
digest=$("$tool" verify a.nshpkg --root root.pub --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["digest"])')
json "o['says']['packages'] == ['$digest']"
serial=$("$tool" inspect release.cert --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["says"]["serial"])')
hash=$("$tool" inspect release.pub --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["says"]["keyHash"])')

# Everything is carried forward; entries go one by one, by any of their names.
t 0 revoke --root root.secret --previous 2.json -o 3.json --json
json 'o["says"]["sequence"] == 3 and len(o["says"]["keys"]) == 1 and o["says"]["expiresAt"] == 1893456000'
t 0 revoke --root root.secret --previous 3.json --restore "$hash" --restore "$serial" --restore "$digest" \
    --restore minimumBuilds:com.example.orders --expires never -o 4.json --json
json 'o["says"]["keys"] == o["says"]["certificates"] == o["says"]["packages"] == [] and "expiresAt" not in o["says"]'
json 'o["says"]["minimumBuilds"] == {} and o["says"]["maximumBuilds"] == {"com.example.orders": 9}'
t 0 revoke --root root.secret --previous 4.json --restore com.example.orders -o 5.json --json
json 'o["says"]["maximumBuilds"] == {} and o["says"]["transfers"] == {}'
t 0 revoke --root root.secret --previous 5.json --key "$hash" --certificate "$serial" --package "$digest" \
    --certificate a.nshpkg -o 6.json --json
json 'o["says"]["keys"] and o["says"]["packages"] and len(o["says"]["certificates"]) == 1'

t 2 revoke --root root.secret --previous 5.json --restore com.example.nothing -o x.json; tells "no entry"
t 1 revoke --root root2.secret --previous 5.json -o x.json; tells untrustedRoot
t 1 revoke --root root.secret --previous release.cert -o x.json; tells malformed
t 3 revoke --root root.secret --previous nofile -o x.json; tells noSuchFile
t 1 revoke --root root.secret --first --key root.secret -o x.json
t 3 revoke --root root.secret --first --key 1234 -o x.json; tells "1234"
t 1 revoke --root root.secret --first --package release.cert -o x.json
t 1 revoke --root root.secret --first --certificate root.pub -o x.json
t 1 revoke --root root.secret --first --min-build nodots=1 -o x.json
t 2 revoke --root root.secret --first --min-build com.a.b=1 --min-build com.a.b=2 -o x.json; tells twice
no test -e x.json

# What gives trust back needs as many roots as the host asks for.
t 0 open a.nshpkg --state store --root root.pub
t 0 revoke --root root.secret --first --transfer "com.example.orders=New Owner" -o t.json
t 0 update-revocations t.json --state store2 --root root.pub --root root2.pub --threshold 2
tells "warning: maximumBuilds and transfers were passed over: 1 of 2"
t 0 cosign t.json --root root2.secret -o t2.json
t 0 inspect t2.json --root root.pub --root root2.pub --threshold 2; says "verified"; says "transfer"
t 0 update-revocations t2.json --state store3 --root root.pub --root root2.pub --threshold 2 --json; quiet
json 'list(o) == ["file","verdict","code","message","issuer","sequence","changed","dryRun","stoppedApps","warnings"]'
json 'o["changed"] is True and o["warnings"] == [] and o["stoppedApps"] == []'

# Numbers at a store.
t 0 update-revocations 2.json --state store --root root.pub; says "stops com.example.orders"
t 1 update-revocations 1.json --state store --root root.pub; says "REFUSED revocationsOlder  1.json: "
t 0 revoke --root root.secret --previous 1.json -o 2b.json
t 1 update-revocations 2b.json --state store --root root.pub; says "REFUSED revocationsConflict"
t 1 update-revocations 3.json --state store --root root2.pub; says "REFUSED untrustedRoot"
t 1 update-revocations release.cert --state store --root root.pub; says "REFUSED malformed"
t 3 update-revocations nofile --state store --root root.pub; says "ERROR noSuchFile"
t 3 update-revocations nofile --state store --root root.pub --json; json 'o["verdict"] == "error" and o["file"] == "nofile"'
t 3 update-revocations 3.json --state store; tells noTrustedRoots
t 3 update-revocations 3.json --state nostore --root root.pub --dry-run; no test -e nostore
t 0 update-revocations 3.json --state store --root root.pub --dry-run --quiet; silent
t 0 store status --state store --json; json '[row["sequence"] for row in o["lists"]] == [2]'

# A root withdraws itself, for good: it is passed over with a warning, and nothing is left.
t 0 revoke --root root.secret --previous 3.json --withdraw-root -o w.json; says "withdraws its issuer"
t 0 update-revocations w.json --state store --root root.pub
t 3 verify a.nshpkg --root root.pub --state store; tells "warning: root.pub is passed over"; says noTrustedRoots
t 1 verify a.nshpkg --root root.pub --root root2.pub --state store; tells "passed over"; says untrustedRoot
t 0 roots --root root.pub --root root2.pub --state store --json
json '[row["withdrawn"] for row in rows] == [True, False] and rows[0]["code"] == "rootWithdrawn"'
finish

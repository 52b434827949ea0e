#!/bin/sh
# verify: options, standard input, JSON, the chain, what is established when something is refused.
. "$(dirname "$0")/lib.sh"
make_keys
app orders 5
publish orders 5 a.nshpkg

t 0 verify a.nshpkg --root root.pub --json; quiet
json 'list(o) == ["file","verdict","code","message","app","publisher","digest","signedAt","key","certificate","roots","files","unpackedSize"]'
json 'o["file"] == "a.nshpkg" and o["verdict"] == "accepted" and o["code"] is None and isinstance(o["message"], str)'
json 'o["app"] == {"id": "com.example.orders", "name": "Orders", "version": "1.4.0", "build": 5}'
json 'list(o["certificate"]) == ["serial", "notBefore", "notAfter", "apps", "content"] and len(o["certificate"]["serial"]) == 32'
json 'o["files"] == 3 and len(o["digest"]) == 64 and len(o["key"]) == 64 and [len(root) for root in o["roots"]] == [64]'
digest=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["digest"])' "$out")

# What a refusal has established is there, the rest is absent.
t 1 verify a.nshpkg --root root2.pub --json
json 'list(o) == ["file","verdict","code","message"] and o["code"] == "untrustedRoot" and o["verdict"] == "refused"'
t 0 revoke --root root.secret --first --package $digest -o list.json
t 1 verify a.nshpkg --root root.pub --revocations list.json --json
json 'o["code"] == "packageRevoked" and o["app"]["build"] == 5 and "files" not in o and "unpackedSize" not in o'
t 0 revoke --root root.secret --first --key release.pub -o list.json
t 1 verify a.nshpkg --root root.pub --revocations list.json --json
json 'o["code"] == "keyRevoked" and o["publisher"] == "Example Ltd" and "app" not in o and "digest" not in o'
t 3 verify nofile --root root.pub --json
json 'list(o) == ["file","verdict","code","message"] and o["verdict"] == "error" and o["code"] == "noSuchFile"'
cp a.nshpkg bad.nshpkg
printf X | dd of=bad.nshpkg bs=1 seek=$(($(stat -c %s bad.nshpkg) - 20)) conv=notrunc status=none
t 1 verify bad.nshpkg --root root.pub --json
json 'o["code"] == "payloadCorrupt" and o["app"]["build"] == 5 and "files" not in o'

# Standard input.
for file in a.nshpkg bad.nshpkg; do
    last="verify - <$file"
    status=0; "$tool" verify - --root root.pub --json <$file >"$out" 2>"$err" || status=$?
    case $file in a*) ok test $status -eq 0 ;; *) ok test $status -eq 1 ;; esac
    json 'o["file"] == "-"'
done
t 2 verify - - --root root.pub; tells "once"
t 1 verify - --root root.pub; says "REFUSED truncated  -: "

# The chain.
t 0 verify -v a.nshpkg --root root.pub
says "root "; says "root.pub"; says "└─ certificate "; says "└─ release key "; says "└─ package $digest"; says "└─ 3 files"
t 1 verify -v a.nshpkg --root root.pub --revocations list.json; says "established before that:"; says_not "└─ package"

# --quiet prints refusals and errors only.
t 0 verify --quiet a.nshpkg --root root.pub; silent; quiet
t 1 verify --quiet a.nshpkg bad.nshpkg --root root.pub; ok test "$(wc -l <"$out")" -eq 1; quiet

# Thresholds, times, runtimes, ages.
t 1 verify a.nshpkg --root root.pub --root root2.pub --threshold 2; says "1 of 2 signatures"
t 0 cosign release.cert --root root2.secret -o both.cert
t 0 recertify a.nshpkg --certificate both.cert -o both.nshpkg
t 0 verify both.nshpkg --root root.pub --root root2.pub --threshold 2 -v
ok test "$(grep -c '^ *root ' "$out")" -eq 2
t 1 verify both.nshpkg --root root.pub --root root.pub --threshold 2; says untrustedRoot
t 1 verify a.nshpkg --root root.pub --at 2040-01-01T00:00:00Z; says "REFUSED certificateExpired"; tells "certify --renew"
t 0 verify a.nshpkg --root root.pub --at 2040-01-01T00:00:00Z --at-signing
t 1 verify a.nshpkg --root root.pub --at 0; says "REFUSED signedInFuture"
t 0 publish orders --key release.secret --certificate release.cert --build 5 --min-runtime 2.1 -o r.nshpkg
t 1 verify r.nshpkg --root root.pub --runtime 2.0.9; says "REFUSED runtimeTooOld"
t 0 verify r.nshpkg --root root.pub --runtime 2.1
t 0 verify r.nshpkg --root root.pub
t 1 verify a.nshpkg --root root.pub --max-list-age 7d; says "REFUSED revocationsStale"
t 0 revoke --root root.secret --first -o empty.json; says "nothing revoked"
t 0 verify a.nshpkg --root root.pub --max-list-age 7d --revocations empty.json
t 1 verify a.nshpkg --root root.pub --max-list-age 0 --revocations empty.json --at "$(($(date +%s) + 60))"
t 1 verify a.nshpkg --root root.pub --revocations empty.json --revocations list.json; says "revocationsConflict"
t 1 verify a.nshpkg --root root2.pub --revocations empty.json; says "untrustedRoot"; says "empty.json"
t 3 verify a.nshpkg --root root.pub --revocations nofile.json; tells noSuchFile
t 3 verify . /dev/null --root root.pub; ok test "$(grep -c '^ERROR notARegularFile' "$out")" -eq 2
mkfifo pipe
t 3 verify pipe --root root.pub; says "ERROR notARegularFile"

# What ends within a month is warned of, with -v.
t 0 certify --root root.secret --renew release.cert --days 10 -o short.cert
t 0 recertify a.nshpkg --certificate short.cert -o short.nshpkg
t 0 verify -v short.nshpkg --root root.pub; tells "warning"; tells " days"
t 0 verify short.nshpkg --root root.pub; quiet

# A store is asked, never made, never written.
t 3 verify a.nshpkg --root root.pub --state nostore; no test -e nostore
mkdir bare
t 3 verify a.nshpkg --root root.pub --state bare; ok test -z "$(ls -A bare)"
t 0 open a.nshpkg --root root.pub --state store
before=$(find store -printf '%p %s %T@\n' | sort)
export NSH_TRUST_STATE=store
publish orders 4 old.nshpkg
t 1 verify old.nshpkg --root root.pub; says "REFUSED rolledBack"
unset NSH_TRUST_STATE
ok test "$before" = "$(find store -printf '%p %s %T@\n' | sort)"
t 0 verify old.nshpkg --root root.pub
# What was accepted stays good when its certificate ends.
t 0 verify a.nshpkg --root root.pub --state store --at 2040-01-01T00:00:00Z
finish

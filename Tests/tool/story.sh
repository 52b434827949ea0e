#!/bin/sh
# From a key to an opened package, and every way back, as the README tells it.
. "$(dirname "$0")/lib.sh"

t 0 keygen root --no-password; quiet
t 0 keygen release --no-password
t 0 certify --root root.secret --key release.pub --publisher "Example Ltd" --apps "com.example.*" --days 365 -o release.cert
says "OK  release.cert: certificate "; says " for Example Ltd: com.example.*"; quiet
app orders 5
t 0 publish orders --key release.secret --certificate release.cert --build 5 -o orders-5.nshpkg
says "OK  orders-5.nshpkg: com.example.orders 1.4.0 (build 5)  3 files"; quiet
t 0 publish orders --key release.secret --certificate release.cert --build 6 --version 1.5.0 -o orders-6.nshpkg
t 0 verify orders-5.nshpkg orders-6.nshpkg --root root.pub
ok test "$(wc -l <"$out")" -eq 2; quiet
key=$("$tool" inspect release.pub --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["says"]["id"])')
says "OK  com.example.orders 1.4.0 (build 5)  Example Ltd  key $key"
says "OK  com.example.orders 1.5.0 (build 6)  Example Ltd  key $key"
no test -e store
t 0 open orders-5.nshpkg --state store --root root.pub; quiet
t 0 open orders-6.nshpkg --state store --root root.pub --json
json 'o["verdict"] == "accepted" and o["app"]["build"] == 6'
tree=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["directory"])' "$out")
ok test -f "$tree/bundle.js"
ok cmp -s orders/bundle.js "$tree/bundle.js"
ok grep -q '"version":"1.5.0"' "$tree/app.json"
if (cd "$tree" && sha256sum --quiet -c SHA256SUMS) >"$work/logs/sums" 2>&1; then pass; else fail "sha256sum -c"; fi
ok test -z "$(find "$tree" -type l -o -type f ! -perm 644 -o -mindepth 1 -type d ! -perm 755)"
t 1 open orders-5.nshpkg --state store --root root.pub
says "REFUSED rolledBack  orders-5.nshpkg: build 5 is older than build 6, accepted 2"; tells "hint: this is an older build"
t 1 verify orders-5.nshpkg --state store --root root.pub; says "REFUSED rolledBack"
t 0 verify orders-5.nshpkg --root root.pub
t 0 open orders-6.nshpkg --state store --root root.pub

t 0 revoke --root root.secret --first --key release.pub -o list-1.json
says "OK  list-1.json: list 1 of root "; says "1 key revoked"
t 1 verify orders-6.nshpkg --root root.pub --revocations list-1.json; says "REFUSED keyRevoked"
t 0 update-revocations list-1.json --state store --root root.pub --dry-run
says "would be applied"; says "would stop com.example.orders"
t 0 open orders-6.nshpkg --state store --root root.pub
t 0 update-revocations list-1.json --state store --root root.pub; says "stops com.example.orders"
t 0 update-revocations list-1.json --state store --root root.pub; says "in force already"
t 1 open orders-6.nshpkg --state store --root root.pub; says "REFUSED keyRevoked  orders-6.nshpkg: "

# A new key, and life goes on; the floor stays.
t 0 keygen release2 --no-password
t 0 certify --root root.secret --key release2.pub --publisher "Example Ltd" --apps "com.example.*" --days 365 -o release2.cert
t 0 publish orders --key release2.secret --certificate release2.cert --build 7 -o orders-7.nshpkg
t 0 open orders-7.nshpkg --state store --root root.pub
t 0 store apps --state store; says "com.example.orders  build 7  Example Ltd  accepted 2"
t 0 store events --state store; says "refused rolledBack"; says "refused keyRevoked"; says "opened"

# Tampering.
t 0 publish orders --key release2.secret --certificate release2.cert --build 8 -o bad.nshpkg
printf X | dd of=bad.nshpkg bs=1 seek=$(($(stat -c %s bad.nshpkg) - 100)) conv=notrunc status=none
t 1 verify bad.nshpkg --root root.pub; says "REFUSED payloadCorrupt  bad.nshpkg: "
t 1 open bad.nshpkg --state store --root root.pub; says "REFUSED payloadCorrupt"
t 0 store apps --state store; says "build 7"; says_not "build 8"
head -c 300 orders-7.nshpkg >short.nshpkg
t 1 verify short.nshpkg --root root.pub; says "REFUSED truncated"
{ cat orders-7.nshpkg; echo x; } >long.nshpkg
t 1 verify long.nshpkg --root root.pub; says "REFUSED trailingData"
t 1 verify release.cert --root root.pub; says "REFUSED unsupportedFormat"
: >none.nshpkg
t 1 verify none.nshpkg --root root.pub; says "REFUSED truncated"

# Not being able to decide is something else.
t 3 verify nowhere.nshpkg --root root.pub; says "ERROR noSuchFile  nowhere.nshpkg: "
t 3 verify orders-7.nshpkg; tells noTrustedRoots; tells "roots.d"
t 3 verify orders-7.nshpkg --json; json 'o["file"] == "orders-7.nshpkg" and o["code"] == "noTrustedRoots"'
t 3 verify bad.nshpkg orders-7.nshpkg nowhere.nshpkg --root root.pub
ok test "$(wc -l <"$out")" -eq 3
t 1 verify bad.nshpkg orders-7.nshpkg --root root.pub
ok test -z "$(find . -name '.nsh*' -o -name '*.tmp')"
finish

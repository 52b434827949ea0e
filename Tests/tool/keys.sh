#!/bin/sh
# Keys: modes, never overwritten, passphrases from files, never from arguments, no hang without a terminal.
. "$(dirname "$0")/lib.sh"

umask 000
t 0 keygen root --no-password; quiet; says "OK  key "; says "(no passphrase)"
ok test "$(stat -c %a root.secret)" = 600
ok test "$(stat -c %a root.pub)" = 644
umask 077
t 0 keygen other --no-password --json
ok test "$(stat -c %a other.secret)" = 600
json 'list(o) == ["verdict", "publicFile", "secretFile", "key", "sealed"]'
json 'o["verdict"] == "done" and o["sealed"] is False and len(o["key"]) == 64'
umask 022
before=$(sha256sum root.secret root.pub)
t 3 keygen root --no-password; silent; tells "exists: root.pub is there already"
rm root.pub
t 3 keygen root --no-password; tells "exists"
"$tool" keygen tmp --no-password --quiet && mv tmp.pub root.pub && rm tmp.secret
ok test "$(sha256sum root.secret)" = "$(printf '%s\n' "$before" | head -n 1)"
ln -s nowhere link.secret
t 3 keygen link --no-password; tells exists; no test -e nowhere
t 3 keygen no/such/dir --no-password; tells noSuchFile
t 3 keygen new; silent; tells "terminal"; tells "--password-file"; no test -e new.secret; no test -e new.pub

printf 'correct horse\n' >pass
printf 'wrong\n' >wrong
: >empty
t 0 keygen sealed --password-file pass; says "(sealed)"
t 2 keygen sealed2 --password-file empty; tells badRequest; no test -e sealed2.secret
t 3 keygen sealed3 --password-file nofile; tells noSuchFile
ok grep -q '"cipher":"xchacha20poly1305"' sealed.secret
no grep -q "horse" sealed.secret
t 0 keygen release --no-password
set -- certify --key release.pub --publisher P --apps com.example.a --days 1
t 0 "$@" --root sealed.secret --password-file pass -o a.cert
t 3 "$@" --root sealed.secret --password-file wrong -o b.cert; tells wrongPassphrase; no test -e b.cert
t 3 "$@" --root sealed.secret -o b.cert; tells "there is no terminal"; no test -e b.cert
# A passphrase may come through a pipe, and its trailing line end does not count.
printf 'correct horse' | "$tool" "$@" --root sealed.secret --password-file /dev/stdin -o c.cert >"$out" 2>"$err"
ok test -e c.cert

# A secret that others may read is used, and said.
chmod 644 other.secret
t 0 "$@" --root other.secret -o d.cert; tells "warning"; tells "chmod 600"
t 0 inspect sealed.secret --json; json 'o["kind"] == "secretKey" and o["says"]["sealed"] is True'
json '"secret" not in json.dumps(o).replace("secretKey", "").replace("sealed.secret", "")'
t 0 inspect other.secret; says "whoever reads the file has the key"
seed=$(python3 -c 'import json; print(json.load(open("other.secret"))["secret"])')
says_not "$seed"
t 0 inspect root.pub --json
json 'o["verdict"] == "unsigned" and list(o["says"]) == ["id", "keyHash", "key", "usableAsRoot"]'
finish

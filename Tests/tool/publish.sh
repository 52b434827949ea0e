#!/bin/sh
# publish, recertify, certify --renew, and keys that sign elsewhere.
. "$(dirname "$0")/lib.sh"
make_keys
app orders 5

set -- publish orders --key release.secret --certificate release.cert
t 0 "$@" -o a.nshpkg --json; quiet
json 'list(o) == ["file","verdict","draft","app","digest","manifest","signedAt","files","unpackedSize","packageSize"]'
json 'o["verdict"] == "done" and o["draft"] is False and o["app"]["build"] == 5 and o["files"] == 3'
json '__import__("os").stat("a.nshpkg").st_size == o["packageSize"]'
t 0 verify a.nshpkg --root root.pub

# The same again gives the same bytes; the directory is not written.
before=$(find orders -printf '%p %s %T@\n' | sort)
SOURCE_DATE_EPOCH=$(date +%s); export SOURCE_DATE_EPOCH
t 0 "$@" -o b.nshpkg
t 0 "$@" -o c.nshpkg
unset SOURCE_DATE_EPOCH
ok cmp -s b.nshpkg c.nshpkg
ok test "$before" = "$(find orders -printf '%p %s %T@\n' | sort)"

# Options replace what app.json says, in the package only.
t 0 "$@" --id com.example.other --name "Other Näme" --version 2.0 --build 77 --annotate source.revision=abc -o o.nshpkg
says "com.example.other 2.0 (build 77)"
t 0 inspect o.nshpkg --root root.pub --json
json 'o["says"]["name"] == "Other Näme" and o["says"]["annotations"] == {"source.revision": "abc"}'
ok grep -q '"build":5' orders/app.json
t 0 "$@" --compression none -o n.nshpkg
t 0 "$@" --level 19 -o l.nshpkg
t 0 verify o.nshpkg n.nshpkg l.nshpkg --root root.pub
tar -C orders -cf app.tar . && tar -C orders -czf app.tar.gz .
t 0 publish app.tar --key release.secret --certificate release.cert -o t.nshpkg
t 0 publish app.tar.gz --key release.secret --certificate release.cert -o z.nshpkg
t 0 verify t.nshpkg z.nshpkg --root root.pub

# Names beyond ASCII, from a directory, a tar and a zip: the same package.
cp -r orders wide
echo 1 >"wide/assets/größe 日本.txt"
python3 - <<'P'
import pathlib, tarfile, zipfile
with tarfile.open("wide.tar", "w", format=tarfile.PAX_FORMAT) as tar:
    tar.add("wide", ".")
with zipfile.ZipFile("wide.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    for path in sorted(pathlib.Path("wide").rglob("*")):
        archive.write(path, path.relative_to("wide"))
P
SOURCE_DATE_EPOCH=$(date +%s); export SOURCE_DATE_EPOCH
for source in wide wide.tar wide.zip; do
    t 0 publish $source --key release.secret --certificate release.cert -o $source.nshpkg
done
unset SOURCE_DATE_EPOCH
ok cmp -s wide.nshpkg wide.tar.nshpkg
ok cmp -s wide.nshpkg wide.zip.nshpkg
t 0 extract wide.zip.nshpkg wide-out --root root.pub
ok cmp -s "wide/assets/größe 日本.txt" "wide-out/assets/größe 日本.txt"

# What a host would refuse, each thing named, and nothing written.
t 1 "$@" --id org.elsewhere.app -o x.nshpkg; silent; tells "appNotCertified: the certificate covers com.example.*, not org.elsewhere.app"
t 1 "$@" --id nodots -o x.nshpkg; tells malformed
t 1 publish orders --key root2.secret --certificate release.cert -o x.nshpkg; tells badSignature
t 1 publish orders --key release.secret --certificate root.pub -o x.nshpkg; tells malformed
ln -s bundle.js orders/link.js; touch orders/.DS_Store "orders/a~"; mkdir orders/.git; touch orders/.git/config
t 1 "$@" -o x.nshpkg; silent
tells "unsafeMember  link.js: "; tells "--follow-links"; tells ".DS_Store"; tells "a~"; tells ".git"; tells "--include-stray"
t 1 "$@" -o x.nshpkg --json
json 'all(list(row) == ["file","verdict","code","message"] for row in rows[:-1]) and len(rows) >= 4'
json 'list(rows[-1]) == ["verb","verdict","code","message"] and rows[-1]["verdict"] == "refused"'
no test -e x.nshpkg
rm -r orders/.git orders/.DS_Store "orders/a~"
t 0 "$@" --follow-links -o f.nshpkg
t 0 verify f.nshpkg --root root.pub --json; json 'o["files"] == 4'
rm orders/link.js
touch "orders/$(printf 'evil\033[31m')"
t 1 "$@" -o x.nshpkg; tells 'evil\u{1B}[31m'; tells_not "$(printf '\033')"
rm -f orders/evil*
mkdir orders/empty
t 0 "$@" -o e.nshpkg; tells "empty is empty"
rmdir orders/empty
mv orders/bundle.js b.js
t 1 "$@" -o x.nshpkg; tells manifestMismatch
mv b.js orders/bundle.js
t 3 publish nowhere --key release.secret --certificate release.cert -o x.nshpkg; tells noSuchFile
t 3 "$@" -o no/such/dir.nshpkg
t 3 "$@" -o .; t 3 "$@" -o /dev/null; ok test -c /dev/null
ln -s a.nshpkg link.nshpkg
t 3 "$@" -o link.nshpkg; tells notARegularFile; ok test -L link.nshpkg
no test -e x.nshpkg
t 0 "$@" --root root.pub -o a.nshpkg
t 1 "$@" --root root2.pub -o x.nshpkg; tells untrustedRoot
t 2 "$@" --threshold 2 -o x.nshpkg; tells "--threshold counts"
ok test -z "$(find . -name '.nsh*')"

# A certificate: never wider than asked.
t 1 certify --root root.secret --key root.pub --publisher P --apps com.a.b --days 1 -o x.cert; tells "cannot certify itself"
t 1 certify --root root.secret --key release.pub --publisher "$(printf 'E\033[31m')" --apps com.a.b --days 1 -o x.cert
t 1 certify --root root.secret --key release.pub --publisher P --apps 'com..b' --days 1 -o x.cert
t 1 certify --root root.secret --key release.pub --publisher P --apps '*.com' --days 1 -o x.cert
t 1 certify --root root.secret --key release.pub --publisher P --apps com.a.b,com.a.b --days 1 -o x.cert
t 1 certify --root root.pub --key release.secret --publisher P --apps com.a.b --days 1 -o x.cert
no test -e x.cert
t 0 certify --root root.secret --key release.pub --publisher P --apps com.example.orders,com.b.* --content source --not-before 1000 --not-after 2000 --annotate a=b -o n.cert --json
json 'o["says"]["notBefore"] == 1000 and o["says"]["notAfter"] == 2000 and o["says"]["content"] == ["source"]'
json 'o["says"]["apps"] == ["com.example.orders", "com.b.*"] and o["signatures"] == 1'
t 1 publish orders --key release.secret --certificate n.cert -o x.nshpkg; tells signedOutsideWindow

# Renewal: the same words, a new end; existing packages take it.
t 0 certify --root root.secret --renew release.cert --days 700 -o renewed.cert
t 1 certify --root root2.secret --renew release.cert --days 700 -o x.cert; tells untrustedRoot
t 0 certify --root root2.secret --renew release.cert --old-root root.pub --days 700 -o renewed2.cert
t 0 recertify a.nshpkg --certificate renewed.cert --root root.pub -o renewed.nshpkg; says "com.example.orders 1.4.0"
t 0 verify renewed.nshpkg a.nshpkg --root root.pub --json
json 'rows[0]["digest"] == rows[1]["digest"] and rows[0]["certificate"]["notAfter"] > rows[1]["certificate"]["notAfter"]'
json 'rows[0]["certificate"]["notBefore"] == rows[1]["certificate"]["notBefore"]'
t 1 recertify a.nshpkg --certificate n.cert -o x.nshpkg; tells signedOutsideWindow
t 0 recertify a.nshpkg --certificate renewed2.cert -o a.nshpkg
t 0 verify a.nshpkg --root root2.pub
t 1 verify a.nshpkg --root root.pub

# Several roots, and roots that change.
t 0 rotate --check --old root.pub --new root.pub --certificate release.cert; says "trusted before and after"
t 1 rotate --check --old root.pub --new root2.pub --certificate release.cert --package renewed.nshpkg
ok test "$(grep -c '^REFUSED untrustedRoot' "$out")" -eq 2; says stranded
t 0 cosign release.cert --root root2.secret -o both.cert
t 0 rotate --check --old root.pub --new root2.pub --certificate both.cert --json
json 'list(o) == ["file","verdict","code","message","outcome","oldSigners","newSigners"] and o["outcome"] == "kept"'
t 3 cosign both.cert --root root2.secret -o x.cert; tells exists

# A key elsewhere: draft, pae, attach; OpenSSL signs.
cat >"$work/sign.py" <<'P'
import base64, json, subprocess, sys, tempfile
seed = base64.b64decode(json.load(open(sys.argv[1]))["secret"])
message = open(sys.argv[2], "rb").read()
with tempfile.NamedTemporaryFile(suffix=".der") as key:
    key.write(bytes.fromhex("302e020100300506032b657004220420") + seed)
    key.flush()
    with tempfile.NamedTemporaryFile() as data:
        data.write(message)
        data.flush()
        out = subprocess.run(["openssl", "pkeyutl", "-sign", "-rawin", "-keyform", "DER", "-inkey", key.name, "-in", data.name],
                             check=True, stdout=subprocess.PIPE).stdout
print(base64.b64encode(out).decode())
P
if command -v openssl >/dev/null; then
    t 0 certify --root root.pub --key release.pub --publisher "Example Ltd" --apps "com.example.*" --days 5 -o draft.cert
    says "draft of certificate"; tells "hint: let key"
    t 0 inspect draft.cert; says "not verified: a draft"
    t 1 publish orders --key release.secret --certificate draft.cert -o x.nshpkg
    t 0 pae draft.cert -o to-sign; says "to sign"
    t 0 pae draft.cert; ok cmp -s "$out" to-sign
    ok grep -q '^DSSEv1 39 application/vnd.nsh.certificate.v1+json ' to-sign
    signature=$(python3 "$work/sign.py" root.secret to-sign)
    t 1 attach draft.cert --signature "$signature" --key root2.pub -o x.cert; tells badSignature
    t 1 attach draft.cert --signature AAAA --key root.pub -o x.cert; tells malformed
    t 0 attach draft.cert --signature "$signature" --key root.pub -o hsm.cert
    t 0 inspect hsm.cert --root root.pub; says "verified: signed by root"
    t 3 attach hsm.cert --signature "$signature" --key root.pub; tells exists
    t 0 publish orders --key release.pub --certificate hsm.cert -o draft.nshpkg; says "draft of com.example.orders"
    t 1 verify draft.nshpkg --root root.pub
    t 0 pae draft.nshpkg -o to-sign
    signature=$(python3 "$work/sign.py" release.secret to-sign)
    t 0 attach draft.nshpkg --signature "$signature" --key release.pub -o signed.nshpkg
    t 0 verify signed.nshpkg --root root.pub
    t 0 revoke --root root.pub --first --key root2.pub -o draft.json
    t 0 pae draft.json -o to-sign
    t 0 attach draft.json --signature "$(python3 "$work/sign.py" root.secret to-sign)" --key root.pub
    t 0 inspect draft.json --root root.pub; says "verified"
else
    skip "keys elsewhere: there is no openssl"
fi
finish

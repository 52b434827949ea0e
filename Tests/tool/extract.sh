#!/bin/sh
# extract: whole or not at all, beside and renamed; no store takes part.
. "$(dirname "$0")/lib.sh"
make_keys
app orders 5
publish orders 5 a.nshpkg

t 0 extract a.nshpkg tree --root root.pub --json; quiet
json 'o["verdict"] == "accepted" and o["directory"] == "tree" and list(o)[-1] == "directory"'
ok cmp -s orders/bundle.js tree/bundle.js
ok cmp -s orders/assets/texts.json tree/assets/texts.json
if (cd tree && sha256sum --quiet -c SHA256SUMS) >"$work/logs/sums" 2>&1; then pass; else fail "sha256sum -c"; fi
t 3 extract a.nshpkg tree --root root.pub; says "ERROR exists"
t 3 extract a.nshpkg a.nshpkg --root root.pub; says "ERROR exists"
t 3 extract a.nshpkg . --root root.pub; says "ERROR exists"
t 3 extract a.nshpkg no/tree --root root.pub; says "ERROR noSuchFile"
mkdir sub
t 0 extract a.nshpkg sub/tree/ --root root.pub; ok test -f sub/tree/app.json
ln -s sub link
t 0 extract a.nshpkg link/tree2 --root root.pub; ok test -f sub/tree2/app.json
ln -s nowhere dangling
t 3 extract a.nshpkg dangling --root root.pub; says "ERROR exists"; no test -e nowhere
last="extract - x"
status=0; "$tool" extract - x --root root.pub <a.nshpkg >"$out" 2>"$err" || status=$?
ok test $status -eq 0; ok test -f x/bundle.js
cp a.nshpkg bad.nshpkg
printf X | dd of=bad.nshpkg bs=1 seek=$(($(stat -c %s bad.nshpkg) - 20)) conv=notrunc status=none
t 1 extract bad.nshpkg y --root root.pub; says "REFUSED payloadCorrupt"; no test -e y
t 1 extract a.nshpkg y --root root2.pub; no test -e y
t 3 extract nofile y --root root.pub; no test -e y
t 3 extract a.nshpkg y; tells noTrustedRoots; no test -e y
# Nothing is remembered: older builds come out as well, also with a state directory in the environment.
publish orders 4 old.nshpkg
t 0 open a.nshpkg --state store --root root.pub
NSH_TRUST_STATE=store "$tool" extract old.nshpkg z --root root.pub >"$out" 2>"$err"; ok test -f z/app.json
mkdir ro; chmod 555 ro
if [ "$(id -u)" -ne 0 ]; then t 3 extract a.nshpkg ro/t --root root.pub; else skip "a directory that root cannot write"; fi
ok test -z "$(find . -name '.nsh*')"
finish

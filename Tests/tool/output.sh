#!/bin/sh
# Where things are printed, colour, progress, and what happens when an answer cannot be written.
. "$(dirname "$0")/lib.sh"
make_keys
app orders 5
publish orders 5 a.nshpkg
cp a.nshpkg bad.nshpkg
printf X | dd of=bad.nshpkg bs=1 seek=$(($(stat -c %s bad.nshpkg) - 20)) conv=notrunc status=none

# Answers on standard output, the rest on standard error.
t 1 verify a.nshpkg bad.nshpkg --root root.pub
ok test "$(cut -d' ' -f1 "$out" | tr '\n' ' ')" = "OK REFUSED "
ok test "$(cut -d: -f1 "$err")" = hint
t 3 certify --root root.secret --key nofile --publisher P --apps a.b --days 1 -o x; silent
ok test "$(cut -d: -f1 "$err" | tr '\n' ' ')" = "nsh-pkgtool hint "
# The same advice is given once.
t 1 verify bad.nshpkg bad.nshpkg bad.nshpkg --root root.pub; ok test "$(grep -c '^hint' "$err")" -eq 1
# Answers and remarks keep their order when they go to one place.
last="verify a bad a, both to one file"
status=0; "$tool" verify a.nshpkg bad.nshpkg a.nshpkg --root root.pub >"$out" 2>&1 || status=$?
ok test "$(cut -c1-4 "$out" | tr '\n' ' ')" = "OK   REFU hint OK   "

# A full disk and a closed pipe: exit status 3, whatever the verdict.
for command in "help" "--version" "inspect root.pub" "verify a.nshpkg --root root.pub" "verify bad.nshpkg --root root.pub" \
    "verify a.nshpkg --root root.pub --json" "keygen full --no-password" "roots --root root.pub" "pae release.cert" "document man"; do
    last="$command >/dev/full"
    status=0
    # shellcheck disable=SC2086
    "$tool" $command >/dev/full 2>"$err" </dev/null || status=$?
    ok test $status -eq 3; tells "cannot write to standard output: No space left on device"
done
last="verify | true"
status=$( { { "$tool" verify a.nshpkg --root root.pub 2>"$err"; echo $? >&3; } | true; } 3>&1 )
case $status in 0 | 3) pass ;; *) fail "a closed pipe: $status" ;; esac
python3 - "$tool" >"$out" <<'P'
import os, subprocess, sys
read, write = os.pipe()
os.close(read)
done = subprocess.run([sys.argv[1], "help"], stdout=write, stderr=subprocess.PIPE)
print(done.returncode, done.stderr.decode())
P
says "3 "; says "Broken pipe"
# Descriptors that are closed are not given to files that the tool opens.
last="verify >&-"
status=0; "$tool" verify a.nshpkg --root root.pub >&- 2>"$err" || status=$?
ok test $status -eq 3
status=0; "$tool" certify --quiet --root root.secret --key release.pub --publisher P --apps a.b --days 1 -o closed.cert >&- 2>&- <&- || status=$?
ok test $status -eq 0
t 0 inspect closed.cert --root root.pub; says verified

# No file is written in the way of another, nothing is left behind.
t 1 certify --root root.secret --key release.pub --publisher P --apps a..b --days 1 -o release.cert
t 0 inspect release.cert --root root.pub; says "verified"
ok test -z "$(find . -name '.nsh*')"

PYTHONPATH=$project/Tests/tool python3 "$project/Tests/tool/lib_output.py" >"$work/logs/terminal" 2>&1
sed '$d' "$work/logs/terminal"
line=$(tail -n 1 "$work/logs/terminal")
case $line in
    *' passed, '*' failed')
        passed=$((passed + ${line%% *}))
        rest=${line#* passed, }
        failed=$((failed + ${rest%% *}))
        ;;
    *) fail "lib_output.py: $line" ;;
esac
finish

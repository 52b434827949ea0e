#!/bin/sh
# What the tool asks of the system: no network, no file beside those it was told of, no secret in sight.
. "$(dirname "$0")/lib.sh"
make_keys
app orders 5
publish orders 5 a.nshpkg
printf 'correct horse\n' >pass
"$tool" keygen sealed --password-file pass --quiet || exit 3

if ! command -v strace >/dev/null || ! strace -o "$work/logs/probe" true 2>/dev/null; then
    skip "system calls: strace is missing or may not trace"
    finish
fi

# traced STATUS ARGUMENTS…: runs the tool under strace.
traced() {
    wanted=$1
    shift
    last="strace nsh-pkgtool $*"
    status=0
    strace -f -o "$work/logs/trace" "$tool" "$@" >"$out" 2>"$err" </dev/null || status=$?
    if [ $status -eq "$wanted" ]; then pass; else fail "exit status $status, expected $wanted"; fi
}
never() { if grep -Eq "$1" "$work/logs/trace"; then fail "a system call: $(grep -E -m1 "$1" "$work/logs/trace")"; else pass; fi; }

for command in "verify a.nshpkg --root root.pub" "open a.nshpkg --root root.pub --state store" "inspect a.nshpkg" \
    "store status --state store" "extract a.nshpkg out --root root.pub" "roots --root root.pub" "--version"; do
    # shellcheck disable=SC2086
    traced 0 $command
    never '(socket|connect|bind|sendto|recvfrom)\('
done
traced 0 certify --root sealed.secret --password-file pass --key release.pub --publisher P --apps com.example.a --days 1 -o s.cert
never '(socket|connect)\('
# Core files are forbidden before the secret is read, and what is read of it is not written anywhere.
ok grep -q 'PR_SET_DUMPABLE' "$work/logs/trace"
first=$(grep -n 'PR_SET_DUMPABLE' "$work/logs/trace" | head -n 1 | cut -d: -f1)
ok test "$first" -lt "$(grep -n 'open.*"pass"' "$work/logs/trace" | head -n 1 | cut -d: -f1)"
never 'write\([^"]*"[^"]*horse'

# The command line does not come from a file, which may not be there to open.
status=0; (ulimit -n 3; exec "$tool" --version) >"$out" 2>"$err" </dev/null || status=$?
last="--version without a descriptor to spare"
if [ $status -eq 127 ]; then skip "no descriptor to spare: the tool is not linked statically"; else ok test $status -eq 0; says nsh-pkgtool; fi

# A signal or an error leaves nothing half made: no part of a key, no file beside its place.
mkdir made
cp root.secret release.pub a.nshpkg root.pub made
# injected CALL FAULT COUNT ARGUMENTS…: the fault comes with each of the first COUNT of these calls, in a run of its own.
injected() {
    call=$1; fault=$2; count=$3
    shift 3
    for turn in $(seq "$count"); do
        (cd made && strace -f -o "$work/logs/trace" -e "inject=$call:$fault:when=$turn" "$tool" "$@") >"$out" 2>"$err" </dev/null || :
        last="$* with $call:$fault:when=$turn"
        no test -n "$(find made -name '.nsh-*')"
        if [ -e made/k.pub ] || [ -e made/k.secret ]; then ok test -s made/k.pub; ok test -s made/k.secret; fi
        rm -rf made/k.* made/k
    done
}
for fault in signal=TERM signal=INT; do
    injected write $fault 2 keygen k --no-password
    injected fchmod $fault 2 keygen k --no-password
    injected fsync $fault 2 keygen k --no-password
    injected write $fault 2 certify --root root.secret --key release.pub --publisher P --apps com.example.a --days 1 -o k.cert
    injected fsync $fault 2 revoke --root root.secret --first --key release.pub -o k.json
    injected write $fault 2 store export --state ../store -o k.export
done
injected fchmod error=EIO 2 keygen k --no-password
injected fchmod error=EIO 1 extract a.nshpkg k --root root.pub

# Opening again reads no payload; verifying a store writes nothing.
traced 0 open a.nshpkg --root root.pub --state store
size=$(stat -c %s a.nshpkg)
# The path is opened with O_PATH, looked at, and opened again by its descriptor.
last_read=$(awk '
    /open.*"a\.nshpkg"/ { named = 1 }
    named && /open.*"\/proc\/self\/fd\/.*O_RDONLY/ { descriptor = $NF; named = 0 }
    descriptor != "" && index($0, "pread64(" descriptor ",") {
        offset = $(NF - 2); sub(/\)/, "", offset)
        if (offset + $NF > most) most = offset + $NF
    }
    descriptor != "" && index($0, "close(" descriptor ")") { descriptor = "" }
    END { print most + 0 }' "$work/logs/trace")
ok test "${last_read:-0}" -gt 20
ok test "${last_read:-0}" -lt "$size"
traced 0 verify a.nshpkg --root root.pub --state store
never '(O_WRONLY|O_RDWR|O_CREAT|unlink|rename|mkdir|pwrite64)'
finish

#!/bin/sh
# The two doors to a trust store: what the tool says is the same, whether it opens the store or asks the daemon.
. "$(dirname "$0")/lib.sh"
daemon=${NSH_TRUSTD:-$(dirname "$tool")/nsh-trustd}
case $daemon in /*) ;; *) daemon=$PWD/$daemon ;; esac
[ -x "$daemon" ] || { skip "no daemon at $daemon"; finish; }
chmod 755 "$work" "$work/w"

make_keys
app orders 5
for build in 5 6 7; do publish orders $build o$build.nshpkg; done
head -c 300 o7.nshpkg >cut.nshpkg
"$tool" publish orders --quiet --key release.secret --certificate release.cert --id com.example.other --build 1 -o other.nshpkg || exit 3
mkdir roots
cp root.pub roots/

serve() {
    "$daemon" --state "$work/w/kept" --roots "$work/w/roots" --socket "$work/w/s.sock" --socket-mode 0666 \
        --log-format text "$@" >>"$work/logs/daemon" 2>&1 &
    server=$!
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        "$tool" store status --socket s.sock -q >"$out" 2>&1 && return
        sleep 0.25
    done
    cat "$work/logs/daemon"
    exit 3
}
ends() { kill "$server"; wait "$server" || fail "the daemon ends with $?"; }
trap 'kill $server 2>/dev/null; chmod -R u+w "$work" 2>/dev/null; rm -rf "$work"' EXIT
serve

# What may differ between two stores: their place, the time of an act, and the process that did it.
plain() {
    sed -E -e "s,$work/w/(own|kept),STORE,g" -e 's,STORE/apps,STORE/apps,g' \
        -e 's/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z/TIME/g' -e 's,by ([0-9]+)/[0-9]+,by \1/PID,' \
        -e 's/"(time|acceptedAt|appliedAt|since)":[0-9]+/"\1":N/g' -e 's/"pid":[0-9]+/"pid":N/' "$1"
}
own="--state $work/w/own"

# same STATUS ARGUMENTS…: both doors end alike and say the same. `judging` is what the own door needs besides.
judging=
same() {
    wanted=$1
    shift
    # shellcheck disable=SC2086
    t "$wanted" "$@" $own $judging
    plain "$out" >"$work/logs/own.out"
    plain "$err" >"$work/logs/own.err"
    t "$wanted" "$@" --socket "$work/w/s.sock"
    plain "$out" >"$work/logs/kept.out"
    plain "$err" >"$work/logs/kept.err"
    ok diff -u "$work/logs/own.out" "$work/logs/kept.out"
    ok diff -u "$work/logs/own.err" "$work/logs/kept.err"
}

judging="--root $work/w/roots"
same 0 open o5.nshpkg
same 0 verify o5.nshpkg o6.nshpkg
same 0 verify o5.nshpkg --json
same 0 verify o5.nshpkg -v
same 0 verify o5.nshpkg -q
same 3 verify o5.nshpkg missing.nshpkg cut.nshpkg .
same 3 verify o5.nshpkg missing.nshpkg cut.nshpkg . --json
same 1 verify cut.nshpkg root.pub --json
same 1 open cut.nshpkg -v
same 3 open missing.nshpkg
same 3 open . --json
same 0 open o6.nshpkg --json
same 1 open o5.nshpkg
same 1 open o5.nshpkg --json
same 1 open o5.nshpkg -v
same 0 open other.nshpkg -v
same 0 open "$work/w/./o7.nshpkg"
same 0 roots
same 0 roots --json

# Standard input goes along as it comes, whole or not.
for file in o7.nshpkg o6.nshpkg cut.nshpkg; do
    for how in "" --json -v; do
        # shellcheck disable=SC2086
        "$tool" verify - $how $own $judging <$file >"$work/logs/a" 2>"$work/logs/b"
        first=$?
        # shellcheck disable=SC2086
        "$tool" verify - $how --socket s.sock <$file >"$work/logs/c" 2>"$work/logs/d"
        ok test $? -eq $first
        plain "$work/logs/a" >"$work/logs/e"
        plain "$work/logs/c" >"$work/logs/f"
        ok diff -u "$work/logs/e" "$work/logs/f"
        ok cmp "$work/logs/b" "$work/logs/d"
    done
done

judging=
for json in "" --json; do
    # shellcheck disable=SC2086
    {
        same 0 store status $json
        same 0 store apps $json
        same 0 store events $json
        same 0 store events --after 3 --limit 2 $json
        same 0 store events --after 9999 $json
        same 0 store check $json
        same 3 store remove com.example.none $json
        same 3 store forget-root root.pub $json
    }
done
same 2 store remove "no id"
same 2 store prune --keep 0

# Revocation lists.
"$tool" revoke --quiet --root root.secret --first --package o5.nshpkg -o one.json || exit 3
"$tool" revoke --quiet --root root.secret --previous one.json --min-build com.example.orders=9 -o two.json || exit 3
judging="--root $work/w/roots"
same 0 update-revocations one.json --dry-run
same 0 update-revocations one.json
same 0 update-revocations two.json --dry-run --json
same 0 update-revocations two.json
same 0 update-revocations two.json --json
same 1 update-revocations one.json
same 1 update-revocations one.json --json
same 1 update-revocations o5.nshpkg
same 3 update-revocations missing.json
same 1 verify o5.nshpkg o7.nshpkg -v
judging=
same 0 store status
same 0 store status --json
same 0 store events --json

# Over to another machine.
t 0 store export -o own.json --state own
t 0 store export -o kept.json --socket s.sock
plain own.json >own.plain
plain kept.json >kept.plain
ok diff own.plain kept.plain
judging="--root $work/w/roots"
same 0 store import own.json
same 0 store import own.json --json
same 1 store import root.pub
judging=

# Damage, clean-up and removal; the daemon itself holds what it has opened for ten seconds.
sleep 10
for store in own kept; do
    for tree in $store/apps/com.example.other/*; do chmod -R u+w "$tree" && echo x >"$tree/bundle.js"; done
done
same 1 store check
same 1 store check --json
same 0 store prune --keep 2 --dry-run
same 0 store prune --keep 2 --dry-run --json
same 0 store prune
same 0 store prune --json
same 0 store remove com.example.other
same 3 store remove com.example.other
same 0 store forget-root root.pub
same 3 store forget-root root.pub
same 0 store events
same 0 store apps --json

# Followed, both doors tell the same, and a daemon that is started anew costs no row.
"$tool" store events --follow --after 3 --state own >own.rows 2>own.remarks &
own_follower=$!
"$tool" store events --follow --after 3 --socket s.sock >kept.rows 2>kept.remarks &
kept_follower=$!
judging="--root $work/w/roots"
same 0 open o7.nshpkg
same 1 open o6.nshpkg
ends
# While no daemon runs, the tool itself may work on its store.
for store in own kept; do t 1 open o5.nshpkg --state $store --root roots; done
serve
same 0 open other.nshpkg
judging=
same 0 store events
rows=$(wc -l <"$out")
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ "$(wc -l <kept.rows)" -ge $((rows - 3)) ] && [ "$(wc -l <own.rows)" -ge $((rows - 3)) ] && break
    sleep 0.25
done
kill $own_follower $kept_follower
plain own.rows >own.plain
plain kept.rows >kept.plain
ok diff -u own.plain kept.plain
tail -n +4 "$out" >"$work/logs/rest"
ok diff -u "$work/logs/rest" kept.rows
ok test ! -s kept.remarks

# Whoever is no administrator is told so, and learns nothing of who asked.
if [ "$(id -u)" -eq 0 ]; then
    other() { HOME=/ setpriv --reuid 65533 --regid 65533 --clear-groups "$tool" "$@" --socket "$work/w/s.sock"; }
    status=0
    last="store prune as another user"
    other store prune >"$out" 2>"$err" || status=$?
    ok test $status -eq 3
    tells "forbidden"
    tells "hint: nsh-trustd lets its administrators do that"
    last="store events as another user"
    other store events --limit 1 >"$out" 2>"$err"
    says "rootAdded"
    says_not " by "
    last="verify as another user"
    other verify "$work/w/other.nshpkg" >"$out" 2>"$err"
    says "OK  com.example.other"
    chmod 600 o6.nshpkg
    other verify "$work/w/o6.nshpkg" >"$out" 2>"$err" && fail "a file that is closed to this user"
    says "Permission denied"
else
    skip "another user"
fi
ends
t 3 store status --socket s.sock
tells "cannot reach nsh-trustd at s.sock"

finish

#!/bin/sh
# The engine example: it runs what the daemon allows, holds the tree, and stops when a revocation says so.
. "$(dirname "$0")/lib.sh"
daemon=${NSH_TRUSTD:-$(dirname "$tool")/nsh-trustd}
case $daemon in /*) ;; *) daemon=$PWD/$daemon ;; esac
[ -x "$daemon" ] || { skip "no daemon at $daemon"; finish; }

(cd "$project" && swift build --product EngineHost >"$work/logs/build" 2>&1) || { cat "$work/logs/build"; fail "EngineHost does not build"; }
host=$project/.build/debug/EngineHost
make_keys
cp -r "$project/Examples/orders" orders
for build in 5 6 7; do publish orders $build $build.nshpkg; done
mkdir roots
cp root.pub roots/
chmod 711 "$work" "$work/w"
serve() {
    "$daemon" --state "$work/w/store" --roots "$work/w/roots" --socket "$work/w/s.sock" --socket-mode 0666 \
        --engine games >"$work/logs/daemon" 2>&1 &
    server=$!
}
serve
trap 'kill $server 2>/dev/null; chmod -R u+w "$work" 2>/dev/null; rm -rf "$work"' EXIT
NSH_TRUST_SOCKET=s.sock
export NSH_TRUST_SOCKET

# waits FILE TEXT: until the file holds the text, ten seconds at most.
waits() {
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40; do
        grep -qF -e "$2" "$1" && pass && return
        sleep 0.25
    done
    cp "$1" "$out"
    fail "nobody says '$2'"
}
waits "$work/logs/daemon" serving

# The first engine is another user's, where there may be one: it reads what the daemon keeps for it.
as=
[ "$(id -u)" -ne 0 ] || as="setpriv --reuid games --regid games --clear-groups"
: >five
: >six
last="EngineHost 5"
# shellcheck disable=SC2086
$as "$host" "$work/w/s.sock" "$work/w/5.nshpkg" >five 2>&1 &
five=$!
waits five "running com.example.orders (build 5) from $work/w/store/apps/com.example.orders/5-"
# A newer build does not end the one that runs, and clean-up leaves its tree alone, past the daemon's own hold too.
t 0 open 6.nshpkg
last="EngineHost 6"
"$host" s.sock "$work/w/6.nshpkg" >six 2>&1 &
six=$!
waits six "running com.example.orders (build 6)"
sleep 10
t 0 store prune
says "in use, stays: com.example.orders build 5"
ok test -e store/apps/com.example.orders/5-*/bundle.js
# shellcheck disable=SC2086
ok $as grep -q openOrders store/apps/com.example.orders/5-*/bundle.js
no grep -q stopped five

# An older one is refused.
last="EngineHost 5, again"
"$host" s.sock "$work/w/5.nshpkg" >"$out" 2>"$err"
says "refused: build 5 is older than build 6, accepted "

# A revocation stops what runs, also when the tool applied it to the store, not the daemon.
"$tool" revoke --quiet --root root.secret --first --min-build com.example.orders=6 -o one.json || exit 3
t 0 update-revocations one.json --state store --root root.pub
waits five "event: list 1 of root"
waits five "(belowMinimumBuild)"
waits five "stopped: "
wait $five || fail "the engine ends with $?"
no grep -q stopped six
t 0 store prune
says "removed com.example.orders build 5"

# The connection is lost, and the engine still learns of what came next.
kill $server
wait $server
serve
"$tool" revoke --quiet --root root.secret --previous one.json --key release.pub -o two.json || exit 3
t 0 update-revocations two.json --state store --root root.pub
waits six "(keyRevoked)"
wait $six || fail "the engine ends with $?"
last="EngineHost 7"
"$host" s.sock "$work/w/7.nshpkg" >"$out" 2>"$err"
says "(keyRevoked)"
kill $server

finish

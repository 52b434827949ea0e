#!/bin/sh
# The host example: a refused update leaves the running app running.
. "$(dirname "$0")/lib.sh"

(cd "$project" && swift build --product EmbedHost >"$work/logs/build" 2>&1) || { cat "$work/logs/build"; fail "EmbedHost does not build"; }
host=$project/.build/debug/EmbedHost

# h ARGUMENTS…: runs the host.
h() {
    last="EmbedHost $*"
    "$host" "$@" >"$out" 2>"$err" </dev/null || fail "the host ends with $?"
}

make_keys
cp -r "$project/Examples/orders" orders
for build in 5 6 7; do
    "$tool" publish orders --quiet --key release.secret --certificate release.cert --build $build -o $build.nshpkg || fail "publish"
done
head -c 2000 7.nshpkg >cut.nshpkg

h state root.pub 6.nshpkg 5.nshpkg cut.nshpkg missing.nshpkg
says "running com.example.orders 1.4.0 (build 6)"
says "refused: build 5 is older than build 6, accepted "
says "(rolledBack)"
says "(truncated)"
says "(noSuchFile)"
ok test "$(grep -c 'now: com.example.orders 1.4.0 (build 6) runs' "$out")" -eq 4

# What the tool does to the same store counts for the host.
"$tool" revoke --quiet --root root.secret --first --min-build com.example.orders=7 -o list || fail "revoke"
t 0 update-revocations list --state state --root root.pub
h state root.pub 6.nshpkg 7.nshpkg
says "(belowMinimumBuild)"
says "now: no app runs"
says "running com.example.orders 1.4.0 (build 7)"

h state root2.pub 7.nshpkg
says "(untrustedRoot)"

finish

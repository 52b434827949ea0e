#!/bin/sh
# The store verbs, and open at its edges.
. "$(dirname "$0")/lib.sh"
make_keys
app orders 5
app other 1
for build in 5 6 7; do publish orders $build o$build.nshpkg; done
"$tool" publish other --quiet --key release.secret --certificate release.cert --id com.example.other --build 1 -o other.nshpkg || exit 3

# Nothing is made by looking.
for verb in status apps events check "export -o x.json" "forget-root root.pub" "remove com.a.b" prune; do
    # shellcheck disable=SC2086
    t 3 store $verb --state nostore; no test -e nostore
done
mkdir bare
t 3 store status --state bare; ok test -z "$(ls -A bare)"
t 3 open nofile --state nostore --root root.pub; no test -e nostore
t 3 open o5.nshpkg --state nostore; no test -e nostore; tells noTrustedRoots
t 3 open . --state nostore --root root.pub; no test -e nostore

for file in o5 o6 other; do t 0 open $file.nshpkg --state store --root root.pub; done
ok test "$(stat -c %a store)" = 700
NSH_TRUST_STATE=store; export NSH_TRUST_STATE
t 0 open o7.nshpkg --root root.pub --json; quiet
json 'list(o)[-1] == "directory" and o["directory"].startswith("/")'
unset NSH_TRUST_STATE
t 0 store apps --state store --json; quiet
json '[row["id"] for row in rows] == ["com.example.orders", "com.example.other"]'
json 'list(o) == ["id","build","publisher","digest","acceptedAt","installed"] and o["build"] == 7'
json 'list(o["installed"][0]) == ["build","version","digest","directory","files","unpackedSize"]'
json '[p["build"] for p in o["installed"]] == sorted(p["build"] for p in o["installed"]) and o["installed"][-1]["build"] == 7'
t 0 store status --state store; says "2 apps with an accepted build"; says "seen since"; says "list       none"
t 0 store status --state store --json
json 'list(o) == ["state","apps","packages","unpackedSize","threshold","roots","lists","oldestEvent"]'
t 0 store check --state store; says "OK  the store and"; quiet

t 0 store events --state store --json
json 'all(row["kind"] in ("rootAdded", "opened") for row in rows) and [r["sequence"] for r in rows] == sorted(r["sequence"] for r in rows)'
json 'set(rows[-1]) == {"sequence","time","kind","app","build","digest","message","uid","pid","count"}'
count=$(wc -l <"$out")
t 0 store events --state store --after 2; ok test "$(wc -l <"$out")" -eq $((count - 2))
t 0 store events --state store --limit 1; ok test "$(wc -l <"$out")" -eq 1
t 0 store events --state store --limit 0; silent
t 1 open o5.nshpkg --state store --root root.pub
t 0 store events --state store --after "$count" --json; json 'o["kind"] == "refused" and o["code"] == "rolledBack"'

# Prune: the rehearsal changes nothing.
t 0 store prune --state store --keep 2 --dry-run --json; json 'all(row["outcome"] == "wouldRemove" for row in rows)'
t 0 store apps --state store --json; installed=$(python3 -c 'import json, sys; print(len(json.loads(open(sys.argv[1]).readline())["installed"]))' "$out")
ok test "$installed" -eq 3
t 0 store prune --state store --keep 2; says "removed com.example.orders build 5"
t 0 store prune --state store; says "removed com.example.orders build 6"
t 0 store prune --state store; says "nothing to remove"
t 2 store prune --state store --keep 0
t 1 open o6.nshpkg --state store --root root.pub; says rolledBack

# A tree that somebody uses stays.
tree=$(find store/apps/com.example.orders -mindepth 1 -maxdepth 1 -type d)
if command -v flock >/dev/null; then
    mkfifo "$work/hold"
    flock -s "$tree/SHA256SUMS" sh -c "cat <'$work/hold' >/dev/null" &
    holder=$!
    exec 9>"$work/hold"
    t 3 store remove com.example.orders --state store; says "in use"; tells storeBusy
    ok test -f "$tree/bundle.js"
    exec 9>&-
    wait $holder
else
    skip "a tree in use: there is no flock"
fi

# A tree that goes while the store is looked at is not damage.
cp -a store busy
(while [ ! -e stop ]; do
    "$tool" open o7.nshpkg --state busy --root root.pub
    "$tool" store remove com.example.orders --state busy
done) >/dev/null 2>&1 &
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do t 0 store check --state busy; done
: >stop
wait $!

# Damage is found, and mended by opening again.
chmod u+w "$tree/bundle.js"; echo x >>"$tree/bundle.js"
t 1 store check --state store; says "REFUSED manifestMismatch"
t 1 store check --state store --json; json 'list(o) == ["verdict","code","message"]'

# Remove: the tree goes, the floor stays.
t 0 store remove com.example.orders --state store; says "removed com.example.orders build 7"
no test -e "$tree"
t 3 store remove com.example.orders --state store; tells notInstalled
t 2 store remove nodots --state store
t 1 open o6.nshpkg --state store --root root.pub; says rolledBack
t 0 open o7.nshpkg --state store --root root.pub

# Export and import: floors and lists, never lowered.
t 0 revoke --root root.secret --first --package o5.nshpkg -o l.json
t 0 update-revocations l.json --state store --root root.pub
t 0 store export --state store -o export.json; says "2 accepted builds, 1 list"
t 0 store import export.json --state new --root root.pub; says "1 of 1 list applied"
t 1 open o6.nshpkg --state new --root root.pub; says rolledBack
t 0 open o7.nshpkg --state new --root root.pub
t 0 store import export.json --state new --root root.pub; says "0 of 1 list applied"
t 1 store import export.json --state new2 --root root2.pub; tells untrustedRoot
t 1 store import root.pub --state new3 --root root.pub; tells malformed; no test -e new3
t 3 store import nofile --state new3 --root root.pub; no test -e new3
t 0 store events --state new --json; json '"buildImported" in [row["kind"] for row in rows]'

# forget-root, by file and by hash.
hash=$("$tool" inspect root.pub --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["says"]["keyHash"])')
t 0 store forget-root "$hash" --state store --json; json 'list(o) == ["verdict", "key"]'
t 3 store forget-root root.pub --state store; tells notInstalled
t 3 store forget-root nofile --state store

# Others' hands off; damage is not mended by starting anew.
chmod g+w store
t 3 store status --state store; tells storeUnsafe; tells "chmod go-w"
chmod g-w store
cp -a store broken
for file in broken/*.sqlite; do : >"$file"; done
t 3 store status --state broken; tells storeCorrupt
t 3 open o7.nshpkg --state broken --root root.pub; tells storeCorrupt
rm broken/*.sqlite
t 3 open o7.nshpkg --state broken --root root.pub; tells storeCorrupt; no test -e broken/trust.sqlite

# What a process left that died while it wrote is undone by every verb, whether it writes or only looks.
cp -a store killed
python3 - killed/trust.sqlite <<'END' || exit 3
import os, sqlite3, sys
store = sqlite3.connect(sys.argv[1], isolation_level=None)
for step in ("PRAGMA journal_mode = truncate", "PRAGMA cache_size = 1", "BEGIN IMMEDIATE", "CREATE TABLE extra (x)",
             "INSERT INTO extra VALUES (randomblob(400000))", "UPDATE extra SET x = randomblob(400000)"):
    store.execute(step)
os._exit(0)
END
for verb in "status" "check" "apps" "events" "export -o export" "prune" "remove com.example.orders" "forget-root root.pub"; do
    rm -rf again; cp -a killed again; ok test -s again/trust.sqlite-journal
    last="store $verb behind it"
    # shellcheck disable=SC2086
    "$tool" store $verb --state again >"$out" 2>"$err" </dev/null || :
    tells_not "an interrupted change"
    t 0 store check --state again
done

# A file that may not grow any more ends the work, not the process.
last="open with a limit on the size of files"
status=0; (ulimit -f 1; exec "$tool" open o7.nshpkg --state limited --root root.pub) >"$out" 2>"$err" </dev/null || status=$?
ok test $status -eq 3; tells ioFailure
t 0 open o7.nshpkg --state limited --root root.pub; t 0 store check --state limited

# The store remembers how many roots were asked for.
t 0 cosign release.cert --root root2.secret -o both.cert
t 0 recertify o7.nshpkg --certificate both.cert -o both.nshpkg
t 0 open both.nshpkg --state two --root root.pub --root root2.pub --threshold 2
t 3 open both.nshpkg --state two --root root.pub --root root2.pub; tells "ask for 2"
t 0 store status --state two; says "2 roots must have signed"
finish

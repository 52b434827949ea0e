#!/bin/sh
# Mistakes on the command line end with exit status 2, say what is wrong and what was meant; help is complete.
. "$(dirname "$0")/lib.sh"

t 2; silent; tells "a verb is missing"
t 2 keygn x; tells "there is no verb"; tells "did you mean “keygen”?"
t 2 qqqq; tells "nsh-pkgtool help lists the verbs"
t 2 open x.nshpkg --state state --at 0; tells "open has no option --at"; no test -e state
t 2 store; tells "store needs a second word: status"
t 2 store statsu; tells "did you mean “store status”?"
t 2 --json keygen; tells "the verb comes first"
t 2 keygen; silent; tells "keygen needs NAME"; tells "usage: nsh-pkgtool keygen NAME"
t 2 keygen a b; tells "“b” is too much"
t 2 roots x; tells "takes no operand"
t 2 keygen ""; tells "NAME is empty"
t 2 keygen x --no-pasword; tells "did you mean --no-password?"
t 2 keygen x --no-pass; tells "has no option --no-pass"; tells "did you mean --no-password?"
t 2 keygen x -z; tells "has no option -z"
t 2 keygen x -qz; tells "has no option -z"
t 2 keygen x --password-file; tells "--password-file needs a value: --password-file FILE"
t 2 keygen x --no-password --password-file p; tells "exclude each other"
t 2 keygen x --no-password=yes; tells "--no-password takes no value"
t 2 keygen x --password-file ""; tells "the value of --password-file is empty"
no test -e x.secret
t 2 certify --root a; tells "certify needs"
t 2 certify --root r --key k --publisher P --apps a.b --days 1; tells "certify needs --output FILE"
t 2 certify --root r --key k --publisher P --apps a.b -o x; tells "certify needs --days or --not-after"
t 2 certify --root r --publisher P --apps a.b --days 1 -o x; tells "certify needs --key"
t 2 certify --root r --renew c --key k --days 1 -o x; tells "--key cannot be changed with it"
t 2 certify --root r --key k --publisher P --apps a.b --days zero -o x; tells "--days is a number from 1 to 36500"
t 2 certify --root r --key k --publisher P --apps a.b --not-after tomorrow -o x; tells "--not-after is no time"
t 2 certify --root a --root b --key k --publisher P --apps a.b --days 1 -o x; tells "--root is given twice"
t 2 publish d --key k --certificate c --compression zip -o x; tells "--compression is one of zstd, none"
t 2 publish d --key k --certificate c --level 20 -o x; tells "--level is a number from 1 to 19"
t 2 publish d --key k --certificate c --build -1 -o x; tells "--build is a number"
t 2 publish d --key k --certificate c --build +1 -o x
t 2 publish d --key k --certificate c --annotate note -o x; tells "--annotate is written NAME=TEXT"
t 2 revoke --root r -o x; tells "revoke needs --first or --previous"
t 2 revoke --root r --first --previous l -o x; tells "exclude each other"
t 2 revoke --root r --first --min-build com.a.b -o x; tells "--min-build is written ID=N"
t 2 verify; tells "verify needs FILE"
t 2 verify x --rooot r; tells "did you mean --root?"
t 2 verify x --threshold 0; tells "--threshold is a number from 1 to 16"
t 2 verify x --threshold 17
t 2 verify x --at 2026-13-01T00:00:00Z; tells "--at is no time"
t 2 verify x --at 2026-11-03T10:00:00+01:00
t 2 verify x --max-list-age 7w; tells "--max-list-age is no duration"
t 2 verify x --runtime 1.x; tells "--runtime is 1 to 4 numbers"
t 3 verify x --socket nobody.sock; tells "cannot reach nsh-trustd at nobody.sock"; tells "hint: is nsh-trustd running"
t 2 verify x --socket s --state d; tells "--state and --socket exclude each other"
for own in "--root r.pub" "--threshold 2" "--revocations l" "--at 0" "--at-signing" "--runtime 1" "--max-list-age 1d"; do
    # shellcheck disable=SC2086
    t 2 verify x --socket s $own; tells "does not go with --socket: the daemon’s own roots and policy count"
done
t 2 roots --socket s --root r.pub; tells "--root does not go with --socket"
NSH_TRUST_SOCKET=nobody.sock; export NSH_TRUST_SOCKET
t 3 store status; tells "cannot reach nsh-trustd at nobody.sock"
t 3 store status --state nowhere; tells_not "nsh-trustd"
t 2 verify x --root r.pub; tells "--root does not go with \$NSH_TRUST_SOCKET"
NSH_TRUST_STATE=nowhere; export NSH_TRUST_STATE
t 3 store status; tells_not "nsh-trustd"
t 3 store status --socket nobody.sock; tells "nsh-trustd"
unset NSH_TRUST_SOCKET NSH_TRUST_STATE
t 2 store events --socket "$(printf '%0200d' 0).sock" --follow; tells "the name of the socket is too long"
t 3 open x --socket "$(printf '%0100d' 0)/$(printf '%0100d' 0).sock" --json; says "noSuchFile"
t 2 open x; tells "--state"
t 2 open x y --state s; tells "is too much"
t 2 extract x; tells "extract needs DIR"
t 2 rotate --old a --new b --certificate c; tells "rotate needs --check"
t 2 rotate --check --old a --new b; tells "what is in use"
t 2 store status; tells "--state"
t 2 store forget-root --state s; tells "store forget-root needs KEY"
t 2 help nonsense; tells "there is no verb"
t 2 help verify more

# Bytes that are not UTF-8 name another file once they are repaired: refused.
last="an argument that is not UTF-8"
status=0; "$tool" inspect "$(printf 'a\377b')" >"$out" 2>"$err" || status=$?
ok test $status -eq 2; tells "is not UTF-8"

# An argument that tries to write to the terminal.
t 2 "$(printf 'ver\033[31mify')"; tells '\u{1B}[31m'; tells_not "$(printf '\033')"

# Options may come before and after operands, and -- ends them.
t 0 keygen --no-password one
t 0 keygen two --no-password
t 0 keygen --no-password -- --three
ok test -f ./--three.secret
t 0 inspect --json one.pub two.pub; json 'len(rows) == 2'

# Help of every verb, by three ways, on standard output.
t 0 help; quiet; says "usage: nsh-pkgtool VERB"
cp "$out" "$work/logs/overview"
t 0 --help; ok cmp -s "$out" "$work/logs/overview"
t 0 -h
verbs=$(sed -n 's/^  \(store [a-z-]*\|[a-z-]*\)  *.*/\1/p' "$work/logs/overview")
ok test "$(printf '%s\n' "$verbs" | wc -l)" -ge 20
printf '%s\n' "$verbs" >"$work/logs/verbs"
while read -r verb; do
    # shellcheck disable=SC2086
    t 0 help $verb; quiet; says "usage: nsh-pkgtool $verb"; says "Exit status:"
    cp "$out" "$work/logs/help"
    # shellcheck disable=SC2086
    t 0 $verb --help; ok cmp -s "$out" "$work/logs/help"
    ok test "$(awk 'length > 130' "$out" | wc -l)" -eq 0
done <"$work/logs/verbs"
t 0 help store; says "nsh-pkgtool store prune"
t 0 --version; says "nsh-pkgtool "
t 0 --version --json; json 'list(o) == ["version"]'
finish

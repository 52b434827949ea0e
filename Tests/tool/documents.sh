#!/bin/sh
# The manual page and the completions that are kept are those that the tool makes, and they work.
. "$(dirname "$0")/lib.sh"
kept=$project/packaging
t 0 document man; quiet; ok cmp -s "$out" "$kept/nsh-pkgtool.1"
t 0 document bash; ok cmp -s "$out" "$kept/nsh-pkgtool.bash"
t 0 document zsh; ok cmp -s "$out" "$kept/_nsh-pkgtool"
t 0 document fish; ok cmp -s "$out" "$kept/nsh-pkgtool.fish"
t 2 document html; tells "none of man, bash, zsh, fish"
t 0 help; says_not "document"

# Every verb and every option of its help is in each of them.
"$tool" help | sed -n 's/^  \(store [a-z-]*\|[a-z-]*\)  *.*/\1/p' >verbs
while read -r verb; do
    # shellcheck disable=SC2086
    "$tool" help $verb | sed -n 's/^ *\(-[a-z], \)\{0,1\}--\([a-z-]*\).*/\2/p' >options
    for file in nsh-pkgtool.1 nsh-pkgtool.bash _nsh-pkgtool nsh-pkgtool.fish; do
        last="$file: $verb"
        word=${verb##* }
        [ $file != nsh-pkgtool.1 ] || word=$(printf '%s' "$word" | sed 's/-/\\\\-/g')
        ok grep -q -e "$word" "$kept/$file"
    done
    while read -r option; do
        last="$verb --$option"
        [ "$verb" = help ] || ok grep -q -e "'.*--$option" "$kept/nsh-pkgtool.bash"
        ok grep -q -e "-l $option" "$kept/nsh-pkgtool.fish"
        ok grep -q -e "--$option" "$kept/_nsh-pkgtool"
        ok grep -q -e "\\\\-\\\\-$(printf '%s' "$option" | sed 's/-/\\\\-/g')" "$kept/nsh-pkgtool.1"
    done <options
done <verbs

# The page is well formed.
if command -v man >/dev/null; then
    man --warnings -l "$kept/nsh-pkgtool.1" >page 2>warnings || :
    last="man --warnings"; : >"$out"; cp warnings "$err"
    ok test ! -s warnings
    ok grep -q "EXIT STATUS" page
else
    skip "the page: there is no man"
fi

# bash completes verbs, second words, options, words and files.
if command -v bash >/dev/null; then
    touch app.nshpkg notes.txt root.pub; mkdir sub
    cat >complete.sh <<'B'
source "$1"; shift
COMP_WORDS=(nsh-pkgtool "$@"); COMP_CWORD=$#
compopt() { :; }
_nsh_pkgtool 2>/dev/null
printf '%s\n' "${COMPREPLY[@]}" | sort
B
    completes() {
        bash complete.sh "$kept/nsh-pkgtool.bash" "$@" >"$out" 2>"$err"
        last="bash completion of: $*"
    }
    completes ver; says verify
    completes store pr; says prune
    completes verify --thr; says --threshold
    completes verify ""; says app.nshpkg; says sub; says_not notes.txt
    completes verify x --root ""; says root.pub; says_not notes.txt
    completes store prune --dr; says --dry-run
    completes publish x --compression ""; says zstd; says none; says_not app
    completes publish x -o ""; says notes.txt
    completes store status --state ""; says sub; says_not notes.txt
    completes keygen --no; says --no-password
    completes verify x --at ""; says_not app.nshpkg
else
    skip "completion: there is no bash"
fi
for shell in zsh fish; do
    file=$kept/_nsh-pkgtool
    [ $shell = zsh ] || file=$kept/nsh-pkgtool.fish
    if command -v $shell >/dev/null; then ok $shell -n "$file"; else skip "there is no $shell"; fi
done
if command -v fish >/dev/null; then
    touch app.nshpkg
    last="fish completion"
    fish --no-config -c "source $kept/nsh-pkgtool.fish; complete -C 'nsh-pkgtool veri'" >"$out" 2>"$err"; says verify
    fish --no-config -c "source $kept/nsh-pkgtool.fish; complete -C 'nsh-pkgtool verify --thr'" >"$out" 2>"$err"; says --threshold
    fish --no-config -c "source $kept/nsh-pkgtool.fish; complete -C 'nsh-pkgtool store pr'" >"$out" 2>"$err"; says prune
    fish --no-config -c "source $kept/nsh-pkgtool.fish; complete -C 'nsh-pkgtool verify '" >"$out" 2>"$err"; says app.nshpkg
    fish --no-config -c "source $kept/nsh-pkgtool.fish; complete -C 'nsh-pkgtool publish x --compression '" >"$out" 2>"$err"; says zstd
fi
finish

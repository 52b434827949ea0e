# What the tool's script tests share. A script sources it, calls `t`, `says` and the like, and ends with `finish`.
# shellcheck shell=sh
set -u
project=$(cd "$(dirname "$0")/../.." && pwd)
tool=${NSH_PKGTOOL:-$project/.build/debug/nsh-pkgtool}
case $tool in /*) ;; *) tool=$PWD/$tool ;; esac
[ -x "$tool" ] || { echo "no tool at $tool; make build, or set NSH_PKGTOOL" >&2; exit 3; }
export NSH_PKGTOOL="$tool"

work=$(mktemp -d "${TMPDIR:-/tmp}/nsh-tool.XXXXXX")
trap 'chmod -R u+w "$work" 2>/dev/null; rm -rf "$work"' EXIT
mkdir "$work/home" "$work/logs"
out=$work/logs/out
err=$work/logs/err
export HOME="$work/home" LC_ALL=C.UTF-8 TERM=xterm
unset XDG_CONFIG_HOME NSH_TRUST_ROOTS NSH_TRUST_STATE NSH_TRUST_SOCKET SOURCE_DATE_EPOCH NO_COLOR || :
mkdir "$work/w"
cd "$work/w" || exit 3

passed=0
failed=0
skipped=0
last=

pass() { passed=$((passed + 1)); }
fail() {
    failed=$((failed + 1))
    echo "FAILED  $1"
    echo "        after: $last"
    sed 's/^/        out: /' "$out" 2>/dev/null | head -n 12
    sed 's/^/        err: /' "$err" 2>/dev/null | head -n 12
}
skip() {
    skipped=$((skipped + 1))
    echo "skipped $1"
}

# t STATUS ARGUMENTS…: runs the tool without a terminal and checks its exit status.
t() {
    wanted=$1
    shift
    last="nsh-pkgtool $*"
    status=0
    "$tool" "$@" >"$out" 2>"$err" </dev/null || status=$?
    if [ "$status" -eq "$wanted" ]; then pass; else fail "exit status $status, expected $wanted"; fi
}

# ok COMMAND…: any other command that must succeed; no COMMAND…: one that must not.
ok() { if "$@"; then pass; else fail "$*"; fi; }
no() { if "$@"; then fail "not: $*"; else pass; fi; }

# says TEXT, tells TEXT: the last answer (standard output), the last remark (standard error) holds the text.
says() { if grep -qF -e "$1" "$out"; then pass; else fail "the answer does not say '$1'"; fi; }
tells() { if grep -qF -e "$1" "$err"; then pass; else fail "standard error does not say '$1'"; fi; }
says_not() { if grep -qF -e "$1" "$out"; then fail "the answer says '$1'"; else pass; fi; }
tells_not() { if grep -qF -e "$1" "$err"; then fail "standard error says '$1'"; else pass; fi; }
silent() { if [ -s "$out" ]; then fail "an answer where none is due"; else pass; fi; }
quiet() { if [ -s "$err" ]; then fail "a remark where none is due"; else pass; fi; }

# json EXPRESSION: Python's view of the last answer. `rows` are its objects, `o` the first; names in their order.
json() {
    if python3 -c '
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8") if line.strip()]
o = rows[0] if rows else {}
sys.exit(0 if eval(sys.argv[2]) else 1)' "$out" "$1" 2>"$work/logs/json"; then
        pass
    else
        fail "json: $1 $(tail -n 1 "$work/logs/json")"
    fi
}

# Keys without passphrases and a certificate: root, root2, release, release.cert.
make_keys() {
    for key in root root2 release; do "$tool" keygen $key --no-password --quiet || exit 3; done
    certify release.cert
}
certify() {
    "$tool" certify --quiet --root root.secret --key release.pub --publisher "Example Ltd" --apps "com.example.*" \
        --days 365 -o "$1" || exit 3
}

# app DIRECTORY [BUILD]: a small app as a build leaves it.
app() {
    mkdir -p "$1/assets"
    echo 'console.log("hello")' >"$1/bundle.js"
    echo '{"a":1}' >"$1/assets/texts.json"
    printf '{"id":"com.example.orders","name":"Orders","version":"1.4.0","build":%s}\n' "${2:-5}" >"$1/app.json"
}
publish() {
    "$tool" publish "$1" --quiet --key release.secret --certificate release.cert --build "$2" -o "$3" || exit 3
}

finish() {
    if [ $skipped -gt 0 ]; then
        echo "$passed passed, $failed failed, $skipped skipped"
    else
        echo "$passed passed, $failed failed"
    fi
    [ $failed -eq 0 ] && [ $((passed + skipped)) -gt 0 ]
    exit
}

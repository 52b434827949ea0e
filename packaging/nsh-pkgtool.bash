# Made by `nsh-pkgtool document bash`; do not edit.
_nsh_pkgtool() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]}
    local files='' words='' options=''
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W 'keygen certify publish recertify verify open extract inspect roots revoke update-revocations cosign pae attach rotate store help --help --version' -- "$current")
        return
    fi
    if [[ $verb == store ]]; then
        if ((COMP_CWORD == 2)); then
            mapfile -t COMPREPLY < <(compgen -W 'status apps events check prune remove forget-root export import' -- "$current")
            return
        fi
        verb="store ${COMP_WORDS[2]}"
    fi
    case $verb in
        'keygen')
            options='--no-password --password-file --json --quiet --verbose --help' files='' files='*'
            case $previous in
                --password-file) files='' files='*' ;;
            esac
            ;;
        'certify')
            options='--root --key --publisher --apps --days --not-after --not-before --content --renew --old-root --annotate --password-file --output --json --quiet --verbose --help' files=none
            case $previous in
                --root) files='.secret|.pub' ;;
                --key) files='.pub' ;;
                --publisher) files=none ;;
                --apps) files=none ;;
                --days) files=none ;;
                --not-after) files=none ;;
                --not-before) files=none ;;
                --content) files=none ;;
                --renew) files='.cert' ;;
                --old-root) files='.pub' ;;
                --annotate) files=none ;;
                --password-file) files='' files='*' ;;
                --output | -o) files='' files='*' ;;
            esac
            ;;
        'publish')
            options='--key --certificate --id --name --version --build --min-runtime --annotate --compression --level --include-stray --follow-links --root --threshold --password-file --output --json --quiet --verbose --help' files='.tar|.tar.gz|.tar.xz|.tar.zst|.zip'
            case $previous in
                --key) files='.secret|.pub' ;;
                --certificate) files='.cert' ;;
                --id) files=none ;;
                --name) files=none ;;
                --version) files=none ;;
                --build) files=none ;;
                --min-runtime) files=none ;;
                --annotate) files=none ;;
                --compression) words='zstd none' ;;
                --level) files=none ;;
                --root) files='.pub' ;;
                --threshold) files=none ;;
                --password-file) files='' files='*' ;;
                --output | -o) files='' files='*' ;;
            esac
            ;;
        'recertify')
            options='--certificate --root --threshold --output --json --quiet --verbose --help' files='.nshpkg'
            case $previous in
                --certificate) files='.cert' ;;
                --root) files='.pub' ;;
                --threshold) files=none ;;
                --output | -o) files='' files='*' ;;
            esac
            ;;
        'verify')
            options='--root --threshold --revocations --runtime --max-list-age --at-signing --at --state --socket --json --quiet --verbose --help' files='.nshpkg'
            case $previous in
                --root) files='.pub' ;;
                --threshold) files=none ;;
                --revocations) files='.json|.list' ;;
                --runtime) files=none ;;
                --max-list-age) files=none ;;
                --at) files=none ;;
                --state) files=directory ;;
                --socket) files='.sock' ;;
            esac
            ;;
        'open')
            options='--state --socket --root --threshold --revocations --runtime --max-list-age --at-signing --json --quiet --verbose --help' files='.nshpkg'
            case $previous in
                --state) files=directory ;;
                --socket) files='.sock' ;;
                --root) files='.pub' ;;
                --threshold) files=none ;;
                --revocations) files='.json|.list' ;;
                --runtime) files=none ;;
                --max-list-age) files=none ;;
            esac
            ;;
        'extract')
            options='--root --threshold --revocations --runtime --max-list-age --at-signing --at --json --quiet --verbose --help' files=directory
            case $previous in
                --root) files='.pub' ;;
                --threshold) files=none ;;
                --revocations) files='.json|.list' ;;
                --runtime) files=none ;;
                --max-list-age) files=none ;;
                --at) files=none ;;
            esac
            ;;
        'inspect')
            options='--root --threshold --at --json --quiet --verbose --help' files='.nshpkg|.cert|.pub|.secret|.json'
            case $previous in
                --root) files='.pub' ;;
                --threshold) files=none ;;
                --at) files=none ;;
            esac
            ;;
        'roots')
            options='--root --state --socket --json --quiet --verbose --help' files=none
            case $previous in
                --root) files='.pub' ;;
                --state) files=directory ;;
                --socket) files='.sock' ;;
            esac
            ;;
        'revoke')
            options='--root --first --previous --key --certificate --package --min-build --max-build --transfer --restore --withdraw-root --expires --password-file --output --json --quiet --verbose --help' files=none
            case $previous in
                --root) files='.secret|.pub' ;;
                --previous) files='.json' ;;
                --key) files='.pub' ;;
                --certificate) files='.cert' ;;
                --package) files='.nshpkg' ;;
                --min-build) files=none ;;
                --max-build) files=none ;;
                --transfer) files=none ;;
                --restore) files=none ;;
                --expires) files=none ;;
                --password-file) files='' files='*' ;;
                --output | -o) files='' files='*' ;;
            esac
            ;;
        'update-revocations')
            options='--state --socket --dry-run --root --threshold --json --quiet --verbose --help' files='.json'
            case $previous in
                --state) files=directory ;;
                --socket) files='.sock' ;;
                --root) files='.pub' ;;
                --threshold) files=none ;;
            esac
            ;;
        'cosign')
            options='--root --password-file --output --json --quiet --verbose --help' files='.cert|.json'
            case $previous in
                --root) files='.secret' ;;
                --password-file) files='' files='*' ;;
                --output | -o) files='' files='*' ;;
            esac
            ;;
        'pae')
            options='--output --json --quiet --verbose --help' files='.cert|.json|.nshpkg'
            case $previous in
                --output | -o) files='' files='*' ;;
            esac
            ;;
        'attach')
            options='--signature --key --root --threshold --output --json --quiet --verbose --help' files='.cert|.json|.nshpkg'
            case $previous in
                --signature) files=none ;;
                --key) files='.pub' ;;
                --root) files='.pub' ;;
                --threshold) files=none ;;
                --output | -o) files='' files='*' ;;
            esac
            ;;
        'rotate')
            options='--check --old --new --certificate --package --threshold --json --quiet --verbose --help' files=none
            case $previous in
                --old) files='.pub' ;;
                --new) files='.pub' ;;
                --certificate) files='.cert' ;;
                --package) files='.nshpkg' ;;
                --threshold) files=none ;;
            esac
            ;;
        'store status')
            options='--state --socket --json --quiet --verbose --help' files=none
            case $previous in
                --state) files=directory ;;
                --socket) files='.sock' ;;
            esac
            ;;
        'store apps')
            options='--state --socket --json --quiet --verbose --help' files=none
            case $previous in
                --state) files=directory ;;
                --socket) files='.sock' ;;
            esac
            ;;
        'store events')
            options='--state --socket --after --limit --follow --json --quiet --verbose --help' files=none
            case $previous in
                --state) files=directory ;;
                --socket) files='.sock' ;;
                --after) files=none ;;
                --limit) files=none ;;
            esac
            ;;
        'store check')
            options='--state --socket --json --quiet --verbose --help' files=none
            case $previous in
                --state) files=directory ;;
                --socket) files='.sock' ;;
            esac
            ;;
        'store prune')
            options='--state --socket --keep --dry-run --json --quiet --verbose --help' files=none
            case $previous in
                --state) files=directory ;;
                --socket) files='.sock' ;;
                --keep) files=none ;;
            esac
            ;;
        'store remove')
            options='--state --socket --json --quiet --verbose --help' files=none
            case $previous in
                --state) files=directory ;;
                --socket) files='.sock' ;;
            esac
            ;;
        'store forget-root')
            options='--state --socket --json --quiet --verbose --help' files='.pub'
            case $previous in
                --state) files=directory ;;
                --socket) files='.sock' ;;
            esac
            ;;
        'store export')
            options='--state --socket --output --json --quiet --verbose --help' files=none
            case $previous in
                --state) files=directory ;;
                --socket) files='.sock' ;;
                --output | -o) files='' files='*' ;;
            esac
            ;;
        'store import')
            options='--state --socket --root --threshold --json --quiet --verbose --help' files='.json'
            case $previous in
                --state) files=directory ;;
                --socket) files='.sock' ;;
                --root) files='.pub' ;;
                --threshold) files=none ;;
            esac
            ;;
        help) words='keygen certify publish recertify verify open extract inspect roots revoke update-revocations cosign pae attach rotate store help' ;;
    esac
    if [[ $current == -* && -z $words ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
    elif [[ -n $words ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    elif [[ $files == directory ]]; then
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -d -- "$current")
    elif [[ $files == none ]]; then
        return
    else
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -d -- "$current"; [[ -z $files ]] || compgen -f -X "!*@($files)" -- "$current")
    fi
}
shopt -s extglob
complete -F _nsh_pkgtool nsh-pkgtool

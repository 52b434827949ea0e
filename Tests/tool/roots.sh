#!/bin/sh
# Where roots come from, in which order, and what one bad file does.
. "$(dirname "$0")/lib.sh"
make_keys
app orders 5
publish orders 5 a.nshpkg
mkdir -p dir user/nsh-trust/roots.d "$HOME/.config/nsh-trust/roots.d"

t 3 roots; tells noTrustedRoots; tells "$HOME/.config/nsh-trust/roots.d"; tells "/etc/nsh-trust/roots.d"
t 0 roots --root root.pub; says "OK  root "; says "root.pub"
t 0 roots --root root.pub --root root2.pub --root root.pub --json
json 'len(rows) == 2 and list(o) == ["file","key","publicKey","verdict","code"] and o["file"] == "root.pub"'
t 3 roots --root nofile; says "ERROR noSuchFile  nofile"
t 3 roots --root dir; tells noTrustedRoots

# A directory: its *.pub, sorted; nothing else in it counts.
cp root.pub dir/b.pub; cp root2.pub dir/a.pub; echo junk >dir/notes.txt; echo junk >dir/.hidden.pub
t 0 roots --root dir --json; json '[row["file"] for row in rows] == ["dir/a.pub", "dir/b.pub"]'
t 0 verify a.nshpkg --root dir
t 0 verify a.nshpkg --root dir --root root.pub

# One bad file among good ones is named; verifying is an error, looking is not.
echo junk >dir/c.pub
t 3 verify a.nshpkg --root dir; tells "dir/c.pub"; tells "cannot be used"
t 3 verify a.nshpkg --root dir --json; json 'o["file"] == "a.nshpkg" and o["verdict"] == "error"'
t 3 roots --root dir; says "OK  root"; says "REFUSED malformed  dir/c.pub"
t 0 inspect a.nshpkg --root dir; says "verified"; tells "warning: dir/c.pub"
rm dir/c.pub; ln -s nowhere dir/c.pub
t 3 verify a.nshpkg --root dir; tells "dir/c.pub"
rm dir/c.pub; mkdir dir/c.pub
t 3 verify a.nshpkg --root dir; tells "dir/c.pub"
rmdir dir/c.pub
printf '%s\n' AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= >dir/c.pub
t 3 verify a.nshpkg --root dir; tells "weak" 
rm dir/c.pub
t 0 open a.nshpkg --state store --root root.pub
printf 'bad' >dir/z.pub
NSH_TRUST_ROOTS=dir; export NSH_TRUST_ROOTS
t 0 store status --state store; t 0 store apps --state store; t 0 store events --state store; t 0 store check --state store
rm dir/z.pub

# The variable: files and directories; what it names must be there; it is not made up for.
t 0 verify a.nshpkg
NSH_TRUST_ROOTS=root2.pub:root.pub; t 0 verify a.nshpkg
NSH_TRUST_ROOTS=root2.pub; cp root.pub "$HOME/.config/nsh-trust/roots.d/"; t 1 verify a.nshpkg; says untrustedRoot
NSH_TRUST_ROOTS=nowhere:root.pub; t 3 verify a.nshpkg; tells nowhere
NSH_TRUST_ROOTS=dir:; t 0 verify a.nshpkg
mkdir emptydir; NSH_TRUST_ROOTS=emptydir; t 3 verify a.nshpkg; tells noTrustedRoots
t 1 verify a.nshpkg --root root2.pub
NSH_TRUST_ROOTS=; t 0 verify a.nshpkg
unset NSH_TRUST_ROOTS

# The user's own directory, by HOME or XDG_CONFIG_HOME.
t 0 verify a.nshpkg; t 0 roots; says "$HOME/.config/nsh-trust/roots.d/root.pub"
XDG_CONFIG_HOME=$PWD/user; export XDG_CONFIG_HOME
t 3 verify a.nshpkg; tells "user/nsh-trust/roots.d"
cp root.pub user/nsh-trust/roots.d/; t 0 verify a.nshpkg
echo bad >user/nsh-trust/roots.d/x.pub; t 3 verify a.nshpkg; tells "x.pub"
finish

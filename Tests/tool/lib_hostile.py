"""Gives the tool every file of testvectors/ and names that attack terminals; run by hostile.sh in its directory."""
import json
import os
import pathlib
import subprocess
import sys
import unicodedata

from lib_pty import TOOL, Counter

count = Counter()
vectors = pathlib.Path(sys.argv[1])
ALLOWED = {"\n"}
REMARKS = ("nsh-pkgtool: ", "hint: ")


def raw(text):
    """Code points that no terminal should get."""
    return {hex(ord(c)) for c in text if c not in ALLOWED and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")}


def run(*arguments, statuses=(0, 1), name=None, stdin=b""):
    name = name or " ".join(map(ascii, arguments))
    try:
        done = subprocess.run([TOOL, *arguments], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    except subprocess.TimeoutExpired:
        count.check(f"{name}: ends within a minute", False)
        return None
    out, err = done.stdout.decode("utf-8", "strict"), done.stderr.decode("utf-8", "strict")
    found = raw(out) | raw(err)
    count.check(f"{name}: exit status {done.returncode}", done.returncode in statuses, out + err)
    count.check(f"{name}: prints {found}", not found)
    count.check(f"{name}: remarks", all(line.startswith(REMARKS) for line in err.splitlines()), err)
    return out


# Every file that there is, through verify and inspect: accepted or refused, never a crash.
files = sorted(path for path in vectors.rglob("*") if path.is_file() and path.suffix not in (".py", ".md", ".pyc"))
roots = [option for path in sorted((vectors / "keys").glob("root*.pub"))[:3] for option in ("--root", str(path))]
roots = roots or ["--root", "root.pub"]
if not files:
    print("there are no test vectors")
for start in range(0, len(files), 40):
    group = [str(path) for path in files[start:start + 40]]
    out = run("verify", "--json", *roots, *group, name=f"verify of vectors {start} to {start + len(group)}")
    rows = [json.loads(line) for line in (out or "").splitlines()]
    count.check(f"a verdict for each of {len(group)}", [row["file"] for row in rows] == group)
    count.check("each verdict has a code", all((row["code"] is None) == (row["verdict"] == "accepted") for row in rows))
    run("inspect", *group, name=f"inspect of vectors {start} to {start + len(group)}")
    out = run("inspect", "--json", *group, name=f"inspect --json of vectors {start} to {start + len(group)}")
    count.check("one object each", len([json.loads(line) for line in (out or "").splitlines()]) == len(group))

# Names of files.
for name in ("esc\x1b[2J", "cr\rOK  fake", "nl\nOK  com.example.fake 1.0 (build 9)  Trusted  key 0", "rtl\u202Egpksn", "c1\x9b31m",
             "zero\u200Bwidth", "tag\U000E0041", "bell\x07", "-dash"):
    pathlib.Path(name).write_bytes(b"x")
    for verb in ("verify", "inspect"):
        out = run(verb, "--root", "root.pub", "--", name, statuses=(1,))
        count.check(f"{verb} {name!a}: one line", out is not None and len(out.splitlines()) == 1, ascii(out))
        out = run(verb, "--root", "root.pub", "--json", "--", name, statuses=(1,))
        count.check(f"{verb} --json {name!a}: the name survives", out is not None and json.loads(out)["file"] == name, ascii(out))
    os.unlink(name)
    run("verify", "--root", "root.pub", "--", name, statuses=(3,))
    run("verify", "--root", name, "--", "x", statuses=(3,))
    run("keygen", "--no-password", "--", f"no-dir-{name}/{name}", statuses=(3,))
    run("store", "status", "--state", name, statuses=(3,))
    run(name, statuses=(2,))
    run("verify", f"--{name}", statuses=(2,))

# A whole file of one byte, of zeros, of the magic alone, of deep JSON; from a file and from standard input.
for name, data in (
    ("one", b"\x89"), ("magic", b"\x89NSHPKG\n"), ("zeros", bytes(1 << 16)), ("huge lengths", b"\x89NSHPKG\n\1\0\0\0" + b"\xff" * 8),
    ("deep", b"[" * 100000), ("deep object", b'{"a":' * 100000), ("text", b"hello\n"), ("bom", b"\xef\xbb\xbf{}"),
    ("utf-16", '{"payload":""}'.encode("utf-16")), ("big key", b"A" * 1000000), ("newlines", b"\n" * 100000),
):
    pathlib.Path("file").write_bytes(data)
    for verb in ("verify", "inspect"):
        run(verb, "--root", "root.pub", "file", statuses=(1,), name=f"{verb} {name}")
        run(verb, "--root", "root.pub", "-", statuses=(1,), name=f"{verb} - {name}", stdin=data)
    for arguments in (["--root", "file", "x"], ["--root", "root.pub", "--revocations", "file", "x"]):
        run("verify", *arguments, statuses=(1, 3), name=f"verify {arguments[0]} {name}")
    run("certify", "--root", "file", "--key", "file", "--publisher", "P", "--apps", "a.b", "--days", "1", "-o", "x",
        statuses=(1,), name=f"certify {name}")
    run("recertify", "file", "--certificate", "file", "-o", "x", statuses=(1,), name=f"recertify {name}")
    run("revoke", "--root", "root.secret", "--previous", "file", "-o", "x", statuses=(1,), name=f"revoke {name}")
    run("store", "import", "file", "--state", "new", "--root", "root.pub", statuses=(1,), name=f"import {name}")
    run("pae", "file", statuses=(1,), name=f"pae {name}")
    count.check(f"{name}: nothing is left", not any(os.path.exists(path) for path in ("x", "new")))
count.finish()

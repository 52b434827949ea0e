#!/usr/bin/env python3
"""Counts the instructions and system calls of fixed operations and holds them against counts.json.

    Benchmarks/guard/guard.py               fails when an operation needs more than was accepted (make bench-guard)
    Benchmarks/guard/guard.py --accept      writes down what it needs now (make bench-guard ACCEPT=1)
    Benchmarks/guard/guard.py --self-test   the judging itself, on planted slow-downs; runs nothing

Instructions are valgrind's (callgrind) of the static release builds in NSH_PKGTOOL and NSH_PROBE: the same from run to run and
from machine to machine, where milliseconds are not. Valgrind shows every program the same processor, without SHA instructions,
so hashing counts as its portable code. Inputs are made anew of fixed keys and bytes; names, environment and hash seeds are
fixed. System calls are strace's; those that wait, map memory or depend on the machine are left out. Where valgrind or strace
is missing or may not trace, what they would count is skipped, and that is said. Ends with `N passed, N failed[, N skipped]`.
"""
import json
import os
import pathlib
import platform
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BUILD = HERE.parents[1] / ".build" / "release"
COUNTS = pathlib.Path(os.environ.get("NSH_GUARD_COUNTS", HERE / "counts.json"))
TOLERANCE = 1.0  # per cent; what a count moves by from run to run is below a tenth of it
LIBRARIES = ("libc6-dev", "libsodium-dev", "libsqlite3-dev", "libzstd-dev", "nettle-dev", "libutf8proc-dev", "valgrind")
NOISE = {
    "brk", "mmap", "munmap", "mremap", "mprotect", "madvise", "futex", "sched_yield", "sched_getaffinity", "execve", "clone",
    "clone3", "exit", "exit_group", "rseq", "set_robust_list", "set_tid_address", "arch_prctl", "gettid", "getpid", "prlimit64",
    "rt_sigprocmask", "restart_syscall", "clock_nanosleep", "nanosleep", "getrandom", "prctl"}
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin", "LC_ALL": "C", "SWIFT_DETERMINISTIC_HASHING": "1", "SOURCE_DATE_EPOCH": "1790000000",
    # Caches of a fixed size: from which size on memory is copied in another way would depend on the processor.
    "GLIBC_TUNABLES": "glibc.cpu.x86_data_cache_size=0x8000:glibc.cpu.x86_shared_cache_size=0x100000:"
                      "glibc.cpu.x86_non_temporal_threshold=0xc0000"}
ADVICE = "make bench-guard ACCEPT=1 writes down the new counts; say in the commit why they are right"


class Operation:
    """One thing that is counted: a command, what must be there before it, and how often it does the thing."""

    def __init__(self, name, words, before=(), baseline=None, times=1, traced=True):
        self.name, self.words, self.before = name, words, before
        self.baseline, self.times, self.traced = baseline, times, traced


def operations():
    """What is counted. `baseline` is the same command with less to do: the difference is what `times` of the thing cost."""
    def verify(package):
        return ["./nsh-pkgtool", "verify", package, "--root", "root.pub", "-q"]

    def opened(package):
        return ["./nsh-pkgtool", "open", package, "--root", "root.pub", "--state", "state", "-q"]

    def probe(what, count):
        return ["./GuardProbe", what, "listed", "@root.pub", "@digest", str(count)]

    fresh, listed = ["rm", "-rf", "state"], ["cp", "-a", "listed", "state"]
    return [
        Operation("start", ["./nsh-pkgtool", "--version"]),
        Operation("verify, 100 KB", verify("small.nshpkg")),
        Operation("verify, 100 KB, zstd", verify("small-zstd.nshpkg")),
        Operation("verify, 1,000 files", verify("many.nshpkg")),
        Operation("open, 100 KB, first of a store", opened("small.nshpkg"), [fresh]),
        Operation("open, 100 KB, zstd", opened("small-zstd.nshpkg"), [fresh, listed]),
        Operation("open, 1,000 files", opened("many.nshpkg"), [fresh, listed]),
        Operation("open again, 100 KB", opened("small.nshpkg"), [fresh, listed]),
        Operation("verify with a list of 10,000 keys", verify("small.nshpkg") + ["--state", "listed"]),
        Operation("check in-process", probe("check", 220), baseline=probe("check", 20), times=200, traced=False),
        Operation("list look-up", probe("lookup", 220), baseline=probe("lookup", 20), times=200, traced=False),
        Operation("list look-up, often", probe("lookup-often", 900), baseline=probe("lookup-often", 100), times=800, traced=False),
    ]


# MARK: - Inputs

def write_tree(folder, files, size, seed):
    """An app of files that hold half noise, half text, the same ones each time."""
    dice = random.Random(seed)
    (folder / "assets").mkdir(parents=True)
    (folder / "bundle.js").write_text("start()\n")
    identity = {"id": f"com.example.{folder.name}", "name": folder.name, "version": "1.0", "build": 1}
    (folder / "app.json").write_text(json.dumps(identity))
    for number in range(files):
        noise = bytes(dice.getrandbits(8) for _ in range(size // 2))
        (folder / "assets" / f"file-{number:04}.bin").write_bytes(noise + b"function f() { return 1 }\n" * (size // 52))


def make_inputs(work):
    """Packages, a list of 10,000 keys, and a store that has applied it and holds the small package."""
    for key in (HERE / "keys").iterdir():
        shutil.copyfile(key, work / key.name)
        os.chmod(work / key.name, 0o600)
    write_tree(work / "small", 12, 8192, 1)
    write_tree(work / "many", 998, 512, 2)
    for name, source, compression in (("small", "small", "none"), ("small-zstd", "small", "zstd"), ("many", "many", "none")):
        tool(work, "publish", source, "--key", "release.secret", "--certificate", "release.cert", "--compression", compression,
             "-o", f"{name}.nshpkg")
    keys = [f"--key={number:064x}" for number in range(1, 2001)]
    previous = ["--first"]
    for part in range(5):
        keys = [f"--key={part * 2000 + number:064x}" for number in range(1, 2001)]
        tool(work, "revoke", "--root", "root.secret", *previous, *keys, "-o", f"list-{part}.json")
        previous = ["--previous", f"list-{part}.json"]
    tool(work, "update-revocations", "list-4.json", "--root", "root.pub", "--state", "listed")
    answer = tool(work, "open", "small.nshpkg", "--root", "root.pub", "--state", "listed", "--json")
    (work / "digest").write_text(json.loads(answer.splitlines()[0])["digest"])


def tool(work, *words):
    """Runs the tool; a failure ends the whole."""
    done = subprocess.run(["./nsh-pkgtool", *words], cwd=work, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"nsh-pkgtool {words[0]}: {done.stderr}")
    return done.stdout


# MARK: - Counting

def run(work, operation, prefix, words):
    """Runs a command of an operation behind a prefix, and returns what the tracer wrote to standard error."""
    for before in operation.before:
        subprocess.run(before, cwd=work, check=True)
    words = [(work / word[1:]).read_text().strip() if word.startswith("@") else word for word in words]
    done = subprocess.run([*prefix, *words], cwd=work, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{operation.name}: {' '.join(words)} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stderr


def instructions(work, operation):
    """Instructions of one operation, the smallest of what was counted: a turn of a clock can only add some."""
    def collected(words, rounds):
        prefix = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
        return min(int(re.search(r"Collected : (\d+)", run(work, operation, prefix, words))[1]) for _ in range(rounds))

    if operation.baseline is None:
        return collected(operation.words, 1)
    return (collected(operation.words, 2) - collected(operation.baseline, 2)) // operation.times


def system_calls(work, operation):
    """How often one operation makes which system call, but for those that say little of it."""
    run(work, operation, ["strace", "-f", "-qq", "-c", "-U", "name,calls", "-o", "calls"], operation.words)
    rows = (line.split() for line in (work / "calls").read_text().splitlines())
    return {row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].isdigit() and row[0] not in NOISE | {"total"}}


def may_trace(program, *words):
    """Whether a tracer is there and may trace."""
    if not shutil.which(program):
        return False
    return subprocess.run([program, *words, "/bin/true"], capture_output=True, check=False).returncode == 0


def measure(work):
    """The counts of every operation: name -> {instructions, systemCalls}, without what cannot be counted here."""
    has_valgrind, has_strace = may_trace("valgrind", "-q", "--tool=none"), may_trace("strace", "-qq", "-o", "/dev/null")
    counts = {}
    for operation in operations():
        row = counts[operation.name] = {}
        if has_valgrind:
            row["instructions"] = instructions(work, operation)
        if has_strace and operation.traced:
            row["systemCalls"] = system_calls(work, operation)
    return counts


def made_with():
    """What a count depends on besides the sources."""
    query = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${Version}\n", *LIBRARIES], capture_output=True, text=True, check=False)
    swift = subprocess.run(["swift", "--version"], capture_output=True, text=True, check=False).stdout
    found = dict(line.split(" ", 1) for line in query.stdout.splitlines() if " " in line)
    found["swift"] = (re.search(r"Swift version (\S+)", swift) or ["", "unknown"])[1]
    return found


# MARK: - Judging

def judge(accepted, counted, tolerance=TOLERANCE):
    """Compares counts. Returns rows of (passed | failed | skipped, text)."""
    rows = []
    for name in sorted(accepted.keys() | counted.keys()):
        before, now = accepted.get(name), counted.get(name)
        if before is None or now is None:
            rows.append(("failed", f"{name}: {'was never accepted' if before is None else 'is not counted any more'}"))
            continue
        for what in sorted(before.keys() | now.keys()):
            if what not in now:
                rows.append(("skipped", f"{name}: {what} cannot be counted here (valgrind or strace is missing or may not trace)"))
            elif what not in before:
                rows.append(("failed", f"{name}: {what} were never accepted"))
            elif what == "instructions":
                rows.append(judge_instructions(name, before[what], now[what], tolerance))
            else:
                rows.append(judge_calls(name, before[what], now[what]))
    return rows


def judge_instructions(name, before, now, tolerance):
    """More than the tolerance fails; fewer is said, for it hides the next rise until it is accepted."""
    change = 100 * (now - before) / before
    text = f"{name}: {now:,} instructions, {change:+.2f} % of the {before:,} accepted"
    if change > tolerance:
        return "failed", f"{text}; {tolerance:g} % are allowed"
    return "passed", text + ("; accept it to keep it" if change < -tolerance else "")


def judge_calls(name, before, now):
    """One system call more fails, whichever; as many of another kind do not."""
    total, accepted = sum(now.values()), sum(before.values())
    differences = [f"{call} {before.get(call, 0)} -> {now.get(call, 0)}"
                   for call in sorted(before.keys() | now.keys()) if before.get(call, 0) != now.get(call, 0)]
    text = f"{name}: {total} system calls, {accepted} accepted" + (f" ({', '.join(differences)})" if differences else "")
    return ("failed" if total > accepted else "passed"), text


def self_test():
    """Plants slow-downs in counts, and looks whether each is found, and nothing else is."""
    accepted = {"verify": {"instructions": 1_000_000, "systemCalls": {"read": 5, "close": 2}}, "check": {"instructions": 700}}

    def verdict(**changes):
        planted = json.loads(json.dumps(accepted))
        for name, change in changes.items():
            if change is None:
                del planted[name]
            else:
                planted.setdefault(name, {}).update(change)
        return [kind for kind, _ in judge(accepted, planted)]

    cases = [
        ("the same counts pass", verdict(), ["passed"] * 3),
        ("half a per cent more passes", verdict(verify={"instructions": 1_005_000}), ["passed"] * 3),
        ("two per cent more fail", verdict(verify={"instructions": 1_020_000}), ["passed", "failed", "passed"]),
        ("half as many pass", verdict(verify={"instructions": 500_000}), ["passed"] * 3),
        ("one system call more fails", verdict(verify={"systemCalls": {"read": 6, "close": 2}}), ["passed", "passed", "failed"]),
        ("one of another kind passes", verdict(verify={"systemCalls": {"read": 4, "pread64": 1, "close": 2}}), ["passed"] * 3),
        ("ten instructions of a short one fail", verdict(check={"instructions": 710}), ["failed", "passed", "passed"]),
        ("an operation that is gone fails", verdict(check=None), ["failed", "passed", "passed"]),
        ("a new operation fails", verdict(other={"instructions": 1}), ["passed", "failed", "passed", "passed"]),
    ]
    wrong = [f"{name}: {found}, expected {expected}" for name, found, expected in cases if found != expected]
    no_strace = {"verify": {"instructions": 1_000_000}, "check": {"instructions": 700}}
    if [kind for kind, _ in judge(accepted, no_strace)] != ["passed", "passed", "skipped"]:
        wrong.append("what cannot be counted is not skipped")
    print("".join(line + "\n" for line in wrong) + f"{len(cases) + 1 - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


# MARK: - The command

def programs(work):
    """Copies the builds without what debuggers read, which valgrind stumbles over and reads for seconds."""
    for name, variable in (("nsh-pkgtool", "NSH_PKGTOOL"), ("GuardProbe", "NSH_PROBE")):
        built = pathlib.Path(os.environ.get(variable, BUILD / name))
        if not built.exists():
            raise SystemExit(f"no {built}; make bench-guard builds it")
        subprocess.run(["strip", "--strip-debug", "-o", work / name, built], check=True)


def accept(counts):
    """Writes the counts down; what cannot be counted here keeps what it had."""
    held = json.loads(COUNTS.read_text())["counts"] if COUNTS.exists() else {}
    counts = {name: {**held.get(name, {}), **row} for name, row in counts.items()}
    COUNTS.write_text(json.dumps({"madeWith": made_with(), "counts": counts}, indent=1) + "\n")
    print(f"{len(counts)} operations accepted in {COUNTS}")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if platform.machine() != "x86_64":
        print("0 passed, 0 failed, 1 skipped (the counts are those of x86-64)")
        return 0
    # Always as deep below the root: SQLite looks at each directory of a path.
    with tempfile.TemporaryDirectory(prefix="nsh-guard-", dir="/tmp") as folder:
        work = pathlib.Path(folder)
        programs(work)
        make_inputs(work)
        counted = measure(work)
    if sys.argv[1:] == ["--accept"]:
        accept(counted)
        return 0
    held = json.loads(COUNTS.read_text())
    rows = judge(held["counts"], counted)
    for kind, text in rows:
        print(f"{kind:8}{text}")
    numbers = {kind: sum(row[0] == kind for row in rows) for kind in ("passed", "failed", "skipped")}
    if numbers["failed"]:
        changed = [f"{name} {held['madeWith'].get(name)} -> {version}" for name, version in made_with().items()
                   if held["madeWith"].get(name) != version]
        print(f"counted with other libraries: {', '.join(changed)}" if changed else "the libraries are the same")
        print(f"hint: {ADVICE}")
    skipped = f", {numbers['skipped']} skipped" if numbers["skipped"] else ""
    print(f"{numbers['passed']} passed, {numbers['failed']} failed{skipped}")
    return 1 if numbers["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())

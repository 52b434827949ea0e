"""What the crash suites share: commands on prepared stores, runs of them under strace, and counting.

A *scenario* is one command on one prepared state directory. Every run gets a fresh copy of that directory, is disturbed at
one system call, and is judged by `common_judge`.
"""
import dataclasses
import hashlib
import json
import multiprocessing
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "daemon"))

import common_daemon  # noqa: E402
from common_daemon import LONG, TOOL, Checks, Publisher, digest, tool  # noqa: E402, F401
from common_trace import IS_SUPPORTED, Tracer  # noqa: E402

LIMIT = 20  # seconds; a run that takes longer hangs
WORKERS = 2
STRACE = shutil.which("strace")
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"}


def needs_strace():
    """Ends the suite, skipped, where the system does not let one process trace another."""
    common_daemon.needs_programs()
    probe = STRACE and subprocess.run([STRACE, "-f", "-o", "/dev/null", "/bin/true"], capture_output=True, check=False)
    if not probe or probe.returncode != 0:
        print("no strace, or tracing is not permitted here")
        print("0 passed, 0 failed, 1 skipped")
        sys.exit(0)


# ---- running -------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Ending:
    """How a run ended: an exit status, a negative signal, or None when its time was up."""

    status: int
    out: str
    err: str
    reached: bool = True

    @property
    def code(self):
        """The code of the last JSON answer, or the one on standard error."""
        for line in reversed(self.out.splitlines()):
            try:
                return json.loads(line).get("code")
            except (ValueError, AttributeError):
                continue
        found = re.search(r"^nsh-pkgtool: (\w+)[: ]", self.err, re.MULTILINE)
        return found and found.group(1)

    @property
    def is_success(self):
        """Whether it said that what was asked for is done."""
        return '"verdict":"accepted"' in self.out or '"outcome":"removed"' in self.out or self.status == 0

    def brief(self):
        return f"status {self.status}, {self.out[-300:]!r} {self.err[-300:]!r}"


def start(argv, directory="/", environment=None):
    process = subprocess.Popen([str(part) for part in argv], cwd=directory, env={**ENVIRONMENT, **(environment or {})},
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    try:
        out, err = process.communicate(timeout=LIMIT)
        status = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        status = None
    return Ending(status, out.decode(errors="replace"), err.decode(errors="replace"))


def strace(place, call, effect, argv, directory="/"):
    """Runs a command of one thread under strace, which disturbs one call: `signal=KILL`, `error=EIO`."""
    log = place / "log"
    injection = f"inject={call.name}:{effect}:when={call.number}"
    ending = start([STRACE, "-f", "-qq", "-o", log, "-e", f"trace={call.name}", "-e", injection, *argv], directory)
    text = pathlib.Path(log).read_text(errors="replace")
    ending.reached = "killed by SIGKILL" in text if "KILL" in effect else "(INJECTED)" in text
    if not ending.reached and "KILL" in effect:  # -qq leaves the line out that says how the process ended
        ending.reached = ending.status == -signal.SIGKILL
    return ending


CALL = re.compile(r"^(\d+) +(\w+)\(")


@dataclasses.dataclass(frozen=True)
class Call:
    """A system call of a record: the thread by order of creation, the name, which one of that name in the thread."""

    thread: int
    name: str
    number: int
    text: str

    def __str__(self):
        return (f"thread {self.thread}, " if self.thread else "") + f"{self.name} {self.number}"


def record(log, argv, directory="/"):
    """Runs a command and returns how it ended and its system calls in their order."""
    ending = start([STRACE, "-f", "-o", log, *argv], directory)
    threads, counts, calls = {}, {}, []
    for line in pathlib.Path(log).read_text(errors="replace").splitlines():
        if found := CALL.match(line):
            key = (threads.setdefault(found.group(1), len(threads)), found.group(2))
            counts[key] = counts.get(key, 0) + 1
            calls.append(Call(*key, counts[key], line))
    return ending, calls


def failing(log, name, argv):
    """Records a command that must succeed. Returns its calls, none where they cannot be told apart, and whether several threads made them."""
    ending, calls = record(log, argv)
    assert ending.status == 0, f"{name}: {ending.brief()}"
    many = any(call.thread for call in calls)
    return ([] if many and not IS_SUPPORTED else calls), many


def fresh(place, template):
    """Makes a place anew, with a copy of a state directory in it unless there is to be none."""
    place = pathlib.Path(place)
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    if template:
        shutil.copytree(template, place / "state")
    return place


def traced(place, call, effect, argv, directory="/"):
    """Runs a command under the tracer of `common_trace`, which disturbs one call."""
    tracer = Tracer(call.thread, call.name, call.number, effect)
    status = tracer.run(argv, place / "out", place / "err", ENVIRONMENT, LIMIT, directory)
    return Ending(status, (place / "out").read_text(), (place / "err").read_text(), tracer.reached)


# ---- the world and its scenarios -----------------------------------------------------------------------------


@dataclasses.dataclass
class Known:
    """What a store must remember: accepted builds, lists in force by issuer, and packages with whole trees."""

    builds: dict
    lists: dict
    installed: set


@dataclasses.dataclass
class Scenario:
    """A command on a prepared store."""

    name: str
    template: pathlib.Path
    argv: list  # {state} stands for the state directory
    before: Known
    after: Known
    creates: bool = False  # there is no store before
    damaged: frozenset = frozenset()  # packages whose trees are damaged before
    again: tuple = ()  # codes with which a repetition may end

    def command(self, state):
        return [TOOL, *(str(part).replace("{state}", str(state)) for part in self.argv)]

    def fresh(self, place):
        """A copy of the prepared state directory."""
        return fresh(place, None if self.creates else self.template) / "state"

    @property
    def going(self):
        """Packages that the command removes: until it has ended, their trees may be there or not."""
        return self.before.installed - self.after.installed


class World:
    """A publisher with packages and lists, and the scenarios made of them."""

    def __init__(self):
        self.base = common_daemon.scratch(MEMORY)
        self.publisher = Publisher(self.base / "p")
        self.root = self.publisher / "root.pub"
        self.contents = {}
        self.small = {build: self.know(self.publisher.package(build)) for build in (5, 6, 7)}
        self.other = self.know(self.publisher.package(3, app="maps"))
        self.large = self.know(self.publisher.package(9, size=3 << 20))
        self.first = self.publisher.list("--min-build", "com.example.maps=2")
        self.second = self.publisher.list("--package", self.small[5])
        self.issuer = self.publisher.key_hash("root")

    def know(self, package):
        name = self.base / "extracted"
        tool("extract", package, name, "--root", self.root)
        self.contents[digest(package)] = files(name)
        shutil.rmtree(name)
        return package

    def state(self, name, *packages, lists=()):
        path = self.base / name
        for package in packages:
            tool("open", package, "--root", self.root, "--state", path)
        for one in lists:
            tool("update-revocations", one, "--root", self.root, "--state", path)
        return path

    def scenarios(self):
        small, judged = self.small, ["--root", self.root, "--state", "{state}", "--json"]
        five, six, seven, maps, large = map(digest, (small[5], small[6], small[7], self.other, self.large))
        orders, first, second = "com.example.orders", {self.issuer: 1}, {self.issuer: 2}
        base = self.state("base", small[5], self.other, lists=[self.first])
        known = Known({orders: 5, "com.example.maps": 3}, first, {five, maps})

        def later(build=5, lists=first, gone=(), come=()):
            return Known({orders: build, "com.example.maps": 3}, lists, known.installed - set(gone) | set(come))

        yield Scenario("create", self.base, ["open", small[6], *judged], Known({}, {}, set()), Known({orders: 6}, {}, {six}),
                       creates=True)
        yield Scenario("open", base, ["open", small[6], *judged], known, later(6, come=[six]))
        yield Scenario("open-large", base, ["open", self.large, *judged], known, later(9, come=[large]))
        damaged = self.base / "damaged"
        shutil.copytree(base, damaged)
        next(damaged.glob(f"apps/{orders}/5-*/SHA256SUMS")).write_text("")
        yield Scenario("open-damaged", damaged, ["open", small[5], *judged],
                       known, known, damaged=frozenset([five]))
        yield Scenario("update-revocations", base, ["update-revocations", self.second, *judged], known, later(lists=second))
        full = self.base / "full"
        shutil.copytree(base, full)
        for build in (6, 7):
            tool("open", small[build], "--root", self.root, "--state", full)
        (full / "staging" / ("0" * 32)).mkdir()
        (full / "staging" / ("0" * 32) / "left").write_text("by somebody who was killed")
        stranger = next(full.glob("apps/com.example.maps/3-*"))
        shutil.copytree(stranger, stranger.parents[1] / "com.example.lost" / stranger.name)
        three, one, none = later(7, come=[six, seven]), later(7, gone=[five], come=[seven]), later(7, gone=[five])
        yield Scenario("prune", full, ["store", "prune", "--keep", "1", "--state", "{state}", "--json"], three, one)
        yield Scenario("remove", full, ["store", "remove", orders, "--state", "{state}", "--json"], three, none,
                       again=("notInstalled",))
        tool("update-revocations", self.second, "--root", self.root, "--state", self.state("newer", small[7]))
        export = self.base / "export.json"
        tool("store", "export", "--state", self.base / "newer", "-o", export)
        yield Scenario("import", base, ["store", "import", export, *judged], known, later(7, lists=second))


def files(tree):
    """Every file of a tree with its SHA-256, and every directory."""
    tree = pathlib.Path(tree)
    return {str(path.relative_to(tree)): None if path.is_dir() else hashlib.sha256(path.read_bytes()).hexdigest()
            for path in tree.rglob("*")}


# ---- points --------------------------------------------------------------------------------------------------


class Tally:
    """Counts points by kind, and says what failed."""

    def __init__(self, checks):
        self.checks, self.rows, self.count = checks, {}, 0

    def add(self, kind, name, reached, faults):
        row = self.rows.setdefault(kind, [0, 0, 0])
        self.count += 1
        if self.count % 500 == 0:
            print(f"{self.count} points tried", flush=True)
        if reached:
            row[0] += 1
            row[1] += bool(faults)
            self.checks.check(name, *faults)
        else:
            row[2] += 1
            self.checks.skip(1, f"{name}: not reached in {TRIES} runs")

    def finish(self):
        print(f"{'points':42} {'tried':>7} {'failed':>7} {'not reached':>12}")
        for kind, (tried, failed, missed) in self.rows.items():
            print(f"{kind:42} {tried:7} {failed:7} {missed:12}")
        self.checks.finish()


TRIES = 3


def step(short, long=1):
    """Which points are tried: every so many; NSH_STEP overrules both."""
    return int(os.environ.get("NSH_STEP", long if LONG else short))


def everywhere(function, points):
    """Calls the function for every point in two processes; its answers as they come."""
    with multiprocessing.get_context("fork").Pool(WORKERS) as pool:
        yield from pool.imap_unordered(function, points, chunksize=4)

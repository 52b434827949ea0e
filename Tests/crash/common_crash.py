"""What the crash suites share: commands on prepared stores, runs of them under strace, and what must hold afterwards.

A *scenario* is one command on one prepared state directory. Every run gets a fresh copy of that directory, is disturbed at
one system call, and is judged by `judge`, which trusts nothing that the tool says of itself: it reads the database through
Python's sqlite3 from a copy (with its journal) and compares every installed file with what was published.
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
import sqlite3
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "daemon"))

import common_daemon  # noqa: E402
from common_daemon import LONG, TOOL, Checks, Publisher, digest, tool  # noqa: E402, F401
from common_trace import Tracer  # noqa: E402

LIMIT = 20  # seconds; a run that takes longer hangs
WORKERS = 2
STRACE = shutil.which("strace")
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"}
TOP = {"trust.sqlite", "trust.sqlite-journal", "staging", "apps", "set-aside"}


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
        place = pathlib.Path(place)
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        if not self.creates:
            shutil.copytree(self.template, place / "state")
        return place / "state"

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


def files(tree):
    """Every file of a tree with its SHA-256, and every directory."""
    tree = pathlib.Path(tree)
    return {str(path.relative_to(tree)): None if path.is_dir() else hashlib.sha256(path.read_bytes()).hexdigest()
            for path in tree.rglob("*")}


# ---- judging -------------------------------------------------------------------------------------------------


def look(state, place):
    """What the database says, read from a copy of it and its journal: (problems, Known, trees by digest)."""
    copy = pathlib.Path(place)
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir()
    for name in ("trust.sqlite", "trust.sqlite-journal"):
        if (state / name).exists():
            shutil.copyfile(state / name, copy / name)
    connection = sqlite3.connect(copy / "trust.sqlite")
    try:
        problems = [row[0] for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
        builds = dict(connection.execute("SELECT app, build FROM apps"))
        lists = {issuer.hex(): number for issuer, number in connection.execute("SELECT issuer, sequence FROM lists WHERE is_head = 1")}
        trees = {one.hex(): tree for one, tree in connection.execute("SELECT digest, tree FROM packages")}
    finally:
        connection.close()
    return problems, Known(builds, lists, set(trees)), trees


def judge(scenario, contents, state, has_succeeded, place):
    """Everything that is wrong with a store after a run was disturbed; nothing is, when the list is empty."""
    faults = []
    if (state / "trust.sqlite").exists():
        faults += remembered(scenario, contents, state, has_succeeded, place)
        # A command that only looks comes first: it must not need somebody else to have tidied up.
        check = start([TOOL, "store", "check", "--state", state, "--json"])
        if check.status != 0 and (has_succeeded or not excused(check, scenario, contents, state, place)):
            faults.append(f"store check: {check.brief()}")
    elif has_succeeded or not scenario.creates:
        faults.append("there is no database")
    again = start(scenario.command(state))
    if again.status != 0 and again.code not in scenario.again:
        return [*faults, f"the same again: {again.brief()}"]
    faults += [f"after the same again: {fault}" for fault in remembered(scenario, contents, state, True, place)]
    return faults + tidy(state)


def excused(check, scenario, contents, state, place):
    """Whether a check found nothing but trees that were damaged before, or that the command was about to remove."""
    _, _, trees = look(state, place)
    flawed = {one for one, tree in trees.items() if files(state / tree) != contents.get(one)}
    codes = re.findall(r'"code":"(\w+)"', check.out)
    return check.status == 1 and flawed <= scenario.going | scenario.damaged and codes == ["manifestMismatch"] * len(flawed)


def remembered(scenario, contents, state, has_succeeded, place):
    """What the store has forgotten, or holds and should not."""
    expected = scenario.after if has_succeeded else scenario.before
    problems, known, trees = look(state, place)
    faults = [f"integrity_check: {problem}" for problem in problems]
    for app, build in expected.builds.items():
        if known.builds.get(app, -1) < build:
            faults.append(f"the accepted build of {app} is {known.builds.get(app)}, not {build}")
    for issuer, number in expected.lists.items():
        if known.lists.get(issuer, -1) < number:
            faults.append(f"list {number} was forgotten; in force is {known.lists.get(issuer)}")
    if has_succeeded and known != expected:
        faults.append(f"the store holds {known}, expected {expected}")
    excepted = set() if has_succeeded else scenario.going | scenario.damaged
    for one in expected.installed - excepted:
        if one not in trees or files(state / trees[one]) != contents[one]:
            faults.append(f"the tree of {one[:16]} is not whole: {trees.get(one)}")
    by_name = {one[:16]: content for one, content in contents.items() if has_succeeded or one not in scenario.damaged}
    for tree in (state / "apps").glob("*/*"):
        name = tree.name.partition("-")[2]
        if name in by_name and files(tree) != by_name[name]:
            faults.append(f"{tree.relative_to(state)} is half a tree")
    return faults


def tidy(state):
    """What is left over after the next start."""
    faults = [f"left over: {name}" for name in sorted(set(os.listdir(state)) - TOP)]
    if (state / "staging").exists():
        faults += [f"left over: staging/{name}" for name in os.listdir(state / "staging")]
    journal = state / "trust.sqlite-journal"
    # One whose head was never written is passed over; the next change writes over it.
    if journal.exists() and journal.read_bytes()[:8].strip(b"\0"):
        faults.append("the journal is hot")
    return faults


# ---- points --------------------------------------------------------------------------------------------------


class Tally:
    """Counts points by kind, and says what failed."""

    def __init__(self, checks):
        self.checks, self.rows = checks, {}

    def add(self, kind, name, reached, faults):
        row = self.rows.setdefault(kind, [0, 0, 0])
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


def everywhere(function, points):
    """Calls the function for every point in two processes; its answers as they come."""
    with multiprocessing.get_context("fork").Pool(WORKERS) as pool:
        yield from pool.imap_unordered(function, points, chunksize=4)

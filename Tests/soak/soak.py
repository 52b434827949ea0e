#!/usr/bin/env python3
"""Threads and processes on one state directory, for minutes; then the log is held against every answer.

Workers of many threads (built with ThreadSanitizer), runs of the tool, and a daemon with its clients open, verify, check,
apply lists, prune, remove and ask, all on one state directory that is not there when they begin; some are killed at random
and started again; lists revoke packages, keys, a certificate and two roots meanwhile; another program keeps the database
locked for seconds. `_log.py` says what is proved of the log and the answers, `_planted.py` that it would see what is wrong.

    Tests/soak/soak.py                          8 processes, 16 threads each, 20 s
    NSH_LONG=1 NSH_MINUTES=10 Tests/soak/soak.py    32 processes, 64 threads each, 10 min (make soak MINUTES=10)

NSH_SOAK_SEED repeats a choice of packages, lists and kills. NSH_SOAK_KEEP=1 leaves the directory for a look.
"""
import base64
import collections
import hashlib
import json
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(PROJECT / "Tests" / "daemon")]

import common_daemon  # noqa: E402
import _log  # noqa: E402
from _history import History  # noqa: E402
import _make  # noqa: E402
import _planted  # noqa: E402
import _run  # noqa: E402

LONG = common_daemon.LONG
SCRATCH = PROJECT / ".build" / "tsan"
PROOFS = {
    "gapless": "rows are numbered without gaps, and every follower saw each once",
    "builds": "no accepted build follows a higher one",
    "verdicts": "nothing was accepted after what revokes it, and every answer was right at a moment of its call",
    "answered": "every accepted row was answered, or its process killed",
    "recorded": "every answer is in the log",
    "order": "what was answered before another call began stands before it",
    "refusals": "the log counts as many refusals as were told",
    "trees": "held trees stayed whole, and no newest build was pruned",
    "troubles": "nobody was told storeBusy too early, or another trouble",
    "descriptors": "no descriptor stayed open",
}


class Soak:
    def __init__(self, seconds, threads):
        self.seconds, self.threads = seconds, threads
        self.seed = os.environ.get("NSH_SOAK_SEED") or str(int(time.time()))
        # In memory, where there is such a place: more happens in the same time when no disk is waited for.
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) and shutil.disk_usage("/dev/shm").free > 1 << 30 else None
        self.space = pathlib.Path(tempfile.mkdtemp(prefix="nsh-soak.", dir=os.environ.get("NSH_SCRATCH", memory)))
        os.chmod(self.space, 0o711)
        self.state, self.socket, self.logs = self.space / "state", self.space / "s", self.space / "logs"
        self.kills, self.tool_kills = 0, 0.1
        for part in (self.logs, self.space / "roots.d"):
            part.mkdir()
        self.world = _make.World(self.space, *((40, 250) if LONG else (10, 60)))
        self.places = {package["digest"]: place for place, package in enumerate(self.world.packages)}
        for letter, key in _make.ROOTS.items():
            for path in (self.space / f"{letter}.pub", self.space / "roots.d" / f"{letter}.pub"):
                path.write_text(base64.b64encode(key.public).decode() + "\n")

    def processes(self, sanitized, plain):
        """Who takes part: the daemon, its clients, workers, runs of the tool. Not all of them pin the same roots."""
        worker, daemon = sanitized
        roots = ["ABC", "AB", "ABC", "A"]
        kinds = [("client", worker)] * (4 if LONG else 1) + [("library", worker)] * (12 if LONG else 4) + [("library", plain)] * (7 if LONG else 0)
        members = [_run.Daemon(self, 0, daemon)]
        members += [_run.Worker(self, len(members) + at, program, mode, "ABC" if mode == "client" else roots[at % 4])
                    for at, (mode, program) in enumerate(kinds)]
        members += [_run.Tool(self, len(members) + at, roots[at % 4]) for at in range(8 if LONG else 2)]
        return members

    def run(self, sanitized, plain):
        self.begun = time.monotonic_ns() + 200_000_000
        self.until = self.begun + int(self.seconds * 1e9)
        self.plan = self.world.plan(self.state, self.socket, self.begun, self.until)
        self.members = self.processes(sanitized, plain)
        self.collector = _run.Collector(self)
        for member in [*self.members, self.collector]:
            member.start()
        self.disturb(random.Random(f"{self.seed} kills"))
        for member in self.members[1:]:
            member.join(240)
        self.members[0].stop()
        self.collector.stop()
        return [f"{member.process.args[0]} {member.process.pid} still runs" for member in self.members if member.is_alive()]

    def disturb(self, dice):
        """Kills at random, and has another program keep the database: from reading, too, and from writing."""
        stops = [(0.3, "EXCLUSIVE", 10 if LONG else 2), (0.6, "IMMEDIATE", 10 if LONG else 2)]
        holders = []
        while time.monotonic_ns() < self.until:
            part = (time.monotonic_ns() - self.begun) / (self.until - self.begun)
            if stops and part > stops[0][0]:
                holders.append(threading.Thread(target=_run.keep_store, args=(self.state, *stops.pop(0)[1:])))
                holders[-1].start()
            time.sleep(dice.uniform(0.5, 3))
            # The first two workers live to the end, so that what stays open at their end shows.
            victims = [member for member in self.members[3:] if not isinstance(member, _run.Tool)] + self.members[:1]
            if part < 0.95:
                dice.choice(victims).kill()
        for holder in holders:
            holder.join()

    def history(self):
        rows, changed = self.collector.all_rows()
        calls = [call for member in self.members for call in member.calls]
        files = [entry for member in self.members for entry in member.files]
        return History(self.world.facts(), rows, calls, self.collector.seen, files), changed

    def warnings(self):
        """Reports of ThreadSanitizer, and of Swift's own traps."""
        found = []
        for log in sorted(self.logs.iterdir()):
            text = log.read_text(errors="replace")
            for word in ("WARNING: ThreadSanitizer", "Fatal error", "FATAL: ThreadSanitizer"):
                if word in text:
                    at = text.index(word)
                    found.append(f"{log.name}: {text[at:at + 3000]}")
        return found

    def end_state(self, checker):
        """What is wrong on the disk when everybody has gone: the tool cleans up, then everything is looked at."""
        faults = []
        common_daemon.tool("store", "prune", "--keep", 1000, "--state", self.state)
        common_daemon.tool("store", "check", "--state", self.state)
        left = sorted(os.listdir(self.state / "staging"))
        faults += [f"staging holds {left[:3]}"] if left else []
        database = sqlite3.connect(f"file:{self.state / 'trust.sqlite'}?mode=ro", uri=True)
        answer = database.execute("PRAGMA integrity_check").fetchall()
        faults += [f"integrity_check: {answer[:3]}"] if answer != [("ok",)] else []
        recorded = dict(database.execute("SELECT lower(hex(digest)), tree FROM packages"))
        database.close()
        expected = {package["digest"] for place, package in enumerate(checker.packages) if checker.installed[place].values[-1]}
        faults += [f"installed is {len(recorded)}, by the log {len(expected)}"] if set(recorded) != expected else []
        there = {str(tree.relative_to(self.state)) for tree in (self.state / "apps").glob("*/*")}
        faults += [f"trees without a record: {sorted(there - set(recorded.values()))[:3]}"] if there - set(recorded.values()) else []
        faults += [fault for tree in recorded.values() if (fault := torn(self.state / tree))]
        builds = {app["id"]: app["build"] for app in common_daemon.tool_json("store", "apps", "--state", self.state)}
        by_log = {app: timeline.values[-1][0] for app, timeline in checker.accepted.items() if timeline.values[-1]}
        faults += [f"accepted builds are {builds}, by the log {by_log}"] if builds != by_log else []
        return faults

    def clean(self):
        if os.environ.get("NSH_SOAK_KEEP") == "1":
            print(f"kept: {self.space}")
        else:
            shutil.rmtree(self.space, ignore_errors=True)


def torn(tree):
    """What is wrong with an installed tree."""
    try:
        lines = (tree / "SHA256SUMS").read_text().splitlines()
        bad = [line[66:] for line in lines if hashlib.sha256((tree / line[66:]).read_bytes()).hexdigest() != line[:64]]
        extra = {str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_file()} - {line[66:] for line in lines} - {"SHA256SUMS"}
        return f"{tree.name}: {bad} {extra}" if bad or extra else None
    except OSError as error:
        return f"{tree.name}: {error}"


def build(product, *options):
    """Builds a program; its path."""
    done = subprocess.run(["swift", "build", *options, "--product", product], cwd=PROJECT, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stdout[-3000:] + done.stderr[-3000:])
        print("0 passed, 1 failed")
        sys.exit(1)
    shown = subprocess.run(["swift", "build", *options, "--show-bin-path"], cwd=PROJECT, capture_output=True, text=True, check=True)
    return pathlib.Path(shown.stdout.strip()) / product


def report(soak, history, checker):
    """The figures of the run."""
    calls, waits = collections.defaultdict(collections.Counter), collections.defaultdict(list)
    for call in history.calls:
        calls[call.op][call.code or "cut off"] += 1
        if call.code and call.op not in ("follow", "hold"):
            waits[call.op].append((call.end - call.begin) / 1e9)
    for op, codes in sorted(calls.items()):
        times = sorted(waits[op])
        took = f" [{times[len(times) // 2]:.3f} s, {times[len(times) * 99 // 100]:.2f} s, {times[-1]:.1f} s]" if times else ""
        print(f"  {op} {codes.total()}{took}: {', '.join(f'{code} {count}' for code, count in codes.most_common())}")
    kinds = collections.Counter(row["kind"] for row in history.rows)
    print(f"  {len(history.calls)} calls by {len(soak.members)} processes at once, {soak.threads} threads each, in {soak.seconds} s, {soak.kills} kills; "
          "in brackets how long half of the calls took, how long 99 of 100, and the longest")
    print(f"  {len(history.rows)} rows of the log: {', '.join(f'{kind} {count}' for kind, count in kinds.most_common())}; "
          f"{len(checker.call_of)} matched with answers", flush=True)


def main():
    checks = common_daemon.Checks()
    common_daemon.needs_programs()
    with checks.part("build"):
        options = ("--sanitize=thread", "--scratch-path", str(SCRATCH))
        sanitized = build("SoakWorker", *options), build("nsh-trustd", *options)
        plain = build("SoakWorker") if LONG else None
    if LONG:
        seconds, threads = 60 * float(os.environ.get("NSH_MINUTES", "5")), 64
    else:
        seconds, threads = 20, 16
    seconds = float(os.environ.get("NSH_SOAK_SECONDS", seconds))
    soak = Soak(seconds, threads)
    print(f"seed {soak.seed}: {len(soak.world.packages)} packages, {len(soak.world.lists)} lists", flush=True)
    try:
        with checks.part("run"):
            checks.check("everybody ends", *soak.run(sanitized, plain))
        with checks.part("check"):
            history, changed = soak.history()
            checker = _log.Checker(history)
            faults = checker.run()
            for name, claim in PROOFS.items():
                found = [text for kind, text in faults if kind == name]
                checks.check(claim, *found[:5], len(found) > 5 and f"{len(found)} in all")
            checks.check("no row ever changed but for a count", *changed[:3])
            checks.check("no process ended by itself", *[fault for member in soak.members for fault in member.faults][:5])
            checks.check("ThreadSanitizer reports nothing", *soak.warnings()[:3])
            checks.check("the state directory is whole", *soak.end_state(checker))
            report(soak, history, checker)
        with checks.part("planted faults"):
            made_up = _planted.made_up(soak.world.facts())
            checks.check("the checker finds nothing in a history without faults", *_log.check(made_up)[:3])
            for kind, told in (("made up", made_up), ("recorded", history)):
                for name, caught in _planted.all_of(told):
                    if caught is None and kind == "recorded":
                        checks.skip(1, f"the run had no place for {name}")
                    else:
                        checks.check(f"planted in what was {kind}: {name}", not caught and "the checker did not see it")
    finally:
        for member in getattr(soak, "members", []):
            if member.process and member.process.poll() is None:
                member.process.kill()
        soak.clean()
    checks.finish()


if __name__ == "__main__":
    main()

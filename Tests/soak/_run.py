"""The processes of the soak: workers, the daemon, runs of the tool, who kills them, who watches the log, who keeps the store."""
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time

import common_daemon
from _history import Call

now = time.monotonic_ns
TSAN = {"TSAN_OPTIONS": "exitcode=66", "SWIFT_BACKTRACE": "enable=no"}
HOLDER = """
import sqlite3, sys, time
store = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
store.execute("BEGIN " + sys.argv[2])
time.sleep(float(sys.argv[3]))
store.execute("ROLLBACK")
"""


def environment(**more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NSH_TRUST_", "NSH_RULE"))}
    return {**kept, **TSAN, **more}


def calls_of(path, killed):
    """The calls of a journal, and what its process had open at the end; `killed` is when it ended, if it was killed."""
    calls, head, files = {}, None, None
    for line in path.read_bytes().splitlines():
        entry = json.loads(line)
        if head is None:
            head = entry
        elif "op" in entry:
            calls[entry["i"]] = Call(head["pid"], head["mode"], frozenset(head["roots"]), entry["op"], entry["x"], entry["b"], killed or now())
        elif "i" in entry:
            call = calls[entry.pop("i")]
            call.end, call.code, call.more = entry.pop("e"), entry.pop("c"), entry
        else:
            files = head["pid"], entry["files"]
    return list(calls.values()), files if head and head["mode"] == "library" else None


class Process(threading.Thread):
    """One of the processes, started again whenever it ends before the time is over."""

    def __init__(self, soak, number):
        super().__init__(daemon=True)
        self.soak, self.number, self.dice = soak, number, random.Random(f"{soak.seed} {number}")
        self.process, self.killed, self.faults = None, 0, []
        self.calls, self.files = [], []

    def spawn(self, command, name):
        """Starts a process whose standard error is kept in a file of its own."""
        with open(self.soak.logs / name, "ab") as log:
            self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
                                            env=environment(), cwd="/")
        return self.process

    def kill(self):
        """Ends the process as a crash does; what it was about, nobody was told."""
        process = self.process
        if process and process.poll() is None:
            process.kill()
            self.soak.kills += 1
            return True
        return False


class Worker(Process):
    """Runs of SoakWorker."""

    def __init__(self, soak, number, program, mode, roots):
        super().__init__(soak, number)
        self.program, self.mode, self.roots, self.runs = program, mode, roots, 0

    def run(self):
        while now() < self.soak.until:
            self.runs += 1
            journal = self.soak.space / f"journal-{self.number}-{self.runs}"
            process = self.spawn([self.program, self.soak.plan, journal, self.dice.randrange(1 << 40), self.soak.threads, self.mode, self.roots],
                                 f"worker-{self.number}-{self.runs}")
            process.stdout.read()
            status = process.wait()
            if status not in (0, -signal.SIGKILL):
                self.faults.append(f"worker {process.pid} ended with {status}")
            if journal.exists():
                calls, files = calls_of(journal, now() if status == -signal.SIGKILL else None)
                self.calls += calls
                self.files += [files] if files else []
                journal.unlink()


class Tool(Process):
    """Runs of nsh-pkgtool, one after another, some of them killed."""

    VERBS = [("open", 10), ("verify", 3), ("apply", 3), ("build", 3), ("prune", 2), ("remove", 1)]

    def __init__(self, soak, number, roots):
        super().__init__(soak, number)
        self.roots = roots

    def near(self, things, spread):
        part = (now() - self.soak.begun) / (self.soak.until - self.soak.begun)
        return max(0, min(int(part * len(things)) + self.dice.randint(-spread, spread), len(things) - 1))

    def run(self):
        world, first = self.soak.world, True
        state = ["--state", self.soak.state, "--json"]
        roots = [word for letter in self.roots for word in ("--root", self.soak.space / f"{letter}.pub")]
        while now() < self.soak.until:
            op = "open" if first else self.dice.choices(*zip(*self.VERBS))[0]
            first, x = False, -1
            if op in ("open", "verify"):
                builds = self.dice.choice(world.builds)
                x = self.dice.choice(builds[self.near(builds, 3)])
                command = [op, world.packages[x]["path"], *state, *roots]
            elif op == "apply":
                x = self.near(world.lists, 2)
                command = ["update-revocations", world.lists[x]["path"], *state, *roots]
            else:
                x = -1 if op == "prune" else self.dice.randrange(len(world.apps))
                words = {"remove": ["remove", world.apps[x]], "prune": ["prune", "--keep", "2"], "build": ["apps"]}[op]
                command = ["store", *words, *state]
            self.once(op, x, command)

    def once(self, op, x, command):
        begin = now()
        process = self.spawn([common_daemon.TOOL, *command], f"tool-{self.number}")
        timer = threading.Timer(self.dice.uniform(0, 0.03), self.kill) if self.dice.random() < self.soak.tool_kills else None
        if timer:
            timer.start()
        out = process.stdout.read()
        status = process.wait()
        if timer:
            timer.cancel()
        call = Call(process.pid, "tool", frozenset(self.roots), op, x, begin, now())
        if status != -signal.SIGKILL:
            call.code, call.more = self.answer(op, x, out, status)
        self.calls.append(call)

    def answer(self, op, x, out, status):
        rows = [json.loads(line) for line in out.splitlines()]
        first = rows[0] if rows else {}
        # A removal that has to leave a tree in use says what it did, and then that the store is in use.
        leaves = op == "remove" and any(row.get("outcome") == "inUse" for row in rows)
        if op in ("prune", "remove") and (status == 0 or leaves):
            places = self.soak.places
            return "accepted", {"removed": [places[row["digest"]] for row in rows if row.get("outcome") == "removed"]}
        if status == 0 and op == "build":
            return "accepted", {"n": next((row["build"] for row in rows if row["id"] == self.soak.world.apps[x]), -1)}
        if status == 0:
            return "accepted", {"changed": first.get("changed", False)}
        return first.get("code", f"status {status}"), {"why": first.get("message", "")}


class Daemon(Process):
    """The daemon, which is killed now and then and started again."""

    def __init__(self, soak, number, program):
        super().__init__(soak, number)
        self.program = program

    def run(self):
        soak = self.soak
        command = [self.program, "--state", soak.state, "--roots", soak.space / "roots.d", "--socket", soak.socket, "--workers", "4"]
        while now() < soak.until:
            process = self.spawn(command, "daemon")
            process.stdout.read()
            # One that could not have the store within its time ends, and is started again.
            if process.wait() not in (0, -signal.SIGKILL) and not (self.soak.logs / "daemon").read_text().endswith("code=storeBusy\n"):
                self.faults.append(f"the daemon ended with {process.returncode}")
                time.sleep(0.5)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.join(60)


class Collector(threading.Thread):
    """Reads the log as it grows, so that each row is had before the log drops it, and when it was seen."""

    def __init__(self, soak):
        super().__init__(daemon=True)
        self.soak, self.rows, self.seen, self.process, self.is_over = soak, {}, {}, None, False

    def run(self):
        while not self.is_over:
            after = max(self.rows, default=0)
            self.process = subprocess.Popen([common_daemon.TOOL, "store", "events", "--state", str(self.soak.state), "--json", "--follow",
                                             "--after", str(after)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL, env=environment())
            for line in self.process.stdout:
                row, seen = json.loads(line), now()
                if "sequence" in row:
                    self.rows[row["sequence"]] = row
                    self.seen[row["sequence"]] = seen
            self.process.wait()  # there is no store yet, or a killed process left a change to undo
            time.sleep(0.05)

    def stop(self):
        self.is_over = True
        if self.process:
            self.process.terminate()
        self.join(10)

    def all_rows(self):
        """What was seen, with the counts that the log has at the end."""
        last, rows = 0, {}
        while True:
            page = common_daemon.tool_json("store", "events", "--state", self.soak.state, "--after", last, "--limit", 1000)
            if not page:
                break
            rows.update((row["sequence"], row) for row in page)
            last = page[-1]["sequence"]
        faults = [f"row {number} was {self.rows[number]} and became {row}" for number, row in rows.items()
                  if number in self.rows and {**row, "count": 0} != {**self.rows[number], "count": 0}]
        merged = {**self.rows, **rows}
        return [merged[number] for number in sorted(merged)], faults


def keep_store(state, how, seconds):
    """Another program keeps the database locked; everybody waits. It asks for it as SQLite does, and may not get it."""
    done = subprocess.run([sys.executable, "-I", "-c", HOLDER, str(pathlib.Path(state) / "trust.sqlite"), how, str(seconds)],
                          stderr=subprocess.DEVNULL, check=False)
    if done.returncode:
        print(f"another program waited a minute for the database ({how}) and did not get it", flush=True)



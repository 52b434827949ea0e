#!/usr/bin/env python3
"""A store that another program keeps locked, and stores that many make at once: everybody waits, nobody is dropped.

  writing    another program keeps the right to write: questions are answered at once, opens and lists wait
  reading    it keeps the whole database: everything waits, and is answered as soon as it can be, on the connection it came by
  too long   it keeps it for longer than the ten seconds that the daemon waits: 503, `storeBusy` and Retry-After (NSH_LONG=1 only)
  beginning  processes with different roots make the store at once: one is made, and each believes its own roots only

    Tests/soak/locked.py               three seconds each, about 15 s in all
    NSH_LONG=1 Tests/soak/locked.py    eight seconds each and the long one, about 50 s
"""
import json
import pathlib
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[0] / "daemon")]

import common_daemon  # noqa: E402
from common_daemon import JSON, LONG, Checks, UnixConnection, ask, digest, needs_programs, world  # noqa: E402
import _run  # noqa: E402

SECONDS = 8 if LONG else 3
checks = Checks()


class Keeper:
    """Another program that keeps the database, from the moment that this begins on, for so many seconds."""

    def __init__(self, state, how, seconds):
        script = _run.HOLDER.replace("time.sleep", "print(flush=True); time.sleep")
        self.process = subprocess.Popen([sys.executable, "-I", "-c", script, str(state / "trust.sqlite"), how, str(seconds)], stdout=subprocess.PIPE)
        self.process.stdout.readline()
        self.until = time.monotonic() + seconds

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.wait(60)


class Client(threading.Thread):
    """One client with one connection, on which it asks once before and once while the store is locked."""

    def __init__(self, daemon, name, method, target, body=None, kind=JSON):
        super().__init__(daemon=True)
        self.name, self.request = name, (daemon.socket, method, target, body, {"Content-Type": kind} if body else {})
        self.connection = UnixConnection(daemon.socket, timeout=120)
        ask(daemon.socket, "GET", "/v1/health", connection=self.connection)
        self.kept, self.answer, self.fault, self.ended = self.connection.sock, None, None, None

    def run(self):
        try:
            self.answer = ask(*self.request, connection=self.connection)
        except Exception as error:  # noqa: BLE001 - told by whoever looks
            self.fault = f"{type(error).__name__}: {error}"
        self.ended = time.monotonic()

    def faults(self, *statuses):
        """What is wrong with the answer and the connection."""
        if self.answer is None:
            return [self.fault or "no answer"]
        fine = self.answer.status in statuses and (self.answer.status != 503 or self.answer.headers.get("retry-after"))
        dropped = self.connection.sock is not self.kept
        return [not fine and repr(self.answer), dropped and "the connection was dropped"]


def clients(daemon, known, packages, lists):
    """Who asks, by what it needs of the store: nothing but what was read before, reading, writing."""
    reads = [Client(daemon, "check", "POST", "/v1/packages/check", {"digest": known}) for _ in range(8)]
    reads += [Client(daemon, target, "GET", target) for target in ("/v1/status", "/v1/apps", "/v1/events?after=0", "/metrics") * 4]
    reads += [Client(daemon, "verify", "POST", "/v1/packages/verify", {"path": str(packages[0])}) for _ in range(4)]
    writes = [Client(daemon, f"open {path.name}", "POST", "/v1/packages/open", {"path": str(path)}) for path in packages]
    writes += [Client(daemon, f"apply {path.name}", "POST", "/v1/revocations", path.read_bytes()) for path in lists]
    return reads, writes


def join(threads, seconds):
    for thread in threads:
        thread.join(max(0, seconds))


def kept(how, seconds, packages, publisher, daemon, known):
    lists = [publisher.list("--min-build", f"com.example.nobody={seconds}")]
    reads, writes = clients(daemon, known, packages, lists)
    with Keeper(daemon.state, how, seconds) as keeper:
        begun = time.monotonic()
        health = daemon.get("/v1/health", timeout=5)
        checks.check(f"{how}: health is answered meanwhile", health.status not in (200, 503) and repr(health),
                     time.monotonic() - begun > 1 and f"after {time.monotonic() - begun:.1f} s")
        for client in reads + writes:
            client.start()
        join(reads if how == "IMMEDIATE" else [], keeper.until - time.monotonic() - 0.5)
        early = [client.name for client in reads if how == "IMMEDIATE" and client.ended is None]
        checks.check(f"{how}: who only reads is answered while another writes", early and f"{early} wait")
        join(reads + writes, 60)
        for client in reads:
            checks.check(f"{how}: {client.name}", *client.faults(200))
        for client in writes:
            late = client.ended and client.ended < keeper.until - 0.3 and f"{keeper.until - client.ended:.1f} s before it was free"
            checks.check(f"{how}: {client.name}", *client.faults(200), late)
        took = [client.ended - keeper.until for client in reads + writes if client.ended]
        checks.check(f"{how}: all are answered soon after", max(took) > 10 and f"after {max(took):.1f} s")
        print(f"{how}: {len(reads) + len(writes)} clients, the last was answered {max(took):.2f} s after {seconds} s", flush=True)


def too_long(daemon, known, package):
    with Keeper(daemon.state, "EXCLUSIVE", 13):
        threads = [Client(daemon, "open", "POST", "/v1/packages/open", {"path": str(package)}),
                   Client(daemon, "check", "POST", "/v1/packages/check", {"digest": known}), Client(daemon, "apps", "GET", "/v1/apps")]
        for thread in threads:
            thread.start()
        join(threads, 60)
        for thread in threads:
            # Who stands behind another of the same process begins to wait after it, and may see the end.
            checks.check(f"too long: {thread.name}", *thread.faults(200, 503),
                         thread.answer and thread.answer.code not in (None, "storeBusy") and f"{thread.answer.code}")
        busy = [thread.name for thread in threads if thread.answer and thread.answer.status == 503]
        checks.check("too long: somebody is told", not busy and "nobody is")
    checks.equal("too long: it opens afterwards", daemon.open(package).status, 200)


def beginning(space):
    """Half of the processes trust one root, half another; each makes the store if it is the first."""
    one, other = common_daemon.Publisher(space / "one"), common_daemon.Publisher(space / "other")
    rounds = 6 if LONG else 3
    for number in range(rounds):
        state = space / f"state-{number}"
        packages = [one.package(number + 1, app="first", name=f"first-{number}.nshpkg"), other.package(number + 1, app="second", name=f"second-{number}.nshpkg")]
        runs = [(at % 2, at // 2 % 2, subprocess.Popen(
            [common_daemon.TOOL, "open", str(packages[at // 2 % 2]), "--json", "--state", str(state), "--root", str((one, other)[at % 2] / "root.pub")],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=_run.environment())) for at in range(16)]
        answers = [(root, package, json.loads(run.communicate(timeout=120)[0] or "{}")) for root, package, run in runs]
        wrong = [answer for root, package, answer in answers if answer.get("code", "?") != (None if root == package else "untrustedRoot")]
        checks.check(f"beginning {number}: each believes its own root", wrong and f"{wrong[0]}")
        rows = common_daemon.tool_json("store", "events", "--state", state)
        kinds = sorted(row["kind"] for row in rows if row["kind"] == "rootAdded")
        checks.check(f"beginning {number}: one store with both roots", kinds != ["rootAdded"] * 2 and f"{kinds}")
        common_daemon.tool("store", "check", "--state", state)


def main():
    needs_programs()
    publisher, daemon = world(options=["--workers", "4"])
    first = publisher.package(1)
    # Each of an app of its own, so that none is refused.
    others = [publisher.package(1, app=f"other{number}") for number in range(7)]
    with daemon:
        checks.equal("the first open", daemon.open(first).status, 200)
        known = digest(first)
        with checks.part("writing"):
            kept("IMMEDIATE", SECONDS, others[:3], publisher, daemon, known)
        with checks.part("reading"):
            kept("EXCLUSIVE", SECONDS, others[3:6], publisher, daemon, known)
        if LONG:
            with checks.part("too long"):
                too_long(daemon, known, others[6])
    with checks.part("beginning"):
        beginning(common_daemon.scratch())
    checks.finish()


if __name__ == "__main__":
    main()

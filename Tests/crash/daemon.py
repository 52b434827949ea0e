"""The daemon survives kills and errors in the middle of an `open` and of a new revocation list.

A daemon is recorded under strace while it starts, opens a package and applies a list for a client. Then daemons run anew and
are killed as a thread enters its n-th call of a name, or such a call fails (EIO, ENOSPC, EMFILE); strace counts for each
thread, so a point stands for whichever thread comes to it first. What the client was told is done must be there. After a
kill the next daemon, after an error the same one, does the same for the client, and ends as if nothing had been.

    .venv/bin/python Tests/crash/daemon.py               10 points
    NSH_LONG=1 .venv/bin/python Tests/crash/daemon.py    every 4th point
"""
import http.client
import os
import re
import signal

from common_crash import (STRACE, TOOL, TRIES, Checks, Known, Scenario, Tally, World, digest, everywhere, fresh, needs_strace,
                          start, step)
from common_daemon import Daemon, within
from common_judge import remembered, tidy

CALLS = {"openat": ("EIO", "EMFILE"), "openat2": ("EMFILE",), "pwrite64": ("EIO", "ENOSPC"), "write": (), "mkdirat": ("ENOSPC",),
         "fdatasync": ("EIO", "ENOSPC"), "fsync": ("EIO",), "syncfs": ("EIO",), "renameat2": ("ENOSPC",), "ftruncate": ("EIO",),
         "pread64": ("EIO",), "flock": (), "fcntl": (), "close": (), "newfstatat": ("EIO",), "unlinkat": ("EIO",)}
# A daemon that could not read its roots while it started says so, trusts nobody, and is to be started again.
NO_ROOTS = "noTrustedRoots"
# A client never learns why a path of its own cannot be opened.
HONEST = {"ioFailure", "storeFull", "storeBusy", "overloaded", "noSuchFile", NO_ROOTS}
# The system's loader, before the program begins.
LOADER = 127


class Traced(Daemon):
    """A daemon that strace disturbs; it is the child itself, strace a grandchild."""

    def __init__(self, directory, *options, **extra):
        self.prefix = [STRACE, "-D", "-f", "-qq", *map(str, options)] if options else []
        super().__init__(directory, wait=None, **extra)
        self.trust(world.root)

    def command(self):
        return [*self.prefix, *super().command()]

    def begin(self):
        """Starts it and waits until it answers or is gone; whether it answers."""
        self.start(wait=False)
        within(20, lambda: self.process.poll() is not None or self.is_there())
        return self.process.poll() is None

    def serve(self):
        """Opens a package and applies a list; what was said of each: done, an error's code, or None without an answer."""
        said = []
        for request in (lambda: self.open(world.small[6]), lambda: self.apply(world.second)):
            try:
                answer = request()
                done = answer.status == 200 and answer.json.get("verdict", "accepted") == "accepted"
                said.append("done" if done else answer.code or f"status {answer.status}")
            except (OSError, http.client.HTTPException):
                said.append(None)
        return said


def attempt(point):
    call, effect, number = point
    place = world.base / f"worker-{os.getpid()}"
    for _ in range(TRIES):
        fresh(place, scenario.template)
        injection = "signal=KILL" if effect == "kill" else f"error={effect}"
        daemon = Traced(place, "-o", place / "log", "-e", f"trace={call}", "-e", f"inject={call}:{injection}:when={number}")
        said = daemon.serve() if daemon.begin() else [None, None]
        log = (place / "log").read_text(errors="replace")
        reached = within(1, lambda: not daemon.alive()) if effect == "kill" else "(INJECTED)" in log
        if reached:
            break
        daemon.stop()
    if not reached:
        return call, effect, number, False, []
    faults = told(place / "state", said, place)
    if effect == "kill":
        if daemon.process.returncode != -signal.SIGKILL:
            faults.append(f"ended by itself with {daemon.process.returncode}: {daemon.log()[-300:]}")
    else:
        faults += [f"said {one}" for one in said if one not in HONEST | {"done", None}]
        if not daemon.alive() and daemon.process.returncode not in (3, LOADER):
            faults.append(f"ended with {daemon.process.returncode}: {daemon.log()[-300:]}")
    if NO_ROOTS in said:
        daemon.stop()
    if not daemon.alive():
        daemon = Traced(place)
        daemon.begin()
    said = next((said for said in (daemon.serve() for _ in range(TRIES)) if said == ["done", "done"]), said)
    if said != ["done", "done"]:
        faults.append(f"again: {said}")
    status = daemon.stop()
    faults += [f"ended with {status}"] if status else []
    faults += [f"at the end: {fault}" for fault in remembered(scenario, world.contents, place / "state", True, place / "copy")]
    return call, effect, number, True, faults + [fault for fault in tidy(place / "state") if "trustd.lock" not in fault]


def told(state, said, place):
    """What is not as the client was told, while no daemon has looked yet."""
    builds, lists = dict(scenario.before.builds), dict(scenario.before.lists)
    if said[0] == "done":
        builds["com.example.orders"] = 6
    if said[1] == "done":
        lists[world.issuer] = 2
    installed = scenario.before.installed | ({digest(world.small[6])} if said[0] == "done" else set())
    promised = Scenario("promised", state, [], Known(builds, lists, installed), scenario.after)
    check = start([TOOL, "store", "check", "--state", state, "--json"])
    return remembered(promised, world.contents, state, False, place / "copy") + ([] if check.status == 0 else [check.brief()])


def points():
    """(call, effect, n-th) up to the greatest count that a thread came to."""
    place = fresh(world.base / "record", scenario.template)
    daemon = Traced(place, "-o", place / "log")
    assert daemon.begin(), daemon.log()
    said = daemon.serve()
    assert said == ["done", "done"], said
    daemon.stop()
    counts, greatest = {}, {}
    for thread, call in re.findall(r"^(\d+) +(\w+)\(", (place / "log").read_text(errors="replace"), re.MULTILINE):
        counts[thread, call] = counts.get((thread, call), 0) + 1
        greatest[call] = max(greatest.get(call, 0), counts[thread, call])
    return [(call, effect, number) for call, effects in CALLS.items() for effect in ("kill", *effects)
            for number in range(1, greatest.get(call, 0) + 1)]


if __name__ == "__main__":
    needs_strace()
    world = World()
    base = next(one for one in world.scenarios() if one.name == "open")
    scenario = Scenario("daemon", base.template, [], base.before, Known(base.after.builds, {world.issuer: 2}, base.after.installed))
    tally = Tally(Checks())
    todo = points()
    todo = todo[::step(len(todo) // 10, long=4)]
    for call, effect, number, reached, faults in everywhere(attempt, todo):
        kind = "killed" if effect == "kill" else effect
        tally.add(f"{kind}: daemon", f"daemon, {kind} at {call} {number}", reached, faults)
    tally.finish()

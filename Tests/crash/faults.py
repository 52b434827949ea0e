"""The store survives errors and short transfers at every system call, and the tool says honestly how it ended.

Each command on a store is recorded once under strace; then it runs anew for every call that can fail, once for each error:
no space (ENOSPC), a broken disk (EIO), a signal (EINTR), no descriptors left (EMFILE). Calls that transfer bytes are also
made to transfer half of what was asked for, truly (`common_trace`). Status 0 is allowed only when everything is done; else
status 3 with the code that the documents promise. EINTR and short transfers are no errors: the command must do its work.
Then `common_judge` looks at the store as after a kill.

    .venv/bin/python Tests/crash/faults.py               every 40th point
    NSH_LONG=1 .venv/bin/python Tests/crash/faults.py    every point
"""
import errno
import os
import re

from common_crash import TRIES, Checks, Tally, World, everywhere, failing, needs_strace, step, strace, traced
from common_judge import judge
from common_trace import IS_SUPPORTED, SHORT

STEP = step(40)
WRITES = {"write", "pwrite64", "mkdir", "mkdirat", "renameat2", "linkat", "fsync", "fdatasync", "syncfs", "ftruncate"}
EVERY = WRITES | {"read", "pread64", "openat", "openat2", "newfstatat", "getdents64", "unlinkat", "readlink", "close", "fchmod", "flock"}
WAITS = {"read", "pread64", "write", "pwrite64", "openat", "openat2", "flock", "ftruncate", "fsync", "fdatasync", "syncfs", "close",
         "getrandom"}
COUNT = re.compile(r", (\d+)(?:, \d+)?\) +=")  # not there where another thread's line came in between
LASTING = {"ENOSPC", "EIO", "EMFILE"}


def may_fail(call, effect):
    """Whether a command may give up. SQLite does not repeat what no local disk lets be interrupted: locks and syncs."""
    return effect in LASTING or effect == "EINTR" and call.name in ("fcntl", "fdatasync")


def effects(call):
    """What can befall a call."""
    if call.name in WRITES or "O_EXCL" in call.text:
        yield "ENOSPC"
    # Swift's runtime ends the process when it cannot read this link; nothing of ours has run by then.
    if call.name in EVERY and "\"/proc/self/exe\"" not in call.text:
        yield "EIO"
    if call.name in WAITS or "F_SETLK" in call.text:
        yield "EINTR"
    if call.name in ("openat", "openat2") or "DUPFD" in call.text:
        yield "EMFILE"
    count = COUNT.search(call.text)
    if call.name in SHORT and IS_SUPPORTED and (not count or int(count.group(1)) > 1):
        yield "short"


def honesty(ending, call, effect):
    """What is wrong with how a disturbed run ended."""
    if ending.status is None:
        return ["hangs"]
    if ending.status == 0:
        return [] if ending.is_success else [f"success without an answer: {ending.brief()}"]
    if ending.status != 3 or not may_fail(call, effect):
        return [ending.brief()]
    if call.name == "write" and "(1, " in call.text:
        return [] if "cannot write to standard output" in ending.err else [ending.brief()]
    expected = {"ENOSPC": ["storeFull"], "EINTR": ["ioFailure", "storeBusy"]}.get(effect, ["ioFailure"])
    return [] if ending.code in expected else [f"expected {' or '.join(expected)}: {ending.brief()}"]


def attempt(point):
    """Disturbs one run at one point: (scenario, call, effect, whether it was reached, faults)."""
    scenario, many, call, effect = point
    place = world.base / f"worker-{os.getpid()}"
    for _ in range(TRIES):
        state = scenario.fresh(place)
        command = scenario.command(state)
        if many or effect == "short":
            ending = traced(place, call, effect if effect == "short" else getattr(errno, effect), command)
        else:
            ending = strace(place, call, f"error={effect}", command)
        if ending.reached:
            break
    faults = []
    if ending.reached:
        faults = honesty(ending, call, effect) + judge(scenario, world.contents, state, ending.status == 0, place / "copy")
    return scenario.name, call, effect, ending.reached, faults


def points(scenario):
    """Every call that can fail, with each way in which it can."""
    state = scenario.fresh(world.base / "record")
    calls, many = failing(world.base / "record" / "log", scenario.name, scenario.command(state))
    return [(scenario, many, call, effect) for call in calls for effect in effects(call)]


if __name__ == "__main__":
    needs_strace()
    world = World()
    tally = Tally(Checks())
    todo = [point for scenario in world.scenarios() for point in points(scenario)[::STEP]]
    for name, call, effect, reached, faults in everywhere(attempt, todo):
        tally.add(f"{effect}: {name}", f"{name}, {effect} at {call}", reached, faults)
    tally.finish()

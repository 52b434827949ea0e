"""The store survives SIGKILL at every system call.

Each command on a store is recorded once under strace; then it runs anew for every system call of the record (thread, call,
n-th) and is killed as it enters that call, so whatever the call before did is done. strace kills what has one thread; a run
with several goes under the tracer of `common_trace`, which can tell them apart. `common_judge` then says whether
anything was lost, is half there, is left over, or keeps the same command from succeeding.

    .venv/bin/python Tests/crash/kills.py               every 40th point
    NSH_LONG=1 .venv/bin/python Tests/crash/kills.py    every point
"""
import os
import signal

from common_crash import TRIES, Checks, Tally, World, everywhere, needs_strace, record, step, strace, traced
from common_judge import judge
from common_trace import IS_SUPPORTED

STEP = step(40)


def attempt(point):
    """Kills one run at one point: (scenario, call, whether it was reached, faults)."""
    scenario, many, call = point
    place = world.base / f"worker-{os.getpid()}"
    for _ in range(TRIES):
        state = scenario.fresh(place)
        ending = (traced(place, call, "kill", scenario.command(state)) if many
                  else strace(place, call, "signal=KILL", scenario.command(state)))
        if ending.reached:
            break
    faults = [] if ending.status == -signal.SIGKILL or not ending.reached else [f"ended by itself: {ending.brief()}"]
    if ending.reached:
        faults += judge(scenario, world.contents, state, ending.is_success, place / "copy")
    return scenario.name, call, ending.reached, faults


def points(scenario):
    """Every system call of a record but the first, with which strace starts the program."""
    state = scenario.fresh(world.base / "record")
    ending, calls = record(world.base / "record" / "log", scenario.command(state))
    assert ending.status == 0, f"{scenario.name}: {ending.brief()}"
    many = any(call.thread for call in calls)
    return [] if many and not IS_SUPPORTED else [(scenario, many, call) for call in calls[1:]]


if __name__ == "__main__":
    needs_strace()
    world = World()
    tally = Tally(Checks())
    todo = [point for scenario in world.scenarios() for point in points(scenario)[::STEP]]
    for name, call, reached, faults in everywhere(attempt, todo):
        tally.add(f"killed: {name}", f"{name}, killed at {call}", reached, faults)
    tally.finish()

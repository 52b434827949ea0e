"""The store survives the loss of power at every moment.

Each command on a store runs once under strace, which writes down every byte. For every moment of that run, the directory
is rebuilt as it is when the power goes then (`common_replay`): with everything lost that was not synced, with everything
kept, with each single thing lost alone and kept alone, and with seeded random choices. `common_judge` says whether
anything was lost or is half there, and runs the command again. What a command has reported must be there afterwards.

Then syncs are taken out of the log, one kind after the other: each time the checks must find something, or they are blind.

    .venv/bin/python Tests/crash/powerloss.py               every 60th state
    NSH_LONG=1 .venv/bin/python Tests/crash/powerloss.py    every state
"""
import os
import random
import shutil

from common_crash import STRACE, Checks, Tally, World, everywhere, needs_strace, start, step
from common_judge import judge
from common_replay import OPTIONS, Log, Node, build

STEP = step(60)
CHOICES = 4  # random choices for each moment
SEED = 20261130


def recorded(scenario, place):
    """Runs the command once: the tree before it, its log, and the tree behind it."""
    state = scenario.fresh(place)
    before = Node.of(place)
    log = world.base / f"{scenario.name}.strace"
    ending = start([STRACE, "-f", "-o", log, *OPTIONS, *scenario.command(state)])
    assert ending.status == 0, f"{scenario.name}: {ending.brief()}"
    return before, log.read_text().splitlines(), Node.of(place)


def flat(node, path=""):
    """A tree as `Log.tree` tells it."""
    tree = {}
    for name, child in sorted(node.entries.items()):
        tree[path + name] = (child.mode, None if child.entries is not None else child.data)
        if child.entries is not None:
            tree |= flat(child, f"{path}{name}/")
    return tree


def losses(log, choices):
    """Every state that is judged, once: (moment, what was kept, whether success was reported before, operations on the disk)."""
    chance, seen = random.Random(SEED), set()
    for moment in range(log.moment + 1):
        loose, safe = log.loose(moment)
        kept = [("nothing", frozenset()), ("everything", loose)]
        kept += [(f"only {one}, {log.operations[one].text}", frozenset([one])) for one in sorted(loose)]
        kept += [(f"all but {one}, {log.operations[one].text}", loose - {one}) for one in sorted(loose)]
        kept += [(f"choice {number}", frozenset(one for one in sorted(loose) if chance.random() < 0.5)) for number in range(choices)]
        has_succeeded = log.done_at is not None and moment > log.done_at
        for what, chosen in kept:
            state = (has_succeeded, safe | chosen)
            if state not in seen:
                seen.add(state)
                yield moment, what, *state


def attempt(point):
    scenario, log, moment, what, has_succeeded, kept = point
    place = world.base / f"worker-{os.getpid()}"
    shutil.rmtree(place, ignore_errors=True)
    (place / "lost").mkdir(parents=True)
    build(logs[log].tree(kept), place / "lost")
    faults = judge(scenario, world.contents, place / "lost" / "state", has_succeeded, place / "copy")
    return scenario.name, f"power lost at {moment}, kept {what}", faults


PLANTED = {"no file synced": lambda call, is_directory: call == "fdatasync" and not is_directory,
           "no directory synced": lambda call, is_directory: is_directory,
           "no tree synced": lambda call, is_directory: call == "syncfs",
           "nothing synced": lambda call, is_directory: True}


def plant(scenario, before, lines):
    """Takes kinds of syncs out of a log; each time something must be found."""
    for what, forget in PLANTED.items():
        logs[what] = Log(world.base / "lost", before, lines, forget)
        points = [(scenario, what, *loss) for loss in losses(logs[what], CHOICES)]
        random.Random(SEED).shuffle(points)
        caught = next((number for number, point in enumerate(points, 1) if attempt(point)[2]), None)
        print(f"planted, {what}: found by state {caught} of {len(points)}", flush=True)
        yield f"planted, {what}: found", not caught and "nothing was found"


if __name__ == "__main__":
    needs_strace()
    world, checks, logs, todo = World(), Checks(), {}, []
    tally = Tally(checks)
    for scenario in world.scenarios():
        if scenario.name == "open-large":  # the same order of calls as `open`
            continue
        before, lines, after = recorded(scenario, world.base / "lost")
        log = logs[scenario.name] = Log(world.base / "lost", before, lines)
        checks.check(f"{scenario.name}: the model ends where the run did", log.tree(range(len(log.operations))) != flat(after)
                     and "they differ")
        checks.check(f"{scenario.name}: the log says when success was reported", log.done_at is None and "it does not")
        points = [(scenario, scenario.name, *loss) for loss in losses(log, CHOICES)]
        todo += points[SEED % STEP::STEP]
        print(f"{scenario.name}: {len(log.operations)} changes, {log.syncs} syncs, {len(points)} states", flush=True)
        if scenario.name == "open":
            opened = (scenario, before, lines)
    for name, what, faults in everywhere(attempt, todo):
        tally.add(f"power lost: {name}", f"{name}, {what}", True, faults)
    for check in plant(*opened):
        checks.check(*check)
    tally.finish()

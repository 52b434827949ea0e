"""A store of an older version survives whatever stops its migration.

The tool knows one version of the store, so a Swift test migrates to made-up later ones (`MigrationProcessTests`); this runs
that test alone, on a store that the tool has made. It is killed at every call on the store's files, each call that can fails,
and its writes are replayed as after a loss of power. Afterwards the store is whole and of the old version or of the new one,
never between; nothing is forgotten; the tool reads an old one at once; and the migration, begun again, ends.

    .venv/bin/python Tests/crash/migration.py               every 12th point
    NSH_LONG=1 .venv/bin/python Tests/crash/migration.py    every point

It needs the debug build of the tests (`swift build --build-tests`) and is skipped without.
"""
import os
import shutil
import signal
import sqlite3
import sys

from common_crash import CALL, STRACE, TOOL, Call, Checks, Tally, World, everywhere, fresh, needs_strace, start, step
from common_daemon import PROJECT
from common_judge import look
from common_replay import OPTIONS, Log, Node, build
from faults import effects
from powerloss import losses

STEP = step(12)
OLD, NEW = 1, 3
ARGUMENTS = ["--testing-library", "swift-testing", "--filter", "MigrationProcessTests"]


def run(place, *options):
    """Migrates the store below a place under strace, which watches the store's files alone."""
    state = place / "state"
    paths = [part for name in ("", "/trust.sqlite", "/trust.sqlite-journal") for part in ("-P", f"{state}{name}")]
    log = place / "log"
    ending = start([STRACE, "-f", "-qq", "-o", log, *paths, *options, tests, *ARGUMENTS], directory=PROJECT,
                   environment={"NSH_CRASH_STATE": str(state), "SWIFT_BACKTRACE": "enable=no", "HOME": str(place)})
    return ending, log.read_text(errors="replace")


def version(place):
    connection = sqlite3.connect(place / "copy" / "trust.sqlite")
    try:
        found = connection.execute("PRAGMA user_version").fetchone()[0]
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
        moved = dict(connection.execute("SELECT app, build FROM migrated")) if "migrated" in tables else None
    finally:
        connection.close()
    return found, moved


def judge(place, is_done):
    """What is wrong with the store below a place."""
    problems, known, _ = look(place / "state", place / "copy")
    found, moved = version(place)
    faults = [f"integrity_check: {problem}" for problem in problems]
    if known != base.before:
        faults.append(f"the store holds {known}")
    if (found, moved) not in ((OLD, None), (NEW, base.before.builds)) or is_done and found != NEW:
        faults.append(f"version {found} with {moved}")
    check = start([TOOL, "store", "check", "--state", place / "state", "--json"])
    if (check.status, check.code) != ((0, None) if found == OLD else (3, "storeNewer")):
        faults.append(f"store check: {check.brief()}")
    return faults


def judged(place, is_done):
    faults = judge(place, is_done)
    again, _ = run(place)
    return faults + ([f"again: {again.brief()}"] if again.status else [f"at the end: {fault}" for fault in judge(place, True)])


def disturb(point):
    call, effect = point
    place = fresh(world.base / f"worker-{os.getpid()}", base.template)
    injection = "signal=KILL" if effect == "kill" else f"error={effect}"
    ending, log = run(place, "-e", f"trace={call.name}", "-e", f"inject={call.name}:{injection}:when={call.number}")
    reached = ending.status == -signal.SIGKILL if effect == "kill" else "(INJECTED)" in log
    if not reached:
        return f"{effect}: migration", f"{effect} at {call}", False, []
    wrong = [] if effect == "kill" or ending.status in (0, 1) else [ending.brief()]
    return f"{effect}: migration", f"{effect} at {call}", True, wrong + judged(place, ending.status == 0)


def lose(point):
    moment, what, _, kept = point
    place = world.base / f"worker-{os.getpid()}"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    build(replay.tree(kept), place)
    return "power lost: migration", f"power lost at {moment}, kept {what}", True, judged(place, False)


if __name__ == "__main__":
    needs_strace()
    tests = next((PROJECT / ".build" / "debug").glob("*.xctest"), None)
    if tests is None:
        print("the Swift tests are not built")
        print("0 passed, 0 failed, 1 skipped")
        sys.exit(0)
    world = World()
    base = next(scenario for scenario in world.scenarios() if scenario.name == "open")
    place = fresh(world.base / "record", base.template)
    before = Node.of(place)
    ending, log = run(place, *OPTIONS)
    lines = log.splitlines()
    checks = Checks()
    checks.check("the migration is done", ending.status and ending.brief(), *judge(place, True))
    counts, calls = {}, []
    for line in lines:
        if found := CALL.match(line):
            counts[found.group(2)] = counts.get(found.group(2), 0) + 1
            calls.append(Call(0, found.group(2), counts[found.group(2)], line))
    replay = Log(place, before, lines)
    points = [(call, effect) for call in calls for effect in ("kill", *(one for one in effects(call) if one != "short"))]
    tally = Tally(checks)
    for function, todo in ((disturb, points), (lose, list(losses(replay, 6)))):
        for kind, name, reached, faults in everywhere(function, todo[::STEP]):
            tally.add(kind, name, reached, faults)
    tally.finish()

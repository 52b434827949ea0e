"""What must hold for a store after a run was disturbed.

Nothing that the tool says of itself is believed: the database is read through Python's sqlite3 from a copy (with its
journal), and every installed file is compared with what was published.
"""
import os
import pathlib
import re
import shutil
import sqlite3

from common_crash import TOOL, Known, files, start

TOP = {"trust.sqlite", "trust.sqlite-journal", "staging", "apps", "set-aside"}


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

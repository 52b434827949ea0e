#!/usr/bin/env python3
"""Many processes on one state directory: nothing is lost, nothing falls, nobody is told to come back later.

  rising   32 processes at once open rising builds of one app, beginning with a state directory that is not there yet.
           Every open is accepted or rolledBack; the accepted builds in the log of decisions never fall; the highest
           build that was opened is the accepted one.
  mixed    8 processes open, verify, apply lists, prune and look at the store, all at once.

Each process here is one run of the tool; a worker starts its next one when the last has ended.
"""
import collections
import os
import pathlib
import threading
import time

import common
from maker import packages as p

WORKERS = 32
ROUNDS = 10
MIXED_WORKERS = 8
MIXED_ROUNDS = 12


def make_builds(space: pathlib.Path, numbers) -> dict:
    """Package files by build."""
    made = {}
    for build in numbers:
        made[build] = space / f"{build}.nshpkg"
        made[build].write_bytes(p.package(app={"build": build}).data)
    return made


def at_once(count: int, work) -> list:
    """Runs `work(number)` in `count` threads that begin together, and returns what they returned, joined."""
    results, barrier = [None] * count, threading.Barrier(count)

    def body(number):
        barrier.wait()
        try:
            results[number] = work(number)
        except Exception as error:  # told below: a thread must not end silently
            results[number] = [("script", None, f"{type(error).__name__}: {error}", 0.0)]
    threads = [threading.Thread(target=body, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [row for rows in results for row in rows]


class Store:
    def __init__(self, state: pathlib.Path, root: pathlib.Path):
        self.state, self.root = state, root

    def run(self, *arguments, judging=True) -> common.Answer:
        # What a store accepts it accepts now; the certificate may have ended since the packages were signed.
        time = {"open": ["--at-signing"], "verify": ["--at", p.NOW]}.get(arguments[0], [])
        more = ["--root", self.root, *time] if judging else []
        return common.run(*arguments, "--json", "--state", self.state, *more, seconds=60)

    def events(self) -> list:
        return self.run("store", "events", judging=False).rows()

    def accepted(self) -> list:
        """The accepted builds in the order of the log."""
        return [e["build"] for e in self.events() if e["kind"] in ("opened", "reopened")]

    def faults(self) -> list:
        """What is wrong with the store when everybody has gone."""
        check = self.run("store", "check", judging=False)
        staging = self.state / "staging"
        left = os.listdir(staging) if staging.is_dir() else []
        return [None if check.status == 0 else f"store check: {check.brief()}", f"staging holds {left[:5]}" if left else None]


def rising(checks, space, root):
    highest = WORKERS * ROUNDS
    files = make_builds(space, range(1, highest + 1))
    store = Store(space / "rising", root)

    numbers = iter(range(1, highest + 1))  # each worker's builds rise, and all of them together nearly

    def work(_):
        rows = []
        for _ in range(ROUNDS):
            build = next(numbers)
            answer = store.run("open", files[build])
            rows.append((build, answer.status, common.code_of(answer), answer.seconds))
        return rows
    begun = time.monotonic()
    rows = at_once(WORKERS, work)
    seconds = time.monotonic() - begun
    for build, status, code, _ in rows:
        fine = (status, code) in ((0, "accepted"), (1, "rolledBack"))
        checks.check(f"open of build {build}", None if fine else f"exit status {status}, {code}")
    accepted = store.accepted()
    events = store.events()
    refused = sum(e["count"] for e in events if e["kind"] == "refused" and e["code"] == "rolledBack")
    codes = collections.Counter(code for _, _, code, _ in rows)
    checks.check("accepted builds never fall", None if accepted == sorted(accepted) else f"the log has {accepted}")
    checks.check("every acceptance is in the log, once",
                 None if sorted(accepted) == sorted(b for b, _, code, _ in rows if code == "accepted") else f"the log has {sorted(accepted)}")
    checks.check("every refusal is counted in the log",
                 None if refused == codes["rolledBack"] else f"{refused} in the log, {codes['rolledBack']} were answered")
    checks.check("roots are logged once", None if sum(e["kind"] == "rootAdded" for e in events) == 1 else "not one row of rootAdded")
    apps = store.run("store", "apps", judging=False).rows()
    checks.check("the highest build opened is the accepted one", None if [a["build"] for a in apps] == [highest] else f"{apps}")
    below = store.run("verify", files[highest - 1])
    checks.check("a build below it is refused", None if common.code_of(below) == "rolledBack" else below.brief())
    again = store.run("open", files[highest])
    said = again.object() or {}
    whole = common.tree(pathlib.Path(said["directory"])) if "directory" in said else {}
    names = ["SHA256SUMS", "app.json", "assets", "assets/logo.svg", "bundle.js"]
    checks.check("its tree is whole", None if sorted(whole) == names else f"{again.brief()}: {sorted(whole)}")
    checks.check("the store is whole", *store.faults())
    print(f"rising: {len(rows)} opens by {WORKERS} processes at once, {codes['accepted']} accepted, {codes['rolledBack']} rolledBack; "
          f"{seconds:.1f} s, the slowest {max(r[3] for r in rows):.2f} s")


def mixed(checks, space, root):
    files = make_builds(space, range(1000, 1000 + MIXED_WORKERS * MIXED_ROUNDS))
    lists = []
    for sequence in range(1, MIXED_WORKERS * MIXED_ROUNDS + 1):
        file = space / f"{sequence}.json"
        file.write_bytes(p.revocations(sequence=sequence, minimumBuilds={"com.example.other": sequence}))
        lists.append(file)
    store = Store(space / "mixed", root)
    # What each verb may answer while the others work.
    allowed = {
        "open": {(0, "accepted"), (1, "rolledBack")},
        "verify": {(0, "accepted"), (1, "rolledBack")},
        "update-revocations": {(0, "accepted"), (1, "revocationsOlder")},
        "store prune": {(0, "")}, "store status": {(0, "")}, "store apps": {(0, "")},
    }
    first = store.run("open", files[1000])
    checks.check("the first open", None if first.status == 0 else first.brief())

    def work(number):
        rows = []
        for turn in range(MIXED_ROUNDS):
            index = turn * MIXED_WORKERS + number
            for verb, operands in (("open", [files[1000 + index]]), ("store prune", []), ("update-revocations", [lists[index]]),
                                   ("verify", [files[1000 + index]]), ("store status", []), ("store apps", [])):
                judging = not verb.startswith("store")
                answer = store.run(*verb.split(), *operands, judging=judging)
                rows.append((verb, answer.status, common.code_of(answer) if judging else "" if answer.status == 0 else answer.brief(), answer.seconds))
        return rows
    begun = time.monotonic()
    rows = at_once(MIXED_WORKERS, work)
    seconds = time.monotonic() - begun
    for verb, status, code, _ in rows:
        checks.check(verb, None if (status, code) in allowed.get(verb, ()) else f"exit status {status}, {code}")
    accepted = store.accepted()
    checks.check("accepted builds never fall among other work", None if accepted == sorted(accepted) else f"the log has {accepted}")
    status = store.run("store", "status", judging=False).object() or {}
    sequences = [entry["sequence"] for entry in status.get("lists", [])]
    checks.check("the newest list is in force", None if sequences == [len(lists)] else f"{sequences}")
    applied = sum(e["kind"] == "revocations" for e in store.events())
    answered = sum(1 for verb, _, code, _ in rows if verb == "update-revocations" and code == "accepted")
    checks.check("every applied list is in the log", None if applied == answered else f"{applied} in the log, {answered} were answered")
    apps = [(a["id"], a["build"]) for a in store.run("store", "apps", judging=False).rows()]
    checks.check("the highest build is the accepted one", None if apps == [(p.APP["id"], max(files))] else f"{apps}")
    checks.check("the store is whole after all of it", *store.faults())
    kinds = collections.Counter((verb, code) for verb, _, code, _ in rows)
    print(f"mixed: {len(rows)} runs by {MIXED_WORKERS} processes at once, " + ", ".join(f"{v} {c} {n}".replace("  ", " ") for (v, c), n in sorted(kinds.items()))
          + f"; {seconds:.1f} s, the slowest {max(r[3] for r in rows):.2f} s")


def main():
    common.needs_tool()
    checks = common.Checks()
    space = common.scratch("processes", memory=True)
    root = common.write_key(space / "root.pub", p.ROOT1.public)
    rising(checks, space, root)
    mixed(checks, space, root)
    checks.finish()


if __name__ == "__main__":
    main()

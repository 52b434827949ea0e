#!/usr/bin/env python3
"""A full disk: at every stage of every act that writes, the old version stays whole, the answer says that there is no room,
nothing half made stays, and the same again succeeds once there is room. Also no inodes left, and a disk that may only be read.

    NSH_PKGTOOL=… NSH_TRUSTD=… python3 Tests/host/full.py          NSH_LONG=1: every page of room instead of a sample

Proves I10 and C23. A file system in memory gets a page more of room from run to run, so that the failure moves through the
act from its first write to its last; the stages that were hit are counted, and a stage that was never hit is a failure.
"""
import os
import pathlib
import re
import shutil
import subprocess

from common_host import (KIB, LONG, MIB, Checks, enter, installed, mount, publisher, remains, resize, run, scratch, tmpfs, tree, used,
                         whole)
from common_daemon import Daemon, ask

PAGE = 4 * KIB
checks = Checks()
check = checks.check


def room(least, most, samples):
    """Bytes of room from least to most: every page, or so many of them."""
    step = PAGE if LONG else max(PAGE, (most - least) // samples // PAGE * PAGE)
    return range(least, most + step, step)


def stage(said):
    """At which stage an act failed, by what it says."""
    for name, pattern in (("making the store", r"trust\.sqlite\.new"), ("the store", r"trust\.sqlite"), ("a directory", "make (the )?directory"),
                          ("a file", r"cannot (write|create|finish writing)"), ("renaming", "cannot (rename|put)"), ("syncing", "sync")):
        if re.search(pattern, said):
            return name
    return "elsewhere"


class Sweep:
    """One act, tried with more and more room until it succeeds."""

    def __init__(self, name, code="storeFull"):
        self.name, self.code, self.stages, self.tried, self.succeeded = name, code, {}, 0, False

    def judge(self, size, done, *faults):
        """Judges one run: True when it succeeded, else that it failed for want of room and left nothing."""
        self.tried += 1
        if done.status == 0:
            self.succeeded = True
            return True
        where = stage(done.said)
        self.stages[where] = self.stages.get(where, 0) + 1
        check(f"I10 {self.name}, {size} bytes of room ({where})", *faults, done.status != 3 and f"exit status {done.status}",
              done.code != self.code and f"code {done.code}", "No space left" not in done.said and "no space left" not in done.said
              and "does not say why", done.status != 3 and str(done))
        return False

    def finish(self, *stages):
        check(f"{self.name}: succeeds with enough room", not self.succeeded and "never")
        check(f"{self.name}: failed at every stage", not self.stages and "it never failed", *[f"never at: {name}" for name in stages if name not in self.stages])
        print(f"{self.name}: {self.tried} sizes, failed at {self.stages}", flush=True)


def first_start(made, place):
    """No store is there, and there is no room for one, or not for the package."""
    sweep = Sweep("first open")
    for size in room(4 * PAGE, 480 * KIB, 24):
        with tmpfs(place, size):
            state = place / "state"
            done = run("open", made / "orders-5.nshpkg", "--root", made / "root.pub", "--state", state, "--json")
            if sweep.judge(size, done, remains(state) and f"left: {remains(state)}", installed(state) and f"visible: {installed(state)}"):
                break
            resize(place, MIB)
            check(f"I10 first open, {size} bytes: the same again, with room", *accepted(made, state, 5))
    sweep.finish("making the store", "a file", "the store")


def accepted(made, state, build):
    done = run("open", made / f"orders-{build}.nshpkg", "--root", made / "root.pub", "--state", state, "--json")
    return whole(state, build=build) if done.status == 0 else [str(done)]


def update(made, place):
    """Build 5 is installed; build 6 does not fit."""
    sweep = Sweep("update")
    for size in room(0, 320 * KIB, 24):
        with tmpfs(place, MIB):
            state = place / "state"
            accepted(made, state, 5)
            before = tree(state / "apps")
            resize(place, used(place)[0] + size)
            done = run("open", made / "orders-6.nshpkg", "--root", made / "root.pub", "--state", state, "--json")
            if sweep.judge(size, done, remains(state) and f"left: {remains(state)}",
                           tree(state / "apps") != before and f"trees: {installed(state)}", *whole_unless(done, state, 5)):
                break
            seen = run("verify", made / "orders-6.nshpkg", "--root", made / "root.pub", "--state", state, "--json")
            check(f"C23 {size} bytes of room: verify works on a full disk", seen.status != 0 and str(seen))
            again = run("open", made / "orders-5.nshpkg", "--root", made / "root.pub", "--state", state, "--json")
            check(f"I10 {size} bytes of room: what is installed opens", again.status != 0 and str(again))
            resize(place, 2 * MIB)
            check(f"I10 update, {size} bytes: the same again, with room", *accepted(made, state, 6))
    sweep.finish("a file", "the store")


def whole_unless(done, state, build):
    return [] if done.status == 0 else whole(state, build=build)


def lists(made, place):
    """A list of 2,000 entries does not fit into the store: applied whole or not at all."""
    hashes = [os.urandom(32).hex() for _ in range(2000)]
    first, second = made.list("--package", "00" * 32), made.list(*[word for item in hashes for word in ("--package", item)])
    sweep = Sweep("update-revocations")
    for size in room(0, 900 * KIB, 16):
        with tmpfs(place, 2 * MIB):
            state = place / "state"
            accepted(made, state, 5)
            run("update-revocations", first, "--root", made / "root.pub", "--state", state)
            resize(place, used(place)[0] + size)
            done = run("update-revocations", second, "--root", made / "root.pub", "--state", state, "--json")
            sequence = [row["sequence"] for row in run("store", "status", "--state", state, "--json").object["lists"]]
            if sweep.judge(size, done, sequence != [1] and f"list in force: {sequence}", *whole_unless(done, state, 5)):
                check("the list is in force", sequence != [2] and f"{sequence}")
                break
            resize(place, 4 * MIB)
            done = run("update-revocations", second, "--root", made / "root.pub", "--state", state, "--json")
            check(f"I10 update-revocations, {size} bytes: the same again, with room", done.status != 0 and str(done))
    sweep.finish("the store")


def outputs(made, place):
    """Files and trees that the tool writes for people: whole or not there, an older one as it was."""
    run("open", made / "orders-5.nshpkg", "--root", made / "root.pub", "--state", made / "state")
    key = ["--key", made / "release.secret", "--certificate", made / "release.cert"]
    tree_of = made / "tree"
    run("extract", made / "orders-5.nshpkg", tree_of, "--root", made / "root.pub")
    os.unlink(tree_of / "SHA256SUMS")
    long_list = made / "long.json"
    shutil.copy(sorted(made.directory.glob("list-root-*"))[-1], long_list)
    acts = {
        "extract": (["extract", made / "orders-5.nshpkg", place / "tree", "--root", made / "root.pub"], "tree"),
        "publish": (["publish", tree_of, *key, "-o", place / "out"], "out"),
        "recertify": (["recertify", made / "orders-5.nshpkg", "--certificate", made / "release.cert", "-o", place / "out"], "out"),
        "revoke": (["revoke", "--root", made / "root.secret", "--previous", long_list, "--key", "00" * 32, "-o", place / "out"], "out"),
        "certify": (["certify", "--root", made / "root.secret", "--key", made / "release.pub", "--publisher", "P", "--apps", "com.example.*",
                     "--days", "1", "-o", place / "out"], "out"),
        "store export": (["store", "export", "--state", made / "state", "-o", place / "out"], "out"),
        "keygen": (["keygen", place / "key", "--no-password"], "key.pub"),
    }
    old = b"what was there before\n"
    for name, (words, result) in acts.items():
        sweep = Sweep(name)
        for size in room(PAGE if name in ("extract", "keygen") else 2 * PAGE, 512 * KIB, 12):
            with tmpfs(place, size):
                filler(place, result, old)
                names = sorted(os.listdir(place))
                done = run(*words, "--json")
                if sweep.judge(size, done, sorted(os.listdir(place)) != names and f"left: {sorted(os.listdir(place))}",
                               result == "out" and done.status and (place / "out").read_bytes() != old and "the older file changed"):
                    break
                os.unlink(place / "filler") if (place / "filler").exists() else None
                resize(place, 2 * MIB)
                done = run(*words, "--json")
                check(f"I10 {name}, {size} bytes: the same again, with room", done.status != 0 and str(done))
        sweep.finish()


def filler(place, result, old):
    """An older file under the result's name; for small results, all room but none taken by something else."""
    if result == "out":
        (place / "out").write_bytes(old)
    if os.statvfs(place).f_blocks * os.statvfs(place).f_frsize <= 3 * PAGE:
        with open(place / "filler", "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(PAGE))
            except OSError:
                pass


def inodes(made, place):
    """No names left although there are bytes."""
    sweep = Sweep("inodes")
    for count in range(2, 40):
        with tmpfs(place, 2 * MIB, inodes=count):
            state = place / "state"
            done = run("open", made / "orders-5.nshpkg", "--root", made / "root.pub", "--state", state, "--json")
            if sweep.judge(count, done, remains(state) and f"left: {remains(state)}", installed(state) and f"visible: {installed(state)}"):
                break
            resize(place, 2 * MIB, inodes=100)
            check(f"I10 {count} inodes: the same again, with more", *accepted(made, state, 5))
    sweep.finish("a directory", "a file")


def read_only(made, place):
    """The disk may only be read: verify works, what changes something is refused, nothing changes."""
    with tmpfs(place, 2 * MIB):
        state, two = place / "state", place / "two"
        accepted(made, state, 5)
        for build in (5, 6):
            accepted(made, two, build)
        newer = made.list("--package", "11" * 32)
        before = tree(place)
        mount("-o", "remount,ro", place)
        done = run("verify", made / "orders-6.nshpkg", "--root", made / "root.pub", "--state", state, "--json")
        check("C23 read-only: verify works", done.status != 0 and str(done))
        for words in (["store", "status"], ["store", "apps"], ["store", "check"], ["store", "events"]):
            done = run(*words, "--state", state, "--json")
            check(f"C23 read-only: {' '.join(words)} works", done.status != 0 and str(done))
        for words in (["open", made / "orders-6.nshpkg", "--root", made / "root.pub", "--state", state],
                      ["update-revocations", newer, "--root", made / "root.pub", "--state", state],
                      ["store", "remove", "com.example.orders", "--state", state], ["store", "prune", "--keep", "1", "--state", two],
                      ["open", made / "orders-6.nshpkg", "--root", made / "root.pub", "--state", place / "new"]):
            done = run(*words, "--json")
            check(f"C23 read-only: {' '.join(map(str, words[:2]))} is refused", (done.status, done.code) != (3, "ioFailure") and str(done),
                  "ead-only" not in done.said and "may not be written" not in done.said and f"does not say why: {done}")
        done = run("store", "prune", "--keep", "1", "--state", state, "--json")
        check("C23 read-only: a pruning that finds nothing says so", done.status != 0 and str(done))
        check("C23 read-only: nothing changed", tree(place) != before and "it did")
        mount("-o", "remount,rw", place)
        check("C23 writable again: works", *accepted(made, state, 6))


def daemon(made, place):
    """The daemon's disk is full: it goes on judging, opens answer 507, and it recovers by itself."""
    sizes = room(0, 320 * KIB, 8)
    failed = 0
    with tmpfs(place, 4 * MIB):
        served = Daemon(scratch(), wait=None)
        served.state = place / "state"
        served.trust(made / "root.pub")
        with served.start():
            opened = served.open(made / "orders-5.nshpkg")
            check("daemon: opens", opened.status != 200 and str(opened))
            for size in sizes:
                resize(place, used(place)[0] + size)
                answer = served.open(made / "orders-6.nshpkg")
                if answer.status == 200:
                    break
                failed += 1
                check(f"I10 daemon, {size} bytes of room: 507", (answer.status, answer.code) != (507, "storeFull") and str(answer),
                      remains(served.state) and f"left: {remains(served.state)}")
                seen = served.post("/v1/packages/verify", {"path": str(made / "orders-6.nshpkg")})
                check(f"C23 daemon, {size} bytes: verify works", seen.status != 200 and str(seen))
                check(f"I10 daemon, {size} bytes: health", served.get("/v1/health").status not in (200, 503) and "no answer")
                again = served.open(made / "orders-5.nshpkg")
                check(f"I10 daemon, {size} bytes: what is installed opens", again.status != 200 and str(again))
                resize(place, 4 * MIB)
            check("I10 daemon: with room it opens, without a restart", answer.status != 200 and str(answer), not failed and "nothing failed")
            check("I10 daemon: still whole", *whole(served.state, build=6))
        served.stop()
    for size in (4 * PAGE, 12 * PAGE):
        with tmpfs(place, size):
            served = Daemon(scratch(), wait=None)
            served.state = place / "state"
            served.trust(made / "root.pub")
            served.start(wait=False)
            status = served.process.wait(20)
            check(f"I10 daemon started on {size} bytes: ends and says why", status in (0, None) and f"exit status {status}",
                  "space left" not in served.log() and served.log(), remains(served.state) and f"left: {remains(served.state)}")


def file_size_limit(made):
    """RLIMIT_FSIZE: a file may grow no further. The signal for it does not end the program."""
    for blocks in (0, 1, 8, 64):
        state = made / f"limited-{blocks}"
        done = run("-c", f"ulimit -f {blocks}; exec \"$@\"", "sh", os.environ.get("NSH_PKGTOOL"), "open", made / "orders-5.nshpkg", "--root",
                   made / "root.pub", "--state", state, "--json", program="sh")
        check(f"RLIMIT_FSIZE {blocks} blocks: an error, no signal", done.status != 3 and str(done), remains(state) and f"left: {remains(state)}",
              installed(state) and "visible")
        check(f"RLIMIT_FSIZE {blocks}: then without it", *accepted(made, state, 5))


def main():
    mounted = enter()
    made = publisher(scratch() / "p")
    place = scratch() / "small"
    place.mkdir()
    if mounted:
        for part in (first_start, update, lists, outputs, inodes, read_only, daemon):
            with checks.part(part.__name__):
                part(made, place)
    else:
        checks.skip(7, "the system gives no mount namespace, so there is no small file system")
    with checks.part("file_size_limit"):
        file_size_limit(made)
    checks.finish()


main()

#!/usr/bin/env python3
"""A package that changes while it is read: what comes out is what was signed, or the package is refused; never a crash.

    NSH_PKGTOOL=… NSH_TRUSTD=… python3 Tests/host/changing.py        NSH_LONG=1: fifteen times as many runs

Proves G11 and B10. Other processes write through an open descriptor, through a mapping and through a second name, cut and
grow the file, and put other things in its place (another package, a stranger's, a FIFO, a link, a directory) for as long as
the tool and the daemon read it over and over.
"""
import collections
import contextlib
import hashlib
import mmap
import multiprocessing
import os
import pathlib
import random
import shutil
import subprocess
import time

from common_host import KIB, LONG, MIB, Checks, publisher, remains, run, scratch
from common_daemon import Daemon, needs_programs

checks = Checks()
ROUNDS = 300 if LONG else 12
#: Codes that a package can be refused with when bytes of it are not those that were signed, or something else is there.
EXPECTED = {"payloadCorrupt", "truncated", "trailingData", "badSignature", "malformed", "unsupportedFormat", "untrustedRoot", "limitExceeded",
            "manifestMismatch", "rolledBack", "buildConflict", "notARegularFile", "noSuchFile", "ioFailure"}


# ---- what changes the file --------------------------------------------------------------------------------------


def overwrite(victim, goods, _others):
    """Writes through a descriptor that was opened before, and puts the bytes back."""
    with open(victim, "r+b", buffering=0) as file:
        while True:
            at = random.randrange(len(goods))
            os.pwrite(file.fileno(), os.urandom(64), at)
            time.sleep(random.random() / 500)
            os.pwrite(file.fileno(), goods[at:at + 64], at)
            if random.random() < 0.5:
                time.sleep(random.random() / 100)
            os.ftruncate(file.fileno(), len(goods))


def through_mapping(victim, goods, _others):
    """Writes through shared memory: no call of the system, no change of times to notice."""
    with open(victim, "r+b") as file, mmap.mmap(file.fileno(), len(goods)) as memory:
        while True:
            at = random.randrange(len(goods) - 64)
            memory[at:at + 64] = os.urandom(64)
            time.sleep(random.random() / 500)
            memory[at:at + 64] = goods[at:at + 64]
            time.sleep(random.random() / 100)


def through_second_name(victim, goods, others):
    """Writes by another name of the same file."""
    second = victim.with_name("second-name")
    with contextlib.suppress(FileExistsError):
        os.link(victim, second)
    overwrite(second, goods, others)


def cut_and_grow(victim, goods, _others):
    """Cuts the file while it is read, which would end a program that maps it with SIGBUS; makes it longer."""
    with open(victim, "r+b", buffering=0) as file:
        while True:
            os.ftruncate(file.fileno(), random.choice((0, 1, 7, len(goods) // 2, len(goods) - 1)))
            time.sleep(random.random() / 500)
            os.pwrite(file.fileno(), goods, 0)
            if random.random() < 0.3:
                os.pwrite(file.fileno(), b"more", len(goods))
                time.sleep(random.random() / 500)
                os.ftruncate(file.fileno(), len(goods))
            time.sleep(random.random() / 50)


def replace(victim, goods, others):
    """Renames other packages over the path."""
    spare = victim.with_name("spare")
    while True:
        for data in (random.choice(others), goods):
            spare.write_bytes(data)
            os.rename(spare, victim)
            time.sleep(random.random() / 200)


def replace_by_others(victim, goods, others):
    """Puts a FIFO, a link, a directory, a device's link or nothing in its place."""
    spare = victim.with_name("spare")
    makers = (os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path), lambda path: os.symlink("/proc/self/mem", path),
              lambda path: os.symlink(path, path), lambda path: None)
    while True:
        with contextlib.suppress(OSError):
            (shutil.rmtree if victim.is_dir() and not victim.is_symlink() else os.unlink)(victim)
        random.choice(makers)(victim)
        time.sleep(random.random() / 300)
        with contextlib.suppress(OSError):
            (os.rmdir if victim.is_dir() and not victim.is_symlink() else os.unlink)(victim)
        spare.write_bytes(goods)
        os.rename(spare, victim)
        time.sleep(random.random() / 100)


CHANGES = (overwrite, through_mapping, through_second_name, cut_and_grow, replace, replace_by_others)


@contextlib.contextmanager
def changing(change, victim, goods, others):
    """A process that changes the file for as long as the block runs; the file is whole again afterwards."""
    worker = multiprocessing.Process(target=change, args=(victim, goods, others), daemon=True)
    worker.start()
    try:
        yield
        checks.check(f"{change.__name__}: went on to the end", not worker.is_alive() and f"ended with {worker.exitcode}")
    finally:
        worker.kill()
        worker.join(10)
        shutil.rmtree(victim.parent)
        victim.parent.mkdir()
        victim.write_bytes(goods)


# ---- what is judged ---------------------------------------------------------------------------------------------


def honest(directory, manifests):
    """What is wrong with a tree that was accepted: it must be one of those that were signed, to the last byte."""
    directory = pathlib.Path(directory)
    found = hashlib.sha256((directory / "SHA256SUMS").read_bytes()).hexdigest()
    if found not in manifests:
        return f"manifest {found} was never signed"
    if subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=directory, check=False, capture_output=True).returncode:
        return "files differ from the manifest"
    return None


class Tally:
    """What became of the runs against one kind of change."""

    def __init__(self, name):
        self.name, self.seen, self.faults = name, collections.Counter(), []

    def add(self, code, *faults):
        self.seen[code] += 1
        self.faults += [fault for fault in (*faults, code not in EXPECTED | {"accepted"} and f"code {code}") if fault]

    def finish(self):
        checks.check(f"G11 {self.name}: {sum(self.seen.values())} runs, what was signed or nothing", *self.faults[:5])
        print(f"{self.name}: {dict(self.seen)}", flush=True)
        return self.seen


def with_tool(change, world, victim, goods, others):
    made, manifests = world
    tally = Tally(f"tool, {change.__name__}")
    with changing(change, victim, goods, others):
        for number in range(ROUNDS):
            target = made / f"out-{number}"
            verb = ("extract", "open", "verify")[number % 3]
            place = {"extract": [target], "open": ["--state", target], "verify": []}[verb]
            done = run(verb, victim, *place, "--root", made / "root.pub", "--json", seconds=30)
            faults = [done.status not in (0, 1, 3) and str(done)]
            if done.status == 0 and verb != "verify":
                faults.append(honest(done.object["directory"], manifests))
            elif verb == "extract":
                faults.append(target.exists() and f"a tree after {done.code}")
            elif verb == "open" and target.exists():
                faults += [remains(target) and f"left: {remains(target)}", list(target.glob("apps/*/*")) and f"a tree after {done.code}"]
            tally.add(done.code or done.object.get("verdict"), *faults)
            shutil.rmtree(target, ignore_errors=True)
    left = [path.name for path in made.directory.glob(".nsh-*")]
    checks.check(f"{tally.name}: nothing left", left)
    return tally.finish()


def with_daemon(change, world, victim, goods, others, daemon):
    _, manifests = world
    tally = Tally(f"daemon, {change.__name__}")
    with changing(change, victim, goods, others):
        for number in range(ROUNDS):
            if number % 2:
                answer = daemon.open(victim)
            else:
                answer = daemon.post("/v1/packages/verify", {"path": str(victim)})
            faults = [answer.status not in (200, 403, 404, 400, 500) and str(answer)]
            if answer.status == 200 and number % 2:
                faults.append(honest(answer.json["directory"], manifests))
            tally.add(answer.code or "accepted", *faults)
        checks.check(f"{tally.name}: the daemon runs", not daemon.alive() and daemon.log(), remains(daemon.state) and f"left: {remains(daemon.state)}")
    return tally.finish()


def between_verify_and_open(world, victim, goods, others):
    """The path leads to another package after it was verified: open judges what it opens itself."""
    made, manifests = world
    seen = run("verify", victim, "--root", made / "root.pub", "--json")
    victim.write_bytes(others[1])
    opened = run("open", victim, "--root", made / "root.pub", "--state", made / "between", "--json")
    checks.check("B10 a stranger's package between verify and open: refused", seen.status != 0 and str(seen),
                 (opened.status, opened.code) != (1, "untrustedRoot") and str(opened))
    victim.write_bytes(goods)


def manifest_of(made, build):
    run("extract", made / f"orders-{build}.nshpkg", made / f"tree-{build}", "--root", made / "root.pub")
    return hashlib.sha256((made / f"tree-{build}" / "SHA256SUMS").read_bytes()).hexdigest()


def main():
    needs_programs()
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    made = publisher(scratch(memory) / "p", 3 * MIB, 5 * MIB, 64 * KIB)
    stranger = publisher(scratch(memory) / "s", 6 * MIB, builds=(7,))
    goods = (made / "orders-5.nshpkg").read_bytes()
    others = [(made / "orders-6.nshpkg").read_bytes(), (stranger / "orders-7.nshpkg").read_bytes(), goods[:-1], goods + b"x", b"", b"\x89NSHPKG\n"]
    manifests = {manifest_of(made, build) for build in (5, 6)}
    victims = made / "victims"
    victims.mkdir()
    victim = victims / "victim.nshpkg"
    victim.write_bytes(goods)
    total = collections.Counter()
    world = made, manifests
    with checks.part("between verify and open"):
        between_verify_and_open(world, victim, goods, others)
    daemon = Daemon(scratch(memory), wait=None)
    daemon.trust(made / "root.pub")
    with daemon.start():
        for change in CHANGES:
            with checks.part(change.__name__):
                total += with_tool(change, world, victim, goods, others)
                total += with_daemon(change, world, victim, goods, others, daemon)
    checks.check("the races were run: some accepted, some refused", total["accepted"] < 10 and f"{total}", len(total) < 4 and f"{total}")
    print(f"{sum(total.values())} runs: {dict(total)}")
    checks.finish()


if __name__ == "__main__":
    main()

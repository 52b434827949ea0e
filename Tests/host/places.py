#!/usr/bin/env python3
"""Directories that are not what they should be, or stop being it: state, staging, trees, destinations and the socket's place.

    NSH_PKGTOOL=… NSH_TRUSTD=… python3 Tests/host/places.py

Proves H22, H24, K8 and L20: what belongs to somebody else, may be written by others, is a link, or is swapped while tool or daemon
run, is refused or left alone; nothing outside of the state directory is ever written or removed. Each case has a victim beside it
that must stay as it is to the last byte.
"""
import contextlib
import multiprocessing
import os
import pathlib
import shutil
import time

from common_host import IS_REAL_ROOT, KIB, LONG, Checks, enter, installed, publisher, remains, run, scratch, tree, whole
from common_daemon import OTHER, Daemon

checks = Checks()
check = checks.check


class World:
    """A store with build 5, and a directory of somebody else's beside it."""

    def __init__(self, made, name):
        self.made, self.place = made, made / name
        self.place.mkdir()
        self.state, self.victim = self.place / "state", self.place / "victim"
        self.victim.mkdir()
        (self.victim / "precious").write_text("do not touch")
        (self.victim / "SHA256SUMS").write_text("not yours")
        self.before = tree(self.victim)
        done = self.open(5)
        assert done.status == 0, done

    def open(self, build, verb="open"):
        return run(verb, self.made / f"orders-{build}.nshpkg", "--root", self.made / "root.pub", "--state", self.state, "--json")

    def judge(self, name, done, *codes):
        check(name, done.status is None and "hung", codes and (done.status, done.code) != (3, codes[0]) and done.code not in codes and str(done),
              tree(self.victim) != self.before and "the victim changed")


def entrances(made):
    """How a state directory can be wrong before anything starts: (what, how to make it so)."""
    owned = [(f"{name} belongs to another user", lambda world, name=name: os.lchown(world.state / name, *OTHER))
             for name in (".", "trust.sqlite", "trust.sqlite-journal", "staging", "apps")] if IS_REAL_ROOT else []
    for what, spoil in owned + [(f"{name} may be written by {who}", lambda world, name=name, bits=bits: os.chmod(world.state / name, (world.state / name).stat().st_mode | bits))
                                for name in (".", "trust.sqlite", "trust.sqlite-journal", "staging", "apps") for who, bits in (("all", 0o002), ("a group", 0o020))] + [
            ("the directory is a link", lambda world: swap(world.state, world.place / "elsewhere")),
            *((f"{name} is a link", lambda world, name=name: swap(world.state / name, world.victim)) for name in ("staging", "apps")),
            ("the database is a link", lambda world: swap(world.state / "trust.sqlite", world.place / "elsewhere")),
            ("the journal is a link", lambda world: swap(world.state / "trust.sqlite-journal", world.victim / "precious")),
            ("the database has a second name", lambda world: os.link(world.state / "trust.sqlite", world.place / "second")),
            ("the database is a FIFO", lambda world: (os.unlink(world.state / "trust.sqlite"), os.mkfifo(world.state / "trust.sqlite", 0o600))),
            ("the app’s directory is a link", lambda world: swap(world.state / "apps" / "com.example.orders", world.victim))]:
        world = World(made, f"entrance-{time.monotonic_ns()}")
        spoil(world)
        world.judge(f"L20 {what}: open is refused", world.open(6), "storeUnsafe")
        if "app’s" not in what and "apps" not in what and "staging" not in what:
            world.judge(f"L20 {what}: verify is refused", world.open(6, "verify"), "storeUnsafe")
        for verb in (["prune", "--keep", "0"], ["remove", "com.example.orders"], ["check"]):
            world.judge(f"H22 {what}: store {verb[0]} leaves others' files alone", run("store", *verb, "--state", world.state, "--json"))
        shutil.rmtree(world.place)


def swap(path, target):
    """Puts a link in a name's place; what was there goes to the target when that is not there yet."""
    if target.exists():
        (shutil.rmtree if path.is_dir() else os.unlink)(path)
    else:
        os.rename(path, target)
    os.symlink(target, path)


def damage(made):
    """A database that is cut, altered, emptied, gone, or has a journal of another: closed, never begun anew."""
    def flip(world):
        data = bytearray((world.state / "trust.sqlite").read_bytes())
        for at in range(100, len(data), 512):
            data[at] ^= 0xFF
        (world.state / "trust.sqlite").write_bytes(data)
    for what, spoil in (("emptied", lambda world: os.truncate(world.state / "trust.sqlite", 0)), ("cut", lambda world: os.truncate(world.state / "trust.sqlite", 5000)),
                        ("altered", flip), ("gone", lambda world: os.unlink(world.state / "trust.sqlite")),
                        ("other bytes", lambda world: (world.state / "trust.sqlite").write_bytes(os.urandom(90112)))):
        world = World(made, f"damage-{what}")
        spoil(world)
        found = tree(world.state)
        for verb in ("verify", "open"):
            world.judge(f"K8 the database is {what}: {verb} is refused", world.open(6, verb), "storeCorrupt")
        check(f"K8 the database is {what}: no fresh start", tree(world.state) != found and "the state changed")
    world = World(made, "damage-journal")
    (world.state / "trust.sqlite-journal").write_bytes(os.urandom(4096))
    world.judge("K8 a journal of nothing: no harm", world.open(6))
    check("K8 a journal of nothing: the store is whole", *(whole(world.state, build=6) if world.open(6).status == 0 else []))


def destinations(made):
    """Where extract may write: a name that is free, and nowhere else."""
    world = World(made, "destinations")
    place = world.place / "target"
    extract = lambda path: run("extract", made / "orders-5.nshpkg", path, "--root", made / "root.pub", "--json")
    for what, plant in (("a link to a directory", lambda: os.symlink(world.victim, place)), ("a dangling link", lambda: os.symlink(world.place / "none", place)),
                        ("a directory that holds files", lambda: shutil.copytree(world.victim, place)), ("an empty directory", place.mkdir),
                        ("a file", lambda: place.write_text("x")), ("a FIFO", lambda: os.mkfifo(place))):
        plant()
        before = tree(world.place)
        for path in (place, f"{place}/", f"{place}/.")[:1 if what in ("a file", "a FIFO") else 3]:
            done = extract(path)
            world.judge(f"H24 destination {str(path)[len(str(place)):] or ''} is {what}: refused", done, "exists", "storeUnsafe", "noSuchFile")
            check(f"H24 destination is {what}: nothing changed", tree(world.place) != before and "it did")
        (shutil.rmtree if place.is_dir() and not place.is_symlink() else os.unlink)(place)
    sticky = world.place / "tmp"
    sticky.mkdir()
    os.chmod(sticky, 0o1777)
    (sticky / ".nsh-planted.tmp").write_text("x")
    if IS_REAL_ROOT:
        os.symlink(world.victim, sticky / "planted")
        os.lchown(sticky / "planted", *OTHER)
        world.judge("H24 another user's link in a sticky /tmp: refused", extract(sticky / "planted"), "exists")
        world.judge("H24 output onto another user's link: refused", run("store", "export", "--state", world.state, "-o", sticky / "planted", "--json"), "notARegularFile")
    done = extract(sticky / "free")
    check("H24 a free name in a sticky /tmp: taken", done.status != 0 and str(done), not (sticky / ".nsh-planted.tmp").exists() and "removed another's file")


# ---- swapped meanwhile ------------------------------------------------------------------------------------------


def swapping(path, victim):
    """Puts a link to the victim in a directory's place and takes it away again, as fast as it can."""
    spare = path.with_name(path.name + ".spare")
    while True:
        with contextlib.suppress(OSError):
            os.rename(path, spare)
            os.symlink(victim, path)
        with contextlib.suppress(OSError):
            os.unlink(path)
        with contextlib.suppress(OSError):
            os.rename(spare, path)


def planting(staging, victim):
    """Plants links to the victim in every staged tree."""
    while True:
        with contextlib.suppress(OSError):
            for entry in os.listdir(staging):
                for name in ("assets", "bundle.js", "SHA256SUMS"):
                    with contextlib.suppress(OSError):
                        os.symlink(victim, staging / entry / name)


def deleting(staging, _victim):
    """Removes staged trees while they are written."""
    while True:
        for entry in staging.glob("*"):
            shutil.rmtree(entry, ignore_errors=True)


@contextlib.contextmanager
def meanwhile(function, *arguments):
    worker = multiprocessing.Process(target=function, args=arguments, daemon=True)
    worker.start()
    try:
        yield
    finally:
        worker.kill()
        worker.join(10)


def races(made):
    """Removing and writing while a directory is swapped for a link, trees are deleted, links are planted."""
    world = World(made, "races")
    rounds = 100 if LONG else 8
    ended = {}
    for number in range(rounds):
        world.open(6)
        trees = list((world.state / "apps" / "com.example.orders").glob("6-*")) or [world.state / "apps" / "com.example.orders"]
        target = trees[0] / "assets" if number % 2 else trees[0]
        with meanwhile(swapping, target, world.victim):
            done = run("store", "remove", "com.example.orders", "--state", world.state, "--json")
        ended[done.status] = ended.get(done.status, 0) + 1
        world.judge("H22 a directory swapped for a link while it is removed: nothing outside goes", done)
        shutil.rmtree(world.state, ignore_errors=True)
        world.open(5)
    for function in (planting, deleting):
        for number in range(rounds):
            with meanwhile(function, world.state / "staging", world.victim):
                done = world.open(6)
            ended[done.status] = ended.get(done.status, 0) + 1
            faults = whole(world.state, build=6) if done.status == 0 else whole(world.state, build=5)
            world.judge(f"L20 {function.__name__} in staging: whole or refused", done)
            # Who may write the state directory can take files from a tree behind its last check: then it is noticed, not hidden.
            noticed = function is deleting and "manifestMismatch" in str(run("store", "check", "--state", world.state))
            check(f"L20 {function.__name__} in staging: the store is whole, or says what is not", *([] if noticed else faults))
            shutil.rmtree(world.state, ignore_errors=True)
            world.open(5)
    print(f"races: {3 * rounds} runs, exit statuses {ended}")


def daemon(made):
    """The daemon's directories change hands while it runs."""
    world = World(made, "daemon")
    served = Daemon(world.place / "served-by", wait=None) if (world.place / "served-by").mkdir() is None else None
    served.state = world.state
    served.trust(made / "root.pub")
    six, five = made / "orders-6.nshpkg", made / "orders-5.nshpkg"

    def judge(name, answer, *statuses):
        check(name, answer.status not in statuses and str(answer), tree(world.victim) != world.before and "the victim changed", not served.alive() and "it died")

    with served.start():
        aside = world.place / "aside"
        for name in ("staging", "apps"):
            os.rename(world.state / name, aside)
            os.symlink(world.victim, world.state / name)
            judge(f"L20 {name} becomes a link: not used", served.open(six), 500)
            os.unlink(world.state / name)
            os.mkdir(world.state / name, 0o777)
            os.chmod(world.state / name, 0o777)
            judge(f"L20 {name} becomes a directory that all may write: not used", served.open(six), 500)
            if IS_REAL_ROOT:
                os.chmod(world.state / name, 0o700)
                os.chown(world.state / name, *OTHER)
                judge(f"L20 {name} becomes another user's directory: not used", served.open(six), 500)
            shutil.rmtree(world.state / name)
            os.rename(aside, world.state / name)
        shutil.rmtree(world.state / "staging")
        judge("L20 staging is gone: made again", served.open(five), 200)
        shutil.rmtree(world.state / "apps")
        answer = served.open(five)
        judge("L20 the trees are gone: extracted again", answer, 200)
        sums = pathlib.Path(answer.json["directory"]) / "SHA256SUMS"
        os.unlink(sums)
        sums.write_text("altered")
        judge("L20 a tree was altered: extracted again", served.open(five), 200)
        check("L20 a tree was altered: whole again", *whole(world.state, build=5))
        os.rename(world.state, aside)
        for what, replace in (("nothing", lambda: None), ("an empty directory", lambda: os.mkdir(world.state, 0o700)), ("a link", lambda: os.symlink(world.victim, world.state))):
            replace()
            answer = served.open(six)
            judge(f"L20 {what} in the state directory's place: nothing is written there", answer, 200, 500, 503)
            check(f"L20 {what} in its place: it stays empty", world.state.is_dir() and not world.state.is_symlink() and os.listdir(world.state) and f"{os.listdir(world.state)}")
            with contextlib.suppress(OSError):
                (os.unlink if world.state.is_symlink() else os.rmdir)(world.state)
        os.rename(aside, world.state)
        judge("L20 the state directory is back: works", served.open(six), 200)
        check("L20 the state directory is back: whole", *whole(world.state, build=6), remains(world.state))
        os.rename(served.socket, aside)
        (served.socket).write_text("somebody else's")
    check("L20 a file in the socket's place stays when the daemon ends", not served.socket.exists() and "removed")
    os.unlink(served.socket)
    for what, spoil in ([("belongs to another user", lambda path: os.chown(path, *OTHER))] if IS_REAL_ROOT else []) + [
            ("may be written by all", lambda path: os.chmod(path, 0o777)), ("is sticky", lambda path: os.chmod(path, 0o1777)),
            ("is a link", lambda path: swap(path, path.with_name("real")))]:
        place = world.place / f"socket-{what.split()[-1]}"
        place.mkdir()
        spoil(place)
        served.socket = place / "s"
        served.start(wait=False)
        status = served.process.wait(20)
        check(f"L20 the socket's directory {what}: the daemon does not start", status in (0, None) and f"exit status {status}", "storeUnsafe" not in served.log()
              and "socket" not in served.log() and served.log()[-300:])


def main():
    enter()
    made = publisher(scratch() / "p", 200 * KIB)
    for part in (entrances, damage, destinations, races, daemon):
        with checks.part(part.__name__):
            part(made)
    if not IS_REAL_ROOT:
        checks.skip(9, "no other users without root")
    checks.finish()


if __name__ == "__main__":
    main()

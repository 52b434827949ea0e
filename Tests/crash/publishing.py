"""No file that the publishing side makes is ever half there.

`keygen`, `certify`, `revoke`, `publish`, `extract` and `store export` are killed as they enter each of their system calls, and
suffer each error at every call that can give it. Afterwards what they make is there whole under its final name, or not at
all; where a file stood before, it is the old one or the new one. Of a key there is the secret alone at worst, never a public
key without its secret, and the secret was never open to others. Beside the place at most files lie that are named as the
documents say (`.nsh-….tmp`), after a kill alone. Then the same command makes it whole.

    .venv/bin/python Tests/crash/publishing.py               every 60th point
    NSH_LONG=1 .venv/bin/python Tests/crash/publishing.py    every point
"""
import dataclasses
import errno
import os
import re
import shutil
import signal

from common_crash import (TOOL, TRIES, Checks, Tally, World, everywhere, failing, files, needs_strace, start, step, strace,
                          traced)
from faults import effects, may_fail

STEP = step(60)
LEFT = re.compile(r"\.nsh-[0-9a-f]{16}\.tmp")


@dataclasses.dataclass
class Making:
    """A command that makes files in an empty directory, and how a whole one of each is told."""

    name: str
    argv: list
    makes: tuple
    old: dict = dataclasses.field(default_factory=dict)  # files that are there before

    def fresh(self, place):
        shutil.rmtree(place, ignore_errors=True)
        (place / "made").mkdir(parents=True)
        for name, data in self.old.items():
            (place / "made" / name).write_bytes(data)
        return place / "made"

    def command(self, out):
        return [TOOL, *(str(part).replace("{out}", str(out)) for part in self.argv)]

    def faults(self, out, was_killed, is_done):
        faults = []
        there = {name for name in os.listdir(out) if not LEFT.fullmatch(name)}
        if len(there) < len(os.listdir(out)) and not was_killed:
            faults.append(f"left beside it: {os.listdir(out)}")
        if there - set(self.makes):
            faults.append(f"made besides: {there - set(self.makes)}")
        if is_done and there != set(self.makes):
            faults.append(f"success, and there is {there}")
        faults += [f"{name} is not whole" for name in there if not self.is_whole(out / name)]
        if self.name == "keygen" and there == {"key.pub"}:
            faults.append("a public key without its secret")
        for name in os.listdir(out) if self.name == "keygen" else ():
            path = out / name
            if path.suffix != ".pub" and path.stat().st_mode & 0o077 and path.stat().st_size > 45:
                faults.append(f"{name} is open to others")
        return faults

    def is_whole(self, path):
        if self.old.get(path.name) is not None and path.read_bytes() == self.old[path.name]:
            return True
        if path.suffix == ".pub":
            return re.fullmatch(rb"[A-Za-z0-9+/]{43}=\n", path.read_bytes())
        if path.suffix == ".secret":
            made = start([TOOL, "certify", "--root", path, "--key", world.publisher / "release.pub", "--publisher", "Example Ltd",
                          "--apps", "com.example.*", "--days", "1", "-o", path.parents[1] / "proof.cert"])
            return made.status == 0
        if path.is_dir():
            return files(path) in world.contents.values()
        if path.suffix == ".nshpkg":
            return start([TOOL, "verify", path, "--root", world.root]).status == 0
        if path.name == "export.json":
            return start([TOOL, "store", "import", path, "--state", path.parents[1] / "imported", "--root", world.root]).status == 0
        return start([TOOL, "inspect", path]).status == 0


def makings():
    publisher = world.publisher
    signed = ["--key", publisher / "release.secret", "--certificate", publisher / "release.cert"]
    app = world.base / "app"
    (app / "assets").mkdir(parents=True)
    (app / "bundle.js").write_text("console.log(1)\n")
    (app / "assets" / "a.txt").write_text("a\n")
    (app / "app.json").write_text('{"id":"com.example.orders","name":"Orders","version":"1.0.0","build":4}\n')
    state = world.state("exported", world.small[5], lists=[world.first])
    yield Making("keygen", ["keygen", "{out}/key", "--no-password"], ("key.secret", "key.pub"))
    yield Making("certify", ["certify", "--root", publisher / "root.secret", "--key", publisher / "release.pub", "--publisher",
                             "Example Ltd", "--apps", "com.example.*", "--days", "9", "-o", "{out}/a.cert"], ("a.cert",),
                 {"a.cert": (publisher / "release.cert").read_bytes()})
    yield Making("revoke", ["revoke", "--root", publisher / "root.secret", "--previous", world.second, "-o", "{out}/list.json"],
                 ("list.json",))
    yield Making("publish", ["publish", app, *signed, "-o", "{out}/a.nshpkg"], ("a.nshpkg",),
                 {"a.nshpkg": world.small[6].read_bytes()})
    # Without compression the payload is written at its place before the header in front of it.
    yield Making("publish plain", ["publish", app, *signed, "--compression", "none", "-o", "{out}/a.nshpkg"], ("a.nshpkg",),
                 {"a.nshpkg": world.small[6].read_bytes()})
    yield Making("extract", ["extract", world.small[6], "{out}/tree", "--root", world.root], ("tree",))
    yield Making("export", ["store", "export", "--state", state, "-o", "{out}/export.json"], ("export.json",))


def attempt(point):
    """Kills or disturbs one run at one point, and has it done again."""
    making, many, call, effect = point
    place = world.base / f"worker-{os.getpid()}"
    for _ in range(TRIES):
        out = making.fresh(place)
        command = making.command(out)
        if many or effect == "short":
            ending = traced(place, call, effect if effect in ("kill", "short") else getattr(errno, effect), command)
        else:
            ending = strace(place, call, "signal=KILL" if effect == "kill" else f"error={effect}", command)
        if ending.reached:
            break
    faults = []
    if ending.reached:
        if effect == "kill":
            faults += [] if ending.status == -signal.SIGKILL else [f"ended by itself: {ending.brief()}"]
        elif ending.status not in ((0, 3) if may_fail(call, effect) else (0,)):
            faults.append(ending.brief())
        faults += making.faults(out, effect == "kill", ending.status == 0)
        if making.name == "keygen" and os.listdir(out):  # keys are never written over, so that is what is said
            for name in ("key.secret", "key.pub"):
                (out / name).unlink(missing_ok=True)
        elif making.name == "extract":
            shutil.rmtree(out / "tree", ignore_errors=True)
        again = start(command)
        faults += [] if again.status == 0 else [f"the same again: {again.brief()}"]
        faults += making.faults(out, effect == "kill", True)
    return making.name, call, effect, ending.reached, faults


def points(making):
    out = making.fresh(world.base / "record")
    calls, many = failing(world.base / "record" / "log", making.name, making.command(out))
    return [(making, many, call, effect) for call in calls[1:] for effect in ("kill", *effects(call))]


if __name__ == "__main__":
    needs_strace()
    world = World()
    tally = Tally(Checks())
    todo = [point for making in makings() for point in points(making)[::STEP]]
    for name, call, effect, reached, faults in everywhere(attempt, todo):
        kind = "killed" if effect == "kill" else effect
        tally.add(f"{kind}: {name}", f"{name}, {kind} at {call}", reached, faults)
    tally.finish()

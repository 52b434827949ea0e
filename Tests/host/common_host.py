"""What the suites of the hostile host share: a mount namespace of their own, small file systems, and one run of the tool.

Keys, packages, daemons and requests come from Tests/daemon/common_daemon.py. `enter()` starts the script again in a mount
namespace of its own, so that nothing it mounts is seen by others or outlives it; who is not root becomes root of a user
namespace, where the system allows that. There `IS_REAL_ROOT` is false: no other users exist.
"""
import contextlib
import ctypes
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "daemon"))

import common_daemon  # noqa: E402
from common_daemon import LONG, TOOL, Publisher, needs_programs, scratch  # noqa: E402

KIB, MIB = 1 << 10, 1 << 20
PASSPHRASE = "correct horse battery staple"
INSIDE = "NSH_HOST_NAMESPACE"
#: Root on the machine itself, not only in a user namespace.
IS_REAL_ROOT = os.geteuid() == 0 and re.fullmatch(r"\s*0\s+0\s+4294967295\s*", pathlib.Path("/proc/self/uid_map").read_text()) is not None
libc = ctypes.CDLL(None, use_errno=True)


class Checks(common_daemon.Checks):
    """Counts as its parent does, and says which known attacks held: those whose id a check's name begins with."""

    ATTACK = re.compile(r"([A-M]\d+) ")

    def __init__(self):
        super().__init__()
        self.attacks = {}

    def check(self, name, *faults):
        fine = super().check(name, *faults)
        if found := self.ATTACK.match(name):
            self.attacks[found[1]] = self.attacks.get(found[1], True) and fine
        return fine

    def finish(self):
        if self.attacks:
            print("known attacks: " + ", ".join(f"{name} {'held' if fine else 'FELL'}" for name, fine in sorted(self.attacks.items())))
        super().finish()


def enter():
    """Goes on in a mount namespace of its own. False when the system does not give one; then nothing can be mounted."""
    needs_programs()
    if os.environ.get(INSIDE):
        return True
    how = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    if subprocess.run([*how, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False).returncode:
        return False
    sys.stdout.flush()
    os.execvpe("unshare", [*how, sys.executable, *sys.argv], {**os.environ, INSIDE: "1"})


def mount(*arguments):
    subprocess.run(["mount", *map(str, arguments)], check=True, capture_output=True)


@contextlib.contextmanager
def tmpfs(place, size, inodes=None):
    """A file system in memory of so many bytes (and inodes) at a place, for as long as the block runs."""
    place.mkdir(exist_ok=True)
    mount("-t", "tmpfs", "-o", f"size={size},mode=755" + (f",nr_inodes={inodes}" if inodes else ""), "none", place)
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=False, capture_output=True)


def resize(place, size, inodes=0):
    mount("-o", f"remount,size={size}" + (f",nr_inodes={inodes}" if inodes else ""), place)


def used(place):
    """Bytes and inodes in use on a file system."""
    found = os.statvfs(place)
    return (found.f_blocks - found.f_bfree) * found.f_frsize, found.f_files - found.f_ffree


class Run:
    """How one run of the tool ended: `status` (None: it hung and was killed), `out`, `err`, and the object of its answer."""

    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    @property
    def object(self):
        try:
            return json.loads(self.out.splitlines()[0])
        except (IndexError, ValueError):
            return {}

    @property
    def code(self):
        """The code of a JSON answer, or of a remark in text form; None when all is well."""
        found = re.search(rb"nsh-pkgtool: (\w+): ", self.err)
        return self.object.get("code") or (found and found[1].decode())

    @property
    def said(self):
        return (self.out + self.err).decode(errors="replace")

    def __repr__(self):
        return f"exit status {self.status}, {self.said.strip()[:600]!r}"


def run(*arguments, program=TOOL, stdin=subprocess.DEVNULL, seconds=60, environment=None, **options):
    """Runs the tool to its end, or until the time is up."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("NSH_TRUST", "XDG_", INSIDE))}
    # Bytes, so that names that are not UTF-8 can be given, also where the locale is not.
    words = [word if isinstance(word, bytes) else os.fsencode(str(word)) for word in (program, *arguments)]
    given = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin}
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    try:
        done = subprocess.run(words, env={**kept, **(environment or {})}, timeout=seconds, check=False, **given, **options)
    except subprocess.TimeoutExpired as late:
        return Run(None, late.stdout or b"", late.stderr or b"")
    return Run(done.returncode, done.stdout or b"", done.stderr or b"")


def tree(place):
    """Every name below a place, with mode, and bytes or target: equal when nothing has changed."""
    found = {}
    for path in sorted(pathlib.Path(place).rglob("*")):
        status = path.lstat()
        kind = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[str(path.relative_to(place))] = (oct(status.st_mode), kind)
    return found


def remains(state):
    """What an unfinished change has left in a state directory: staged trees, databases half made."""
    state = pathlib.Path(state)
    left = [f"staging/{path.name}" for path in (state / "staging").glob("*")] if (state / "staging").exists() else []
    return left + [path.name for path in state.glob("trust.sqlite.new*")]


def installed(state):
    """The trees that an engine would find."""
    return sorted(str(path.relative_to(state)) for path in pathlib.Path(state).glob("apps/*/*"))


def whole(state, *, build):
    """What is wrong with a store in which this build is to be accepted, installed and undamaged."""
    apps, check = run("store", "apps", "--state", state, "--json"), run("store", "check", "--state", state)
    faults = [] if apps.object.get("build") == build else [f"build {build} is not the accepted one: {apps}"]
    if check.status != 0:
        faults.append(f"store check: {check}")
    directory = (apps.object.get("installed") or [{}])[0].get("directory")
    if not directory or subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=directory, check=False).returncode:
        faults.append(f"the tree is not what was signed: {directory}")
    return faults


def publisher(directory, *sizes, builds=(5, 6)):
    """A publisher with packages of one app of about so many bytes, which no compression makes smaller."""
    made = Publisher(directory)
    for build in builds:
        source = made / f"app-{build}"
        (source / "assets").mkdir(parents=True)
        (source / "bundle.js").write_text('console.log("hello")\n')
        for number, size in enumerate(sizes or (100 * KIB,)):
            (source / "assets" / f"{number}.bin").write_bytes(os.urandom(size))
        (source / "app.json").write_text(json.dumps({"id": "com.example.orders", "name": "Orders", "version": "1.0", "build": build}))
        common_daemon.tool("publish", source, "--quiet", "--key", made / "release.secret", "--certificate", made / "release.cert",
                           "--build", build, "-o", made / f"orders-{build}.nshpkg")
        shutil.rmtree(source)
    return made

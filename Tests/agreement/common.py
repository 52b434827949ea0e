"""What the agreement scripts share: running the tool and measuring it, making packages, counting, and the closing line.

Packages are made by testvectors/maker, which can write wrong things as well as right ones. The tool is the one in
NSH_PKGTOOL (default: the debug tool), the shared test data lies below NSH_SHARED (default: ../shared).
"""
import atexit
import base64
import dataclasses
import json
import marshal
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
VECTORS = PROJECT / "testvectors"
TOOL = os.path.abspath(os.environ.get("NSH_PKGTOOL", PROJECT / ".build" / "debug" / "nsh-pkgtool"))
SHARED = pathlib.Path(os.environ.get("NSH_SHARED", PROJECT.parent / "shared")).resolve()
LOGS = pathlib.Path(os.environ.get("NSH_TEST_LOGS", PROJECT / ".build" / "test-logs"))

sys.path.insert(0, str(VECTORS))

MIB = 1 << 20


# ---- counting ------------------------------------------------------------------------------------------------


class Checks:
    """Counts what passed, failed and was skipped, says what failed, and ends the script."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def check(self, name, *faults):
        """One test: passed when no fault is left; None and empty text are no faults."""
        faults = [fault for fault in faults if fault]
        if faults:
            self.failed += 1
            print(f"FAILED  {name}: {'; '.join(faults)}", flush=True)
        else:
            self.passed += 1
        return not faults

    def skip(self, count, why):
        if count:
            self.skipped += count
            print(f"skipped {count}: {why}", flush=True)

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed" + (f", {self.skipped} skipped" if self.skipped else ""), flush=True)
        sys.exit(1 if self.failed or not (self.passed or self.skipped) else 0)


def needs_shared(what: str = "conformance/nshpkg_ref.py"):
    """Ends the script when the shared test data is not there: skipped, or failed where it is required."""
    if not (SHARED / what).exists():
        print(f"no {what} below {SHARED}")
        required = os.environ.get("NSH_REQUIRE_SHARED") == "1"
        print("0 passed, 1 failed" if required else "0 passed, 0 failed, 1 skipped")
        sys.exit(1 if required else 0)


def needs_tool():
    if not os.access(TOOL, os.X_OK):
        print(f"no tool at {TOOL}; make build, or set NSH_PKGTOOL")
        print("0 passed, 1 failed")
        sys.exit(1)


# ---- scratch space -------------------------------------------------------------------------------------------


def scratch(name: str, memory: bool = False) -> pathlib.Path:
    """A directory that goes when the script ends; in memory where the system has such a place and it is asked for."""
    parent = os.environ.get("NSH_SCRATCH") or ("/dev/shm" if memory and os.access("/dev/shm", os.W_OK) else None)
    path = pathlib.Path(tempfile.mkdtemp(prefix=f"nsh-{name}-", dir=parent))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


def tree(path: pathlib.Path) -> dict:
    """Every file and directory below a path, with the bytes of small files; {} when the path is not there."""
    return {str(p.relative_to(path)): p.read_bytes() if p.is_file() and not p.is_symlink() and p.stat().st_size < MIB else None
            for p in sorted(path.rglob("*"))}


# ---- running the tool ----------------------------------------------------------------------------------------


@dataclasses.dataclass
class Answer:
    """How one run of the tool ended. `status` is None when its time was up, negative when a signal ended it."""

    status: int
    out: bytes
    err: bytes
    seconds: float
    peak: int  # bytes of resident memory

    def rows(self) -> list:
        return [json.loads(line) for line in self.out.decode("utf-8").splitlines()]

    def object(self):
        """The one JSON object on standard output, or None when that is not what stands there."""
        text = self.out.decode("utf-8", "replace")
        if not text.endswith("\n") or text.count("\n") != 1:
            return None
        try:
            value = json.loads(text, object_pairs_hook=_without_doubles)
        except ValueError:
            return None
        return value if isinstance(value, dict) else None

    def brief(self) -> str:
        what = "took too long" if self.status is None else f"exit status {self.status}"
        said = (self.out or self.err).decode("utf-8", "replace").strip().replace("\n", " | ")
        return f"{what}, {said[:300]}"


def _without_doubles(pairs):
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a name twice")
    return dict(pairs)


class Runner:
    """Runs the tool, one command at a time; each worker has its own."""

    def __init__(self):
        home = scratch("runner")
        self.out, self.err = str(home / "out"), str(home / "err")
        self.environment = {"HOME": str(home), "LC_ALL": "C.UTF-8", "PATH": os.environ.get("PATH", "/usr/bin:/bin"), "TERM": "dumb"}
        self.launcher = subprocess.Popen([sys.executable, "-I", "-S", str(HERE / "common_launch.py")],
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        atexit.register(self.launcher.stdin.close)

    def run(self, *arguments, tool=None, directory="/", stdin="/dev/null", seconds=120, environment=None) -> Answer:
        argv = [str(a) for a in (*(tool or [TOOL]), *arguments)]
        request = (argv, {**self.environment, **(environment or {})}, str(directory), str(stdin), self.out, self.err, float(seconds))
        marshal.dump(request, self.launcher.stdin)
        self.launcher.stdin.flush()
        status, taken, kibibytes = marshal.load(self.launcher.stdout)
        with open(self.out, "rb") as out, open(self.err, "rb") as err:
            return Answer(status, out.read(), err.read(), taken, kibibytes * 1024)


_local = threading.local()


def run(*arguments, **options) -> Answer:
    """Runs the tool in this thread's runner."""
    if not hasattr(_local, "runner"):
        _local.runner = Runner()
    return _local.runner.run(*arguments, **options)


CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def form(answer: Answer) -> list:
    """What is wrong with the outer form of an answer to one file with --json."""
    faults, said = [], answer.object()
    if said is None:
        faults.append("standard output is not one JSON object on one line")
    elif said.get("verdict") not in ("accepted", "refused", "error"):
        faults.append(f"verdict {said.get('verdict')!r}")
    else:
        status = {"accepted": 0, "refused": 1, "error": 3}[said["verdict"]]
        if answer.status != status:
            faults.append(f"exit status {answer.status}, but the verdict is {said['verdict']}")
        if (said.get("code") is None) != (said["verdict"] == "accepted"):
            faults.append(f"code {said.get('code')!r} with verdict {said['verdict']}")
    for what, data in (("standard output", answer.out), ("standard error", answer.err)):
        try:
            if CONTROL.search(data.decode("utf-8")):
                faults.append(f"{what} has a raw control character: {data[:200]!r}")
        except UnicodeDecodeError:
            faults.append(f"{what} is not UTF-8")
    return faults


def code_of(answer: Answer) -> str:
    """The code of an answer with --json, or `accepted`; text that is no code when there is none."""
    said = answer.object()
    return (said.get("code") or said.get("verdict") or "?") if said else f"({answer.brief()})"


# ---- the reference -------------------------------------------------------------------------------------------


def reference():
    """The reference reader as a module. `needs_shared` comes first."""
    import check_reference
    return check_reference.load(SHARED)


def reference_code(module, data: bytes, roots, at, **options) -> str:
    """The reference's answer to a package: a code or `accepted`; `crash NAME` when it failed by itself."""
    try:
        module.verify(data, roots, options.pop("lists", ()), at, **options)
        return "accepted"
    except module.Refused as refusal:
        return refusal.code
    except Exception as error:  # a crash of the reference is an answer too
        return f"crash {type(error).__name__}"


def write_key(path: pathlib.Path, public: bytes) -> pathlib.Path:
    path.write_bytes(base64.b64encode(public) + b"\n")
    return path

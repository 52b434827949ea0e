"""What the scripts about publishing share: the tool, fixed times, a temporary directory for each part, counting."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = os.environ.get("NSH_PKGTOOL", str(ROOT / ".build" / "debug" / "nsh-pkgtool"))
SHARED = pathlib.Path(os.environ.get("NSH_SHARED", str(ROOT.parent / "shared")))
REFERENCE = SHARED / "conformance" / "nshpkg_ref.py"

# All documents are made in one window, and judged within it, whatever the day.
NOT_BEFORE, SIGNED_AT, NOW, NOT_AFTER = 1764460800, 1764470000, 1764480000, 1795996800


class Checks:
    """Counts what holds and what does not, and goes on after a failure."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def check(self, name, holds, why=""):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAIL  {name}{': ' if why else ''}{why}", flush=True)
        return holds

    def equal(self, name, found, expected):
        return self.check(name, found == expected, f"found {found!r}, expected {expected!r}")

    def raises(self, name, errors, body):
        try:
            body()
        except errors:
            return self.check(name, True)
        return self.check(name, False, "nothing was raised")

    def skip(self, name, why):
        self.skipped += 1
        print(f"skip  {name}: {why}", flush=True)

    def run(self, *parts):
        """Runs functions of (checks, directory), each in a directory of its own; an exception is a failure of its own."""
        for part in parts:
            directory = pathlib.Path(tempfile.mkdtemp(prefix="nsh-agreement."))
            try:
                part(self, directory)
            except Exception as error:
                traceback.print_exc()
                self.check(part.__name__, False, f"{type(error).__name__}: {error}")
            finally:
                shutil.rmtree(directory)
        print(f"{self.passed} passed, {self.failed} failed" + (f", {self.skipped} skipped" if self.skipped else ""))
        sys.exit(1 if self.failed or not (self.passed or self.skipped) else 0)


class Result:
    """What a run of a program gave."""

    def __init__(self, process):
        self.status, self.output, self.errors = process.returncode, process.stdout, process.stderr.decode(errors="replace")

    def json(self):
        """The first line of the output as JSON."""
        return json.loads(self.output.splitlines()[0])


def run(*command, directory=None, **environment):
    keep = {name: value for name, value in os.environ.items()
            if name not in ("NSH_TRUST_ROOTS", "NSH_TRUST_STATE", "NSH_TRUST_SOCKET", "SOURCE_DATE_EPOCH")}
    keep |= {"HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent", "SOURCE_DATE_EPOCH": str(SIGNED_AT)} | environment
    return Result(subprocess.run([str(part) for part in command], cwd=directory, env=keep, stdin=subprocess.DEVNULL,
                                 capture_output=True, timeout=300))


def tool(*arguments, directory=None, status=0, **environment):
    """Runs the tool; any other exit status than the expected one is an error. None expects nothing."""
    result = run(TOOL, *arguments, directory=directory, **environment)
    if status is not None and result.status != status:
        raise RuntimeError(f"{' '.join(map(str, arguments))}: exit status {result.status}, expected {status}\n{result.errors}")
    return result


def has_verb(verb):
    return tool("help", verb, status=None).status == 0


def reference(*arguments, directory=None):
    """Runs the reference reader and writer."""
    return run(sys.executable, REFERENCE, *arguments, directory=directory)


def certify(directory, root="root.secret", key="release.pub", output="release.cert", apps="com.example.*", *more):
    tool("certify", "--root", root, "--key", key, "--publisher", "Example Ltd", "--apps", apps, "--not-before", NOT_BEFORE,
         "--not-after", NOT_AFTER, "-o", output, *more, directory=directory)


def keygen(directory, *names):
    for name in names:
        tool("keygen", name, "--no-password", directory=directory)

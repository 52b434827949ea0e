"""How many questions a second a program that links the library gets answered: `check`, and keys looked up in a long list.

GuardProbe (Benchmarks/guard/Probe) asks; a short run is taken off a long one, so that its start does not count. A look-up is of
a key that the list does not name, a thousand of them in a snapshot, and includes the SHA-256 that makes the next key. The first
look-ups of a process are answered by SQLite; it is said how many a second, and how many once what is revoked is in memory.
"""

import os
import pathlib

import lists
import page
from host import say

PROBE = os.path.abspath(os.environ.get("NSH_PROBE", page.ROOT / ".build" / "release" / "GuardProbe"))
FEW = 1_000
FIRST = 4_000  # look-ups that are too few for anything to be kept in memory
THREADS = (1, 2, 4, 8, 16, 32, 64)
LIST = 1_000_000


def per_second(host, question, state, digest, count, threads=1, few=FEW):
    """Answers a second on so many threads together."""
    root = (pathlib.Path(host.publisher / "root.pub")).read_text().strip()
    seconds = [
        host.time(
            [PROBE, question, str(state), root, digest, str(times), *([str(threads)] if threads > 1 else [])],
            1 if host.quick else 5,
        )["milliseconds"]
        / 1000
        for times in (few, count)
    ]
    return round(threads * (count - few) / (seconds[1] - seconds[0]))


def is_there():
    if not os.access(PROBE, os.X_OK):
        print(f"in-process: no program at {PROBE} (make build-probe)", flush=True)
    return os.access(PROBE, os.X_OK)


def threads(host):
    """A row for each number of threads that ask `check`; none when the probe is not built."""
    if not is_there():
        return
    package = host.publisher.package(1, app="threaded")
    state = host.folder("threads") / "state"
    host.time(host.tool("open", package, "--state", state), 1, warm=False)
    for count in THREADS:
        checks = FEW + (400_000 if host.quick else 8_000_000) // count
        yield say(
            "threads", {"size": count, "checksPerSecond": per_second(host, "check", state, host.digest(package), checks, count)}
        )


def measure(host):
    """One row; none when the probe is not built."""
    if not is_there():
        return
    package = host.publisher.package(1, app="probed")
    folder = host.folder("inprocess")
    state = folder / "state"
    host.time(host.tool("open", package, "--state", state), 1, warm=False)
    digest, checks = host.digest(package), 400_000 if host.quick else 8_000_000
    row = {
        "size": 10_000 if host.quick else LIST,
        "checksPerSecond": per_second(host, "check", state, digest, checks),
        "checksPerSecondTwoThreads": per_second(host, "check", state, digest, checks, 2),
    }
    lists.make(host, folder / "list.json", row["size"])
    host.time(host.tool("update-revocations", folder / "list.json", "--state", state), 1, warm=False)
    yield say(
        "inProcess",
        {
            **row,
            "checksPerSecondWithList": per_second(host, "check", state, digest, checks),
            "firstLookUpsPerSecond": per_second(host, "lookup", state, digest, FIRST, few=FIRST // 8),
            "lookUpsPerSecond": per_second(host, "lookup-often", state, digest, 1_000_000 if host.quick else 5_000_000),
        },
    )

"""1 to 64 connections to one daemon, and 1 to 32 processes of the tool at once."""

import os
import shutil

from host import say

CONNECTIONS = (1, 2, 4, 8, 16, 32, 64)
PROCESSES = (1, 2, 4, 8, 16, 32)
JOBS = 64


def connections(host):
    """A row for each number of keep-alive connections that ask `check`, on one daemon."""
    package = host.publisher.package(1, app="asked")
    state = host.folder("connections") / "state"
    host.time(host.tool("open", package, "--state", state), 1, warm=False)
    daemon = host.daemon(state, "asked")
    with daemon.start():
        for count in CONNECTIONS:
            found = host.load(daemon, [("check", {"digest": host.digest(package)})], count, 0.3 if host.quick else 1.5)
            yield say("connections", {"size": count, "checksPerSecond": found["rate"], "p99Microseconds": found["p99"]})


def processes(host):
    """A row for each number of processes at once, over 64 jobs: verifying a package of 10 MB, and opening 64 apps into one store."""
    large = host.publisher.package(1, app="shared", size=10_000_000)
    small = [host.publisher.package(1, app=f"each{number}") for number in range(JOBS)]
    folder = host.folder("processes")
    verifies, opens, state = folder / "verifies", folder / "opens", folder / "state"
    verifies.write_text(f"{large}\n" * JOBS)
    opens.write_text("".join(f"{path}\n" for path in small))
    xargs = shutil.which("xargs")
    for count in PROCESSES:
        each = lambda jobs, *command: [xargs, "-a", str(jobs), "-P", str(count), "-n", "1", *command]
        rounds = 1 if host.quick else 3
        verified = host.time(each(verifies, *host.tool("verify")), rounds)
        opened = host.time(
            each(opens, *host.tool("open", "--state", state)), rounds, lambda: shutil.rmtree(state, ignore_errors=True)
        )
        yield say(
            "processes",
            {
                "size": count,
                "verifiesPerSecond": round(JOBS * 1000 / verified["milliseconds"], 1),
                "opensPerSecond": round(JOBS * 1000 / opened["milliseconds"], 1),
                "processors": len(os.sched_getaffinity(0)),
            },
        )

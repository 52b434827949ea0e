"""How fast the daemon answers, beside a bare libmicrohttpd that sends a fixed body, on the same socket kind by turns.

    python3 Benchmarks/daemon/bench.py [--quick] [--write]     (make bench-daemon, make bench-daemon QUICK=1)

`check` of an installed package, `verify` and `open` of a small one, at 1, 8, 64 and 512 keep-alive connections, each beside
the same requests to `bare`; `open` of an installed package of 200 MB, which must not take longer than that of a small one; and
`check` at 64 connections while packages of 200 MB are opened one after another. --write puts tables and chart into docs/.

Needs the release tool and daemon (NSH_PKGTOOL, NSH_TRUSTD), gcc, libmicrohttpd-dev, and 6 GB in /dev/shm.
"""

import argparse
import contextlib
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
BENCHMARKS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(BENCHMARKS / "common"), str(BENCHMARKS.parent / "Tests" / "daemon")]
import goals  # noqa: E402
import page  # noqa: E402
import report  # noqa: E402
from common_daemon import MIB, digest, within, world  # noqa: E402

CONNECTIONS = (1, 8, 64, 512)
LARGE = 11
#: Requests a second in the mixed load whose latency counts from when they are due.
RATE_DUE = 10_000


class Bench:
    """The daemon, the bare server, and how loads are put on them."""

    def __init__(self, publisher, daemon, quick):
        self.publisher, self.daemon, self.directory = publisher, daemon, daemon.directory
        self.rounds, self.seconds = (1, 0.5) if quick else (5, 1.5)
        self.numbers = itertools.count()
        self.load_program, self.bare_program = page.compiled("daemon/load"), page.compiled("daemon/bare", "-lmicrohttpd")

    def request(self, route, **members):
        """A file with the bytes of one request."""
        body = json.dumps(members, separators=(",", ":")).encode()
        path = self.directory / f"request-{next(self.numbers)}"
        path.write_bytes(
            b"POST /v1/packages/%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
            % (route.encode(), len(body), body)
        )
        return path

    def load(self, server, requests, connections, seconds=None, rate=0):
        """One run of the load generator on a server, given as (socket, process id): its numbers."""
        words = [
            self.load_program,
            server[0],
            connections,
            seconds or self.seconds,
            rate,
            server[1],
            '"accepted"',
            *requests,
        ]
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=120, check=False)
        if done.returncode:
            sys.exit(
                f"bench-daemon: {' '.join(map(str, words))}: exit status {done.returncode}\n{done.stdout}{done.stderr}{self.daemon.log()[-2000:]}"
            )
        return json.loads(done.stdout)

    @contextlib.contextmanager
    def bare(self, body):
        """The bare server with a fixed body: (socket, process id)."""
        socket, answer = self.directory / "bare.sock", self.directory / "answer"
        answer.write_bytes(body)
        process = subprocess.Popen(
            [self.bare_program, str(socket), str(answer), str(min(len(os.sched_getaffinity(0)), 8))]
        )
        try:
            if not within(10, socket.exists):
                sys.exit("bench-daemon: the bare server does not start")
            yield str(socket), process.pid
        finally:
            process.terminate()
            process.wait(10)

    @property
    def ours(self):
        return str(self.daemon.socket), self.daemon.pid


def median(runs):
    """The medians of the numbers of several runs."""
    return {name: round(statistics.median(run[name] for run in runs), 2) for name in runs[0]}


def beside_bare(bench, name, request, body):
    """One kind of request at each number of connections, the daemon and the bare server by turns."""
    rows = []
    with bench.bare(body) as bare:
        for connections in CONNECTIONS:
            pairs = []
            for number in range(bench.rounds):
                order = (bare, bench.ours) if number % 2 else (bench.ours, bare)
                runs = {server: bench.load(server, [request], connections) for server in order}
                pairs.append((runs[bare], runs[bench.ours]))
            plain, ours = median([pair[0] for pair in pairs]), median([pair[1] for pair in pairs])
            rows.append(
                {
                    "request": name,
                    "connections": connections,
                    "bare": plain,
                    "ours": ours,
                    "rateRatio": round(statistics.median(b["rate"] / a["rate"] for a, b in pairs), 3),
                    "p99Ratio": round(statistics.median(b["p99"] / a["p99"] for a, b in pairs), 3),
                }
            )
            print(
                f"{name:>22}, {connections:3} connections: {ours['rate']:9,.0f}/s beside {plain['rate']:9,.0f}/s ({rows[-1]['rateRatio']:.2f}), "
                f"p99 {ours['p99']:8,.0f} us ({rows[-1]['p99Ratio']:.2f}), overloaded {ours['overloaded']:.0f}",
                flush=True,
            )
    return rows


def opened_again(bench, small, large):
    """`open` of installed packages, small and of 200 MB, by turns on one connection: what an open costs without a process."""
    runs = {"small": [], "large": []}
    for _ in range(bench.rounds):
        for name, request in (("small", small), ("large", large)):
            runs[name].append(bench.load(bench.ours, [request], 1))
    return {name: median(rows) for name, rows in runs.items()}


def mixed(bench, request, packages):
    """`check` at 64 connections, alone and while large packages are opened one after another, by turns.

    Each is of an app of its own, so that it is read whole; when all are installed they are verified, which reads as much.
    """
    opened, waiting = [], list(packages)
    seconds = max(bench.seconds * 2, 1.0)

    def keep_opening(stop):
        while not stop.is_set():
            route, package = ("open", waiting.pop()) if waiting else ("verify", packages[0])
            started = time.monotonic()
            status = bench.daemon.post(f"/v1/packages/{route}", {"path": str(package)}, timeout=120).status
            opened.append({"route": route, "status": status, "seconds": round(time.monotonic() - started, 3)})

    def while_opening(rate):
        stop = threading.Event()
        worker = threading.Thread(target=keep_opening, args=(stop,))
        worker.start()
        try:
            return bench.load(bench.ours, [request], 64, seconds, rate)
        finally:
            stop.set()
            worker.join()

    alone, beside, due_alone, due_beside = [], [], [], []
    for _ in range(1 if bench.rounds == 1 else 3):
        alone.append(bench.load(bench.ours, [request], 64, seconds))
        beside.append(while_opening(0))
        due_alone.append(bench.load(bench.ours, [request], 64, seconds, RATE_DUE))
        due_beside.append(while_opening(RATE_DUE))
    if any(row["status"] != 200 for row in opened):
        sys.exit(f"bench-daemon: a large package was not opened: {opened}")
    opens = [row["seconds"] for row in opened if row["route"] == "open"]
    return {
        "alone": median(alone),
        "beside": median(beside),
        "dueAlone": median(due_alone),
        "dueBeside": median(due_beside),
        "rateDue": RATE_DUE,
        "opens": len(opens),
        "verifies": len(opened) - len(opens),
        "openSeconds": round(statistics.median(opens), 3),
        "p99Ratio": round(statistics.median(b["p99"] / a["p99"] for a, b in zip(alone, beside)), 2),
    }


def main():
    options = argparse.ArgumentParser(description="Loads the daemon beside a bare libmicrohttpd.")
    options.add_argument("--quick", action="store_true", help="one short round of each")
    options.add_argument("--write", action="store_true", help="write tables, chart and results into the repository")
    chosen = options.parse_args()
    page.needs({"gcc": "gcc"})
    publisher, daemon = world(base=page.scratch_base(1_500_000_000 if chosen.quick else 6_000_000_000))
    with daemon:
        bench = Bench(publisher, daemon, chosen.quick)
        machine = page.Machine()
        small = publisher.package(1)
        large = [publisher.package(1, app=f"large{number}", size=200 * MIB) for number in range(2 if chosen.quick else LARGE)]
        answers = {"open": daemon.open(small), "verify": daemon.post("/v1/packages/verify", {"path": str(small)})}
        answers["check"] = daemon.check(digest(small))
        requests = {
            "check": bench.request("check", digest=digest(small)),
            "verify": bench.request("verify", path=str(small)),
            "open": bench.request("open", path=str(small)),
        }
        loads = [row for name, request in requests.items() for row in beside_bare(bench, name, request, answers[name].body)]
        first = large.pop()
        daemon.open(first, timeout=120)
        again = opened_again(bench, requests["open"], bench.request("open", path=str(first)))
        results = {"loads": loads, "openedAgain": again, "mixed": mixed(bench, requests["check"], large)}
    results["machine"] = {**machine.describe(), "rounds": bench.rounds, "quick": chosen.quick}
    print(report.tables(results))
    if chosen.write:
        goals.publish("daemon", results, report.tables(results), report.drawn(results))


if __name__ == "__main__":
    main()

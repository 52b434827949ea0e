"""Curves: what a run costs with ever larger lists, stores and packages, and with ever more askers.

    python3 Benchmarks/scale/bench.py [--quick] [--only CURVE]... [--write]     (make bench-scale, make bench-scale QUICK=1)

Revocation lists of 10³ to 10⁶ keys (lists.py), stores of 10 to 10⁶ apps (stores.py), packages of 1 MB to 4 GB and of 10 to
100,000 files (sizes.py), 1 to 64 connections to a daemon and 1 to 32 processes (parallel.py), questions in-process
(inprocess.py). All of it lies in memory; what does not fit is passed over and said. --write puts tables and charts into
docs/, and keeps curves that were not asked for.

Needs the release tool, daemon and probe (NSH_PKGTOOL, NSH_TRUSTD, NSH_PROBE), gcc, libsodium, and 10 GB in /dev/shm
for the package of 4 GB.
"""

import argparse
import math
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
BENCHMARKS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [
    str(pathlib.Path(__file__).resolve().parent),
    str(BENCHMARKS / "common"),
    str(BENCHMARKS.parent / "Tests" / "daemon"),
]
import goals  # noqa: E402
import inprocess  # noqa: E402
import lists  # noqa: E402
import page  # noqa: E402
import parallel  # noqa: E402
import report  # noqa: E402
import sizes  # noqa: E402
import stores  # noqa: E402
from host import Host  # noqa: E402

CURVES = {
    "inProcess": inprocess.measure,
    "threads": inprocess.threads,
    "lists": lists.measure,
    "apps": stores.measure,
    "bytes": sizes.by_bytes,
    "files": sizes.by_files,
    "connections": parallel.connections,
    "processes": parallel.processes,
}


def exponent(rows, member):
    """How fast a time grows between the last two points but for what it costs at the first: 1 is linear."""
    before, last = rows[-2], rows[-1]
    start = min(rows[0][member], before[member] / 2)
    return math.log((last[member] - start) / (before[member] - start)) / math.log(last["size"] / before["size"])


def growth(results):
    """The exponents of growth with bytes and with files."""
    return {
        f"{verb} by {name}": round(exponent(results[name], f"{verb}Milliseconds"), 2)
        for name in ("bytes", "files")
        if len(results.get(name, [])) > 2
        for verb in ("verify", "open")
    }


def main():
    options = argparse.ArgumentParser(description="Draws curves over lists, stores, packages, connections and processes.")
    options.add_argument("--quick", action="store_true", help="the smaller sizes only, fewer rounds")
    options.add_argument("--only", action="append", choices=list(CURVES), help="only this curve (may be repeated)")
    options.add_argument("--write", action="store_true", help="write tables, chart and results into the repository")
    chosen = options.parse_args()
    page.needs({"gcc": "gcc", "xargs": "findutils"})
    results = (page.load("scale") or {}) if chosen.only else {}
    with tempfile.TemporaryDirectory(prefix="nsh-scale.", dir=page.scratch_base(1_000_000_000)) as directory:
        machine, host = page.Machine(), Host(directory, chosen.quick)
        for name in chosen.only or CURVES:
            results[name] = list(CURVES[name](host))
    results["machine"] = {**machine.describe(), "quick": chosen.quick}
    results["growth"] = growth(results)
    print(report.tables(results))
    if chosen.write:
        goals.publish("scale", results, report.tables(results), report.drawn(results))


if __name__ == "__main__":
    main()

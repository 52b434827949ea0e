"""How long it takes to verify, extract, open and publish, beside other programs that do the same or less.

    python3 Benchmarks/packages/bench.py [--quick] [--shape NAME]... [--write]     (make bench, make bench QUICK=1)

For four apps, uncompressed and with zstd, rows by turns in one run: ours; `floor`, the least that a program in C can do
(floor.c); `minisign`, alone and with bsdtar; `gpgv`, alone and with tar. Everything is in the page cache and on tmpfs,
except the rows "on disk", which end when what was written is durable. --write puts the table into docs/performance.md
and the chart into docs/performance.svg. Quote the ratios: the milliseconds are this machine's.

Needs the release tool (NSH_PKGTOOL), 2 GB in /dev/shm, 6 GB on the disk, and the Debian packages of the group `bench` in
scripts/debian-packages; a program that is missing is named, and nothing is measured.
"""

import argparse
import pathlib
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "common"), str(pathlib.Path(__file__).resolve().parent)]
import chart  # noqa: E402
import goals  # noqa: E402
import page  # noqa: E402
import trees  # noqa: E402
from measure import interleaved  # noqa: E402
from workshop import PROGRAMS, Package, Workshop  # noqa: E402

ROUNDS = {"100 KB": 25, "10 MB": 11, "200 MB": 5, "10,000 files": 5}
MARKS = (
    "floor in C, 2 threads",
    "minisign, bsdtar to unpack",
    "minisign + tar, zstd",
    "gpgv, tar to unpack",
    "floor + file digests",
)
KINDS = {
    "floor, 2 threads": 0,
    "floor, 2 threads, syncfs": 0,
    "minisign -V": 1,
    "minisign + bsdtar": 1,
    "tar, zstd, minisign": 2,
    "minisign + tar": 2,
    "gpgv": 3,
    "gpgv + tar": 3,
    "floor + file digests": 4,
}


def beside(job):
    """(name, milliseconds, ours divided by it) of each other row of a job."""
    ours, *others = job["rows"]
    return [(row["name"], row["milliseconds"], ours["milliseconds"] / row["milliseconds"]) for row in others]


def shown(job):
    """One job as one line, while it runs."""
    ours = job["rows"][0]
    others = ", ".join(f"{name} {time:.1f} ({ratio:.2f})" for name, time, ratio in beside(job))
    return f"{job['shape']:>12}  {job['compression']:4}  {job['job']:21}  {ours['milliseconds']:8.1f} ms, {ours['peakMiB']:5.1f} MiB | {others}"


def table(results):
    """All jobs: milliseconds of everybody, and in brackets what part of theirs ours takes."""
    rows = []
    for job in results["results"]:
        ours = job["rows"][0]
        others = " · ".join(f"{name} {page.number(time)} (**{ratio:.2f}**)" for name, time, ratio in beside(job))
        rows.append(
            [
                job["job"],
                job["shape"],
                job["compression"],
                page.number(ours["milliseconds"]),
                page.number(ours["processor"]),
                f"{ours['peakMiB']:.1f}",
                others,
            ]
        )
    hashing = [
        job["rows"]
        for job in results["results"]
        if (job["job"], job["shape"], job["compression"]) == ("verify", "200 MB", "none")
    ]
    gain = "".join(
        f" On 200 MB a second thread makes the floor's hashing {rows[1]['milliseconds'] / rows[2]['milliseconds']:.2f} times as fast as one."
        for rows in hashing
    )
    starts = ", ".join(
        f"`{row['name']}` {row['milliseconds']:.2f} ms and {row['peakMiB']:.1f} MiB" for row in results["starts"]
    )
    return "\n\n".join(
        [
            page.sentence(results["machine"]),
            f"Processes that start and do nothing: {starts}.{gain}",
            page.table(["job", "app", "packing", "ours, ms", "processor, ms", "peak, MiB", "beside, ms (ours ÷ theirs)"], rows),
        ]
    )


def drawn(results):
    """Ours divided by each other program's time, for each job and app."""
    names = list(dict.fromkeys(job["job"] for job in results["results"]))
    groups = []
    for name in names:
        if name == "open again":
            continue
        rows = [
            (
                f"{job['shape']}, {job['compression']}",
                [(KINDS[other], ratio) for other, _, ratio in beside(job) if other in KINDS],
            )
            for job in results["results"]
            if job["job"] == name
        ]
        groups.append((name, rows))
    return chart.ratios(
        "nsh-pkgtool’s time divided by that of other programs",
        MARKS,
        groups,
        "Left of the line at 1× nsh-pkgtool is faster, right of it the other. Logarithmic; medians of one run by turns.",
    )


def measure(shop, shapes, quick):
    """Every job of each app in each packing: the results as documents."""
    results = []
    for shape in shapes:
        tree = shop.memory / "trees" / shape.replace(" ", "-")
        files = trees.make(tree, shape)
        rounds = 3 if quick else ROUNDS[shape]
        for compression in ("none", "zstd"):
            package = Package(shop, shape, tree, compression)
            package.prove()
            for name, rows in package.jobs():
                counted = min(rounds, 5) if "disk" in name else rounds
                interleaved(rows, counted, shop.timed)
                results.append(
                    {
                        "shape": shape,
                        "files": files,
                        "compression": compression,
                        "job": name,
                        "rounds": counted,
                        "rows": [row.document() for row in rows],
                    }
                )
                print(shown(results[-1]), flush=True)
            package.remove()
        shutil.rmtree(tree)
    return sorted(results, key=lambda job: list(dict.fromkeys(other["job"] for other in results)).index(job["job"]))


def main():
    options = argparse.ArgumentParser(description="Times verify, extract, open and publish beside other programs.")
    options.add_argument("--quick", action="store_true", help="three rounds of each")
    options.add_argument("--shape", action="append", choices=list(trees.SHAPES), help="only this app (may be repeated)")
    options.add_argument("--write", action="store_true", help="write table, chart and results into the repository")
    chosen = options.parse_args()
    page.needs(PROGRAMS)
    disk_base = page.ROOT / ".build" / "bench"
    disk_base.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(
        prefix="nsh-bench.", dir=page.scratch_base(2_000_000_000)
    ) as memory, tempfile.TemporaryDirectory(prefix="disk.", dir=disk_base) as disk:
        machine, shop = page.Machine(), Workshop(pathlib.Path(memory), pathlib.Path(disk))
        try:
            starts = [row.document() for row in interleaved(shop.starts(), 5 if chosen.quick else 25, shop.timed)]
            measured = measure(shop, chosen.shape or list(trees.SHAPES), chosen.quick)
        finally:
            shop.close()
    results = {
        "machine": {**machine.describe(), "quick": chosen.quick},
        "idlePeakMiB": starts[0]["peakMiB"],
        "starts": starts,
        "results": measured,
    }
    print(table(results))
    if chosen.write:
        goals.publish("packages", results, table(results), drawn(results))


if __name__ == "__main__":
    main()

"""The goals with what was reached, from the kept results of the three benchmarks, for docs/performance.md.

python3 Benchmarks/common/goals.py [--write]
"""

import sys

import page


class Kept:
    """The kept results; whatever is not there makes a goal `not measured`."""

    def __init__(self):
        self.packages, self.daemon, self.scale = (page.load(name) or {} for name in ("packages", "daemon", "scale"))

    def jobs(self, *names, shape=None, compression=None):
        found = [
            job
            for job in self.packages["results"]
            if job["job"] in names and shape in (None, job["shape"]) and compression in (None, job["compression"])
        ]
        if not found:
            raise KeyError(names)
        return found

    @staticmethod
    def ratio(job, peer):
        """Ours divided by a peer's row."""
        rows = {row["name"]: row["milliseconds"] for row in job["rows"]}
        return job["rows"][0]["milliseconds"] / rows[peer]

    def worst(self, jobs, peer):
        """The worst of several ratios, and where it was."""
        return max((self.ratio(job, peer), f"{job['job']}, {job['shape']}, {job['compression']}") for job in jobs)

    def load(self, request, connections):
        return self.only(row for row in self.daemon["loads"] if row["request"] == request and row["connections"] == connections)

    def curve(self, name, size):
        return self.only(row for row in self.scale[name] if row["size"] == size)

    @staticmethod
    def only(rows):
        for row in rows:
            return row
        raise KeyError


def _below(value, bound, where=""):
    return f"{value:.2f}{f' ({where})' if where else ''}", value <= bound


def _worst(kept, jobs, peer, bound):
    value, where = kept.worst(jobs, peer)
    met = sum(kept.ratio(job, peer) <= bound for job in jobs)
    return f"{value:.2f} at worst ({where}); {met} of {len(jobs)} rows", value <= bound


def verify_small(kept):
    return _below(kept.ratio(kept.jobs("verify", shape="100 KB", compression="none")[0], "minisign -V"), 1.5)


def verify_large(kept):
    return _below(kept.ratio(kept.jobs("verify", shape="200 MB", compression="none")[0], "minisign -V"), 0.5)


def verify_hash(kept):
    job = kept.jobs("verify", shape="200 MB", compression="none")[0]
    value, twice = kept.ratio(job, "SHA-256, 2 threads"), kept.ratio(job, "floor + file digests")
    return f"{value:.2f}; {twice:.2f} beside the floor that hashes each file too", value <= 1.3


def unpack_floor(kept):
    jobs = kept.jobs("extract", "open")
    found, met = _worst(kept, jobs, "floor, 2 threads", 1.3)
    again, _ = _worst(kept, jobs, "floor + file digests", 1.3)
    return f"{found}; beside the floor that hashes each file too {again}", met


def unpack_minisign(kept):
    return _worst(kept, kept.jobs("extract", "open"), "minisign + bsdtar", 0.6)


def many_files(kept):
    return _worst(kept, kept.jobs("extract", shape="10,000 files"), "minisign + tar", 1.0)


def on_disk(kept):
    return _worst(kept, kept.jobs("open on disk, durable"), "floor, 2 threads, syncfs", 1.3)


def again(kept):
    small, large = (kept.daemon["openedAgain"][name]["p50"] / 1000 for name in ("small", "large"))
    return (
        f"{large:.2f} ms, {large / small:.2f} × a small one's, over a socket of the daemon",
        large < 2 and large <= 1.1 * small,
    )


def memory(kept):
    idle = kept.packages["idlePeakMiB"]
    peaks = [
        (job["rows"][0]["peakMiB"] - idle, f"{job['job']}, {job['shape']}, {job['compression']}")
        for job in kept.jobs("verify", "extract", "open", "publish")
    ]
    peaks += [
        (row[f"{job}PeakMiB"] - idle, f"{job}, {row['size'] / 1e6:,.0f} MB")
        for row in kept.scale.get("bytes", [])
        for job in ("verify", "open")
    ]
    peaks += [
        (row[f"{job}PeakMiB"] - idle, f"{job}, {row['size']:,} files")
        for row in kept.scale.get("files", [])
        for job in ("verify", "open")
    ]
    value, where = max(peaks)
    return f"{value:.1f} MiB at most ({where})", value <= 24


def publish(kept):
    return _worst(kept, kept.jobs("publish", shape="200 MB"), "tar, zstd, minisign", 1.2)


def check_in_process(kept):
    row = kept.only(kept.scale["inProcess"])
    one, two = row["checksPerSecond"], row["checksPerSecondTwoThreads"]
    return f"{one:,.0f}/s, on two threads {two:,.0f}/s", one > 1e6 and two > 1.8 * one


def check_rate(kept):
    row = kept.load("check", 64)
    return f"{row['rateRatio']:.2f}; p99 {row['p99Ratio']:.2f}", row["rateRatio"] >= 0.8 and row["p99Ratio"] <= 1.3


def check_mixed(kept):
    return _below(kept.daemon["mixed"]["p99Ratio"], 2)


def list_apply(kept):
    row = kept.curve("lists", 1_000_000)
    return (
        f"{row['applySeconds']:.2f} s, {row['applyPeakMiB']:.0f} MiB",
        row["applySeconds"] <= 3 and row["applyPeakMiB"] <= 150,
    )


def list_look_up(kept):
    rate = kept.curve("inProcess", 1_000_000)["lookUpsPerSecond"]
    return f"{rate:,.0f}/s", rate > 1e6


def list_start(kept):
    small, large = (kept.curve("lists", size)["verifyMilliseconds"] for size in (1_000, 1_000_000))
    return f"verify {large / small:.2f} × as long as with 1,000 entries", large <= 1.1 * small


def many_apps(kept):
    small, large = kept.curve("apps", 10), kept.curve("apps", 1_000_000)
    opens, checks = large["openMilliseconds"] / small["openMilliseconds"], small["checksPerSecond"] / large["checksPerSecond"]
    return f"open {opens:.2f} ×, check {checks:.2f} × as long as with ten", opens <= 1.1 and checks <= 1.1


def growth(kept):
    growths = kept.scale["growth"]
    return (
        ", ".join(f"{name} {value:.2f}" for name, value in growths.items()) + " (exponents; 1 is linear)",
        max(growths.values()) <= 1.1,
    )


GOALS = [
    ("`verify` of 100 KB beside `minisign -V`", "≤ 1.5 ×", verify_small),
    ("`verify` of 200 MB beside `minisign -V`", "≤ 0.5 ×", verify_large),
    ("`verify` of 200 MB beside SHA-256 on two cores", "≤ 1.3 ×", verify_hash),
    ("`extract`, `open` on tmpfs beside the floor", "≤ 1.3 ×", unpack_floor),
    ("`extract`, `open` on tmpfs beside `minisign` + `bsdtar`", "≤ 0.6 ×", unpack_minisign),
    ("`extract` of 10,000 files beside `minisign` + GNU `tar`", "≤ 1 ×", many_files),
    ("`open` on disk, durable, beside floor and `syncfs`", "≤ 1.3 ×", on_disk),
    ("an installed package of 200 MB opened again, without a process start", "< 2 ms, no slower than a small one", again),
    ("peak memory over an idle process, any size", "≤ 24 MiB", memory),
    ("`publish` of 200 MB beside `tar`, `zstd`, `minisign -S`", "≤ 1.2 ×", publish),
    ("`check` in-process, one thread", "> 1,000,000/s, twice that on two", check_in_process),
    ("daemon: `check`, 64 connections, beside bare libmicrohttpd", "≥ 0.8 ×, p99 ≤ 1.3 ×", check_rate),
    ("the same while packages of 200 MB are opened: p99", "≤ 2 ×", check_mixed),
    ("a revocation list of 1,000,000 keys applied", "≤ 3 s, ≤ 150 MB", list_apply),
    ("a revocation looked up among 1,000,000", "> 1,000,000/s", list_look_up),
    ("start of the tool with that list in the store", "unchanged", list_start),
    ("1,000,000 apps in the store", "open, check as with ten", many_apps),
    ("growth with bytes (1 MB to 4 GB) and files (10 to 100,000)", "linear", growth),
]


def rows():
    """(goal, bound, what was measured, how it stands) of each goal."""
    kept = Kept()
    for name, bound, measure in GOALS:
        try:
            found, met = measure(kept)
            yield name, bound, found, "reached" if met else "**missed**"
        except KeyError:
            yield name, bound, "not measured", ""


def warning():
    """Says which of the kept results do not come from a whole run on an idle machine."""
    kept = Kept()
    doubtful = [
        name
        for name in ("packages", "daemon", "scale")
        for machine in [getattr(kept, name).get("machine")]
        if machine and (machine["quick"] or machine["othersPercent"] > 10)
    ]
    return (
        f"\n\n**From a short run or a machine that was not idle, so not to be quoted: {', '.join(doubtful)}.**"
        if doubtful
        else ""
    )


def in_short():
    """A few sentences for README.md, the figures that flatter and those that do not."""
    kept = Kept()
    ratio = lambda name, shape, peer: f"{kept.ratio(kept.jobs(name, shape=shape, compression='none')[0], peer):.2f}"
    peak = memory(kept)[0].split(" (")[0]
    return "\n".join(
        [
            f"- Verifying 200 MB takes {ratio('verify', '200 MB', 'minisign -V')} × as long as `minisign -V`, opening it "
            f"{ratio('open', '200 MB', 'minisign + bsdtar')} × as long as `minisign` and `bsdtar`,",
            f"  and {ratio('open', '200 MB', 'floor, 2 threads')} × as long as the least a program in C can do. Memory, whatever the size: {peak} over "
            "an idle process.",
            f"- The daemon answers `check` at {kept.load('check', 64)['rateRatio']:.2f} × the rate of a bare libmicrohttpd with a fixed body.",
            f"- Verifying 100 KB takes {ratio('verify', '100 KB', 'minisign -V')} × as long as `minisign -V`, which judges less; publishing 200 MB",
            f"  takes {ratio('publish', '200 MB', 'tar, zstd, minisign')} × as long as `tar` and `minisign -S`.",
        ]
    )


def publish(name, results, tables, drawing):
    """Keeps the results of a run as JSON, and writes its tables, its chart and the goals into the pages."""
    page.save(name, results)
    page.put(name, tables)
    chart = "performance.svg" if name == "packages" else f"performance-{name}.svg"
    (page.ROOT / "docs" / chart).write_text(drawing, encoding="utf-8")
    write()


def write():
    """Puts the table into docs/performance.md, and a few sentences into README.md."""
    page.put("goals", page.table(["what", "goal", "measured", ""], rows()) + warning())
    try:
        page.put("speed", in_short() + warning(), page.ROOT / "README.md")
    except KeyError:
        print("goals: README.md stays as it is until packages of 100 KB and 200 MB and the daemon were measured")


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        write()
    else:
        print(page.table(["what", "goal", "measured", ""], rows()))

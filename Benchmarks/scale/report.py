"""The curves as tables and as charts."""

import chart
import page

#: The heads of the tables: (member, what it is) of each curve.
HEADS = {
    "inProcess": (
        "Questions in-process",
        {
            "size": "keys in the list",
            "checksPerSecond": "checks/s without it",
            "checksPerSecondTwoThreads": "on two threads",
            "checksPerSecondWithList": "with it",
            "firstLookUpsPerSecond": "first look-ups/s in it",
            "lookUpsPerSecond": "look-ups/s later",
        },
    ),
    "lists": (
        "Revocation lists",
        {
            "size": "keys",
            "listMB": "list, MB",
            "applySeconds": "apply, s",
            "applyPeakMiB": "peak, MiB",
            "verifyMilliseconds": "verify, ms",
            "openAgainMilliseconds": "open again, ms",
            "daemonStartSeconds": "daemon start, s",
            "checksPerSecond": "daemon, checks/s",
            "daemonPeakMiB": "daemon peak, MiB",
        },
    ),
    "apps": (
        "Apps in the store",
        {
            "size": "apps",
            "databaseMB": "database, MB",
            "openMilliseconds": "open a new one, ms",
            "openAgainMilliseconds": "open again, ms",
            "checksPerSecond": "checks/s of one",
            "checksOfManyPerSecond": "of fifty",
            "pageMilliseconds": "page of 100, ms",
            "listMilliseconds": "list all, ms",
            "listPeakMiB": "peak, MiB",
            "statusMilliseconds": "status, ms",
            "daemonPeakMiB": "daemon peak, MiB",
        },
    ),
    "bytes": (
        "Bytes of a package",
        {
            "size": "bytes",
            "verifyMilliseconds": "verify, ms",
            "openMilliseconds": "open, ms",
            "verifyPeakMiB": "verify peak, MiB",
            "openPeakMiB": "open peak, MiB",
        },
    ),
    "files": (
        "Files of a package",
        {
            "size": "files",
            "verifyMilliseconds": "verify, ms",
            "openMilliseconds": "open, ms",
            "verifyPeakMiB": "verify peak, MiB",
            "openPeakMiB": "open peak, MiB",
        },
    ),
    "threads": ("Threads of one process", {"size": "threads", "checksPerSecond": "checks/s in-process"}),
    "connections": (
        "Connections to one daemon",
        {"size": "connections", "checksPerSecond": "checks/s", "p99Microseconds": "p99, µs"},
    ),
    "processes": (
        "Processes at once",
        {
            "size": "processes",
            "verifiesPerSecond": "verifies of 10 MB a second",
            "opensPerSecond": "first opens into one store a second",
        },
    ),
}


def cell(row, member):
    """A figure of a row; one that was kept from a run before there was this column has none."""
    return page.number(row[member]) if member in row else "–"


def tables(results):
    """What goes into the page."""
    parts = [page.sentence(results["machine"])]
    for name, (title, heads) in HEADS.items():
        if results.get(name):
            shown = [[f"{row['size']:,}", *(cell(row, member) for member in list(heads)[1:])] for row in results[name]]
            parts += [f"### {title}", page.table(heads.values(), shown)]
    exponents = "; ".join(f"{name} {value:.2f}" for name, value in results["growth"].items())
    return "\n\n".join(
        [*parts, f"Exponents of growth between the two largest (1 is linear, what a start costs taken off): {exponents}."]
    )


def drawn(results):
    """All curves on one sheet."""
    points = lambda name, member: [(row["size"], row[member]) for row in results.get(name, [])]
    lines = lambda name, *members: [(said, points(name, member)) for member, said in members]
    return chart.curves(
        "How it grows",
        [
            (
                "A revocation list applied",
                "revoked keys",
                "seconds; MiB",
                lines("lists", ("applySeconds", "apply, s"), ("applyPeakMiB", "peak, MiB")),
            ),
            (
                "With that list in the store",
                "revoked keys",
                "milliseconds",
                lines("lists", ("verifyMilliseconds", "verify"), ("openAgainMilliseconds", "open again")),
            ),
            (
                "Apps in the store: time",
                "apps",
                "milliseconds",
                lines(
                    "apps",
                    ("openMilliseconds", "open"),
                    ("openAgainMilliseconds", "open again"),
                    ("pageMilliseconds", "a page"),
                    ("listMilliseconds", "list all"),
                ),
            ),
            (
                "Apps in the store: checks of the daemon",
                "apps",
                "checks a second",
                lines("apps", ("checksPerSecond", "of one"), ("checksOfManyPerSecond", "of fifty")),
            ),
            (
                "Bytes of a package",
                "bytes",
                "milliseconds; MiB",
                lines("bytes", ("verifyMilliseconds", "verify"), ("openMilliseconds", "open"), ("openPeakMiB", "peak, MiB")),
            ),
            (
                "Files of a package",
                "files",
                "milliseconds; MiB",
                lines("files", ("verifyMilliseconds", "verify"), ("openMilliseconds", "open"), ("openPeakMiB", "peak, MiB")),
            ),
            (
                "Threads of one process, connections to one daemon",
                "threads, connections",
                "checks a second",
                lines("threads", ("checksPerSecond", "in-process"))
                + lines("connections", ("checksPerSecond", "over a socket")),
            ),
            (
                "Processes at once, all on one store",
                "processes",
                "jobs a second",
                lines("processes", ("verifiesPerSecond", "verify 10 MB"), ("opensPerSecond", "open, small")),
            ),
        ],
    )

"""The results of the daemon's benchmark as tables and as a chart."""

import chart
import page


def tables(results):
    """What goes into the page."""
    heads = [
        "request",
        "connections",
        "answers/s",
        "beside bare",
        "p50, µs",
        "p99, µs",
        "p99.9, µs",
        "p99 beside bare",
        "processor, µs an answer (bare)",
        "overloaded",
    ]
    rows = []
    for row in results["loads"]:
        ours, plain = row["ours"], row["bare"]
        refused = f"{100 * ours['overloaded'] / ours['answers']:.0f} %" if ours["overloaded"] else ""
        rows.append(
            [
                row["request"],
                row["connections"],
                f"{ours['rate']:,.0f}",
                f"**{row['rateRatio']:.2f}**",
                *(page.number(ours[name]) for name in ("p50", "p99", "p99.9")),
                f"**{row['p99Ratio']:.2f}**",
                f"{ours['serverMicroseconds']:.1f} ({plain['serverMicroseconds']:.1f})",
                refused,
            ]
        )
    return "\n\n".join([page.sentence(results["machine"]), page.table(heads, rows), _again(results), _mixed(results["mixed"])])


def _again(results):
    small, large = results["openedAgain"]["small"], results["openedAgain"]["large"]
    milliseconds = lambda row, name: f"{row[name] / 1000:.2f}"
    return (
        f"An installed package opened again over one keep-alive connection: {milliseconds(small, 'p50')} ms for a small one, "
        f"{milliseconds(large, 'p50')} ms for one of 200 MB (p99 {milliseconds(small, 'p99')} and {milliseconds(large, 'p99')} ms), HTTP and "
        f"the change from one process to another and back included. The daemon's peak was {results['mixed']['beside']['serverPeakMiB']:.0f} MiB."
    )


def _mixed(load):
    alone, beside = load["alone"], load["beside"]
    return (
        f"Mixed load: `check` at 64 connections, {alone['rate']:,.0f}/s with a p99 of {alone['p99']:,.0f} µs alone; while packages of 200 MB "
        f"were opened one after another ({load['opens']} opened in {load['openSeconds']:.2f} s each, {load['verifies']} verified), "
        f"{beside['rate']:,.0f}/s with a p99 of {beside['p99']:,.0f} µs: **{load['p99Ratio']:.2f}** times. With {load['rateDue']:,} requests due "
        f"a second, latency counted from the moment each was due, the p99 was {load['dueAlone']['p99']:,.0f} µs alone and "
        f"{load['dueBeside']['p99']:,.0f} µs meanwhile."
    )


def drawn(results):
    """Rates and latencies over the number of connections."""

    def series(what):
        lines = [
            (
                "bare libmicrohttpd",
                [(row["connections"], row["bare"][what]) for row in results["loads"] if row["request"] == "check"],
            )
        ]
        return lines + [
            (name, [(row["connections"], row["ours"][what]) for row in results["loads"] if row["request"] == name])
            for name in ("check", "verify", "open")
        ]

    return chart.curves(
        "The daemon beside a bare libmicrohttpd",
        [
            ("Good answers a second: higher is better", "keep-alive connections", "answers a second", series("rate")),
            ("99 of 100 answers came within: lower is better", "keep-alive connections", "microseconds", series("p99")),
        ],
    )

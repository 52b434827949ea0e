#!/usr/bin/env python3
"""The metrics: their form, what they count, that no client can make them longer; and the dashboard that shows them."""
import json
import re
import time

from common_daemon import PACKAGE, PROJECT, Checks, Follower, head, needs_programs, raw, world

checks = Checks()
equal, true = checks.equal, checks.true
SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"(?:,(?!\}))?)*)\})? (-?[0-9.e+-]+|[+-]Inf|NaN)')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"')


def read(text):
    """The samples {(name, labels): value} and the families {name: kind}; faults of form."""
    samples, families, faults, current = {}, {}, [], None
    if not text.endswith("\n"):
        faults.append("no line end at the end")
    for line in text.splitlines():
        if line.startswith("# HELP "):
            continue
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            if name in families:
                faults.append(f"{name} twice")
            families[name], current = kind, name
            continue
        found = SAMPLE.fullmatch(line)
        if not found:
            faults.append(f"no sample: {line}")
            continue
        name, labels, value = found.groups()
        base = re.sub(r"_(bucket|sum|count)$", "", name) if families.get(current) == "histogram" else name
        if base != current:
            faults.append(f"{name} is not of the family {current}")
        key = name, tuple(LABEL.findall(labels or ""))
        if key in samples:
            faults.append(f"{key} twice")
        samples[key] = float(value)
    for name, kind in families.items():
        if (kind == "counter") != name.endswith("_total"):
            faults.append(f"{name} is a {kind}")
    return samples, families, faults


def histograms(samples, families):
    """What is wrong with the histograms."""
    faults = []
    for name in (name for name, kind in families.items() if kind == "histogram"):
        rows = {}
        for (sample, labels), value in samples.items():
            if sample == f"{name}_bucket":
                bound = dict(labels)["le"]
                rows.setdefault(tuple(one for one in labels if one[0] != "le"), []).append((float(bound.replace("Inf", "inf")), value))
        for labels, buckets in rows.items():
            values = [value for _, value in buckets]
            if buckets != sorted(buckets) or values != sorted(values):
                faults.append(f"{name}{labels}: buckets do not rise")
            if buckets[-1][0] != float("inf") or buckets[-1][1] != samples.get((f"{name}_count", labels)):
                faults.append(f"{name}{labels}: +Inf is not the count")
            if (f"{name}_sum", labels) not in samples:
                faults.append(f"{name}{labels}: no sum")
    return faults


def total(samples, name, **labels):
    return sum(value for (sample, found), value in samples.items() if sample == name and set(labels.items()) <= set(found))


def form():
    publisher, daemon = world()
    with daemon:
        package, old = publisher.package(2), publisher.package(1)
        name = daemon.open(package).json["digest"]
        for _ in range(3):
            daemon.open(old)
        for _ in range(10):
            daemon.check(name)
        daemon.post("/v1/packages/verify", b"noise", {"Content-Type": PACKAGE})
        daemon.apply(publisher.list("--min-build", "com.example.none=1", "--expires", int(time.time()) + 86400))
        follower = Follower(daemon.socket)
        samples, families, faults = read(daemon.get("/metrics").body.decode())
        checks.check("the text is in Prometheus' form", *faults[:5])
        checks.check("histograms", *histograms(samples, families)[:5])
        decisions = "nsh_trust_decisions_total"
        equal("decisions by operation, verdict and code",
              [total(samples, decisions, operation="open", verdict="accepted"), total(samples, decisions, operation="open", code="rolledBack"),
               total(samples, decisions, operation="check", verdict="accepted"), total(samples, decisions, operation="verify", verdict="refused")], [1, 3, 10, 1])
        equal("requests by route and status", total(samples, "nsh_trust_requests_total", route="POST /v1/packages/check", status="200"), 10)
        equal("and how long they took", total(samples, "nsh_trust_request_duration_seconds_count", route="POST /v1/packages/check"), 10)
        equal("who follows", total(samples, "nsh_trust_event_followers"), 1)
        equal("roots, apps, packages", [total(samples, f"nsh_trust_{one}") for one in ("roots", "apps", "packages")], [1, 1, 1])
        equal("the list's number", total(samples, "nsh_trust_list_sequence"), 1)
        true("its age and end", 0 <= total(samples, "nsh_trust_list_age_seconds") < 60
             and abs(total(samples, "nsh_trust_list_expiry_timestamp_seconds") - time.time() - 86400) < 60)
        true("the process", total(samples, "process_resident_memory_bytes") > 1e6 and total(samples, "process_open_fds") > 3)
        follower.close()

        def ask(number):
            daemon.get(f"/v1/apps/com.example.a{number}")
            raw(daemon.socket, head(f"M{number}", f"/v1/p{number}"))
            daemon.check(f"{number:064x}")
            daemon.get(f"/none/{number}?x={number}")
            return read(daemon.get("/metrics").body.decode())

        ask(0)
        before, _, _ = ask(1)  # a route's own lines are there from its first request on
        for number in range(300):
            after, _, faults = ask(number)
        checks.check("no client can make the text longer", *[str(one) for one in set(after) - set(before)][:3], *faults[:3])
        true("it is not long", len(after) < 3000, len(after))
        dashboard(families, after)


def dashboard(families, samples):
    """Every metric and label that the dashboard names is served."""
    board = json.loads((PROJECT / "packaging" / "grafana" / "nsh-trust.json").read_text())
    text = json.dumps(board)
    panels = [panel for panel in board["panels"] if panel["type"] != "row"]
    expressions = [target["expr"] for panel in panels for target in panel.get("targets", [])]
    true("the dashboard has panels", len(panels) >= 8 and expressions, len(panels))
    checks.check("panels have numbers of their own", len({panel["id"] for panel in board["panels"]}) != len(board["panels"]) and "no")
    served = set(families) | {name for name, _ in samples}
    labels = {label for _, found in samples for label, _ in found} | {"le", "instance", "job"}
    faults = []
    for expression in expressions:
        bare = re.sub(r'"[^"]*"', '""', expression)
        faults += [f"{name} is not served" for name in re.findall(r"\b(?:nsh_trust|process)_[a-z_]+\b", bare) if name not in served]
        faults += [f"label {name} of {expression}" for name in re.findall(r'([a-z_]+)\s*(?:=~|!~|!=|=)\s*""', bare) if name not in labels]
        faults += [f"label {name} of {expression}" for names in re.findall(r"\b(?:by|without) ?\(([^)]*)\)", bare) for name in re.split(r",\s*", names)
                   if name not in labels]
    checks.check("every metric and label that it names is served", *faults[:5])
    shown = set(re.findall(r"\bnsh_trust_[a-z_]+\b", text))
    checks.check("every family of ours is shown", *[name for name in families if name.startswith("nsh_trust") and not any(one.startswith(name) for one in shown)])


def main():
    needs_programs()
    with checks.part("form"):
        form()
    checks.finish()


if __name__ == "__main__":
    main()

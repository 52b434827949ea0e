#!/usr/bin/env python3
"""Following the decision log: how soon an event arrives, and that nobody misses one."""
import os
import sqlite3
import subprocess
import sys
import threading
import time

from common_daemon import Checks, Follower, connect, head, needs_programs, tool, within, world

checks = Checks()
equal, true = checks.equal, checks.true
#: How soon an event has to be there, in seconds: the 99th of a hundred.
LIMIT = 0.100


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def latencies(daemon, count, act, kind):
    """Acts so often; how long after the end of each the event arrived, and how long after its beginning."""
    follower = Follower(daemon.socket)
    quick, whole = [], []
    for number in range(count):
        begun = time.monotonic()
        act(number)
        ended = time.monotonic()
        events = follower.wait(number + 1, 5, kind)
        if len(events) < number + 1:
            break
        quick.append(max(0.0, events[number][0] - ended))
        whole.append(events[number][0] - begun)
        time.sleep(0.005)  # so that each is on its own
    follower.close()
    return quick, whole


def soon(name, daemon, count, act, kind):
    quick, whole = latencies(daemon, count, act, kind)
    if not equal(f"{name}: every event arrives", len(quick), count):
        return
    shown = ", ".join(f"p{round(share * 100)} {percentile(quick, share) * 1000:.1f} ms ({percentile(whole, share) * 1000:.1f} ms)" for share in (0.5, 0.99))
    print(f"  {name}: {shown} after the end (the beginning) of each of {count}")
    true(f"{name}: p99 below {LIMIT * 1000:.0f} ms", percentile(quick, 0.99) < LIMIT, shown)


def latency():
    publisher, daemon = world()
    with daemon:
        lists = [publisher.list("--min-build", f"com.example.none={number + 1}") for number in range(200)]
        packages = [publisher.package(number + 1) for number in range(50)]
        apply = lambda path: tool("update-revocations", path, "--state", daemon.state, "--root", publisher / "root.pub")
        soon("revocations applied by the tool", daemon, 100, lambda number: apply(lists[number]), "revocations")
        soon("revocations posted", daemon, 100, lambda number: daemon.apply(lists[100 + number]), "revocations")
        soon("opened by the tool", daemon, 25, lambda number: tool(
            "open", packages[number], "--state", daemon.state, "--root", publisher / "root.pub"), "opened")
        soon("opened by requests", daemon, 25, lambda number: daemon.open(packages[25 + number]), "opened")
        # With opens under way, an event must not stand behind them.
        large = publisher.package(1, app="large", size=100 << 20)
        busy = threading.Event()

        def work():
            while not busy.is_set():
                daemon.post("/v1/packages/verify", {"path": str(large)}, timeout=60)

        threads = [threading.Thread(target=work, daemon=True) for _ in range(2)]
        for thread in threads:
            thread.start()
        more = [publisher.list("--min-build", f"com.example.none={number + 300}") for number in range(30)]
        soon("posted while packages are verified", daemon, 30, lambda number: daemon.apply(more[number]), "revocations")
        busy.set()
        for thread in threads:
            thread.join(30)


#: A client that is killed: writes the number of each event it has taken on standard output.
CLIENT = """
import sys
sys.path.insert(0, sys.argv[1])
from common_daemon import Follower
follower = Follower(sys.argv[2], after=int(sys.argv[3]) if sys.argv[3] else None, last_event_id=sys.argv[4] or None)
seen = 0
print("ready", flush=True)
while not follower.ended.is_set() or seen < len(follower.events):
    events = follower.wait(seen + 1, 0.2)
    for _, number, kind, _ in events[seen:]:
        print(number, kind, flush=True)
    seen = len(events)
"""


def client(daemon, after="", last=""):
    process = subprocess.Popen([sys.executable, "-c", CLIENT, os.path.dirname(os.path.abspath(__file__)), str(daemon.socket), str(after), str(last)],
                               stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def resume():
    """Clients and daemons that are killed at any time; each resumed client has every event once."""
    publisher, daemon = world()
    with daemon:
        package = publisher.package(10)
        listed = [publisher.list("--min-build", f"com.example.none={number + 1}") for number in range(90)]
        first = daemon.get("/v1/status").json["newestEvent"]
        stop, applied = threading.Event(), []

        def work():
            for path in listed:
                if stop.is_set():
                    return
                tool("update-revocations", path, "--state", daemon.state, "--root", publisher / "root.pub", status=None)
                applied.append(path)
                time.sleep(0.02)

        worker = threading.Thread(target=work, daemon=True)
        worker.start()
        seen, last, rounds = [], first, 0
        while worker.is_alive() or rounds < 2:
            rounds += 1
            # By turns with `after` and with `Last-Event-ID`.
            process = client(daemon, after=last) if rounds % 2 else client(daemon, last=last)
            time.sleep(0.35)
            if rounds % 3 == 0:
                daemon.kill()
                daemon.start()
            process.kill()
            for line in process.stdout.read().split("\n"):
                number, _, kind = line.partition(" ")
                if kind and number.isdigit():
                    seen.append(int(number))
                    last = int(number)
            process.wait(5)
            if rounds > 60:
                break
        worker.join(30)
        stop.set()
        follower = Follower(daemon.socket, after=last)
        newest = daemon.get("/v1/status").json["newestEvent"]
        within(5, lambda: follower.events and follower.events[-1][1] >= newest)
        seen += [number for _, number, _, _ in follower.events]
        follower.close()
        expected, after = [], first
        while True:
            page = daemon.get(f"/v1/events?after={after}&limit=1000").json
            if not page["events"]:
                break
            expected += [event["sequence"] for event in page["events"]]
            after = page["next"]
        print(f"  {len(expected)} events over {rounds} connections and {rounds // 3} daemons")
        equal("every event, in order, none twice", seen, expected)
        true("all lists are in the log", len(expected) >= len(applied), (len(expected), len(applied)))
        equal("the store is whole", tool("store", "check", "--state", daemon.state, status=None).startswith("OK"), True)

        ends = Follower(daemon.socket, after=first, last_event_id=newest)
        equal("after wins over Last-Event-ID", [number for _, number, _, _ in ends.wait(1)][:1], [expected[0]])
        ends.close()
        now = Follower(daemon.socket)
        daemon.open(package)
        equal("without either: from now on", [(kind, data["app"]) for _, _, kind, data in now.wait(1)][:1], [("opened", "com.example.orders")])
        equal("the id is the sequence and the event is the kind", [(number, kind) for _, number, kind, _ in now.events],
              [(data["sequence"], data["kind"]) for _, _, _, data in now.events])
        now.close()
        for name, options in (("a Last-Event-ID that is none", {"headers": {"Last-Event-ID": "x"}}),
                              ("a Last-Event-ID that is none, negative", {"headers": {"Last-Event-ID": "-1"}})):
            answer = daemon.get("/v1/events?follow=true", **options)
            equal(name, (answer.status, answer.code), (400, "badRequest"))
        ahead = Follower(daemon.socket, after=10 ** 9)
        equal("after a number that is to come", ahead.status, 200)
        ahead.close()
        followers = [Follower(daemon.socket) for _ in range(50)]
        daemon.apply(publisher.list("--min-build", "com.example.none=500"))
        equal("fifty followers hear of it", [len(one.wait(1)) for one in followers], [1] * 50)
        for one in followers:
            one.close()

        open_one = Follower(daemon.socket)
        equal("a daemon that is told to stop ends", daemon.stop(20), 0)
        true("and its followers with it", open_one.ended.wait(5))


def gone():
    """Rows that were cut off: 410 with the oldest kept, and a gap for who follows."""
    publisher, daemon = world()
    with daemon:
        for build in range(1, 6):
            daemon.open(publisher.package(build))
        newest = daemon.get("/v1/status").json["newestEvent"]
        daemon.stop()
        # As if the log had been longer than what is kept: its oldest rows go.
        database = sqlite3.connect(daemon.state / "trust.sqlite")
        table = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '%event%' AND name NOT LIKE 'sqlite%'")]
        database.execute(f"DELETE FROM {table[0]} WHERE sequence <= ?", (newest - 2,))
        database.commit()
        database.close()
        daemon.start()
        oldest = newest - 1
        answer = daemon.get("/v1/events?after=1")
        equal("after a number whose successors are gone", (answer.status, answer.code, answer.json.get("oldest")), (410, "eventsGone", oldest))
        found = daemon.get("/v1/events?after=0")
        equal("after 0 means from the oldest kept", (found.status, [event["sequence"] for event in found.json["events"]][:1]), (200, [oldest]))
        equal("after the one before the oldest", daemon.get(f"/v1/events?after={oldest - 1}").status, 200)
        equal("status says the oldest", daemon.get("/v1/status").json["oldestEvent"], oldest)
        follower = Follower(daemon.socket, after=1)
        events = follower.wait(3)
        equal("who follows is told of the gap, and then goes on", [(kind, number if kind != "gap" else data) for _, number, kind, data in events[:3]],
              [("gap", {"oldest": oldest}), ("opened", oldest), ("opened", oldest + 1)])
        follower.close()
        follower = Follower(daemon.socket, last_event_id=1)
        equal("by Last-Event-ID, too", [kind for _, _, kind, _ in follower.wait(1)][:1], ["gap"])
        follower.close()


def quiet():
    """A comment every 15 seconds, and no other word; a follower that does not read costs nobody else anything."""
    publisher, daemon = world()
    with daemon:
        lazy = connect(daemon.socket)
        lazy.sendall(head("GET", "/v1/events?follow=true&after=0"))
        follower = Follower(daemon.socket)
        begun = time.monotonic()
        later = lambda: [when for when in follower.comments if when > begun + 1]  # one may come at once
        if within(34, lambda: len(later()) >= 2, 0.1):
            gaps = [later()[0] - begun, later()[1] - later()[0]]
            checks.check("a comment every 15 s", *[f"{gap:.1f} s" for gap in gaps if not 13 < gap < 17.5])
        else:
            checks.check("a comment every 15 s", f"{len(later())} in 34 s")
        equal("and no event", follower.events, [])
        follower.close()
        lazy.close()


def main():
    needs_programs()
    for part in (latency, resume, gone, quiet):
        with checks.part(part.__name__):
            part()
    checks.finish()


if __name__ == "__main__":
    main()

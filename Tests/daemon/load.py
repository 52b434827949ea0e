#!/usr/bin/env python3
"""The daemon under load and among clients that misbehave: it goes on serving, and neither descriptors nor memory grow.

The short version takes about a minute; with NSH_LONG=1 the numbers are those that the daemon is held to.
"""
import contextlib
import http.client
import json
import os
import random
import resource
import select
import socket
import threading
import time

from common_daemon import (ENGINE, IS_ROOT, JSON, LONG, MIB, OTHER, PACKAGE, Checks, Follower, UnixConnection, as_user, ask, connect,
                           digest, head, needs_programs, tool, within, world)

checks = Checks()
equal, true = checks.equal, checks.true
ALLOWED_KIB = 8192


def room(number):
    """Lets this process have so many descriptors; whether it may."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < number:
        return False
    resource.setrlimit(resource.RLIMIT_NOFILE, (number, hard))
    return True


def settled(daemon):
    """Waits until no connection is on its way out: the daemon looks for clients that left once a second."""
    number = daemon.descriptors()
    for _ in range(10):
        time.sleep(1.1)
        before, number = number, daemon.descriptors()
        if number == before:
            break


@contextlib.contextmanager
def steady(name, daemon, known=None):
    """It serves before and after; descriptors are equal and memory within 8 MiB."""
    daemon.get("/v1/health")
    if known:
        daemon.check(known)  # opens the store once more, for good
    settled(daemon)
    before = daemon.descriptors(), daemon.status("VmRSS")
    started = time.monotonic()
    yield
    spent = time.monotonic() - started
    true(f"{name}: the daemon lives", daemon.alive(), daemon.log()[-2000:])
    if not daemon.alive():
        return
    equal(f"{name}: it serves", daemon.get("/v1/health").status, 200)
    if known:
        equal(f"{name}: check answers", daemon.check(known).json["verdict"], "accepted")
    # One connection of ours may still be on its way out.
    within(15, lambda: daemon.descriptors() <= before[0], 0.1)
    # Freed memory is given back every few seconds.
    within(10, lambda: daemon.status("VmRSS") - before[1] < ALLOWED_KIB // 2, 0.2)
    after = daemon.descriptors(), daemon.status("VmRSS")
    print(f"  {name}: {spent:.1f} s; descriptors {before[0]} before, {after[0]} after; memory {before[1]} KiB before, {after[1]} KiB after", flush=True)
    checks.check(f"{name}: descriptors", after[0] != before[0] and f"{before[0]} before, {after[0]} after")
    checks.check(f"{name}: memory", after[1] - before[1] > ALLOWED_KIB and f"{after[1] - before[1]} KiB more")


def each(count, threads, work):
    """Does the work so often on so many threads, each with a connection of its own; what it returned or raised."""
    results, numbers, lock = [], iter(range(count)), threading.Lock()

    def run():
        state = {}
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                break
            try:
                result = work(number, state)
            except Exception as error:  # noqa: BLE001 - told
                result = error
            with lock:
                results.append(result)
        if state.get("connection"):
            state["connection"].close()

    workers = [threading.Thread(target=run, daemon=True) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(600)
    return results


def refused():
    publisher, daemon = world()
    with daemon:
        daemon.open(publisher.package(6))
        old = publisher.package(5)
        data = bytearray(old.read_bytes())
        data[-1] ^= 1
        kinds = [({"path": str(old)}, {}, 403), (old.read_bytes(), {"Content-Type": PACKAGE}, 403), (bytes(data), {"Content-Type": PACKAGE}, 403),
                 (b"noise" * 1000, {"Content-Type": PACKAGE}, 403), ({"path": str(publisher / "none")}, {}, 404), ({"path": "/tmp"}, {}, 400)]

        def work(number, state):
            body, headers, status = kinds[number % len(kinds)]
            connection = state.setdefault("connection", UnixConnection(daemon.socket))
            answer = ask(None, "POST", "/v1/packages/open", body, headers, connection=connection)
            return (answer.status, status) if answer.status != status else None

        each(600, 4, work)  # what is made once is made
        count = 10_000 if LONG else 2_000
        with steady(f"{count} refused opens", daemon, digest(publisher / "orders-6.nshpkg")):
            results = each(count, 4, work)
            checks.check("each is answered as it should be", *[result for result in results if result][:3], len(results) != count and len(results))
        true("after ten seconds no lease is held", within(15, lambda: not daemon.leases(), 0.2), daemon.leases())
        events = daemon.get("/v1/status").json
        true("the log stays bounded", events["newestEvent"] - events["oldestEvent"] < 70_000, events)
        equal("the store is whole", tool("store", "check", "--state", daemon.state, status=None)[:2], "OK")


def idle():
    count = 5_000 if LONG else 1_500
    if not room(count + 200):
        checks.skip(5, f"this process may not have {count} descriptors")
        return
    publisher, daemon = world(["--max-connections", str(2 * count + 200), "--client-timeout", "8s", "--socket-mode", "0666"],
                              limits=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2))
    with daemon:
        name = daemon.open(publisher.package(1)).json["digest"]
        beside(daemon, name, count // 2)  # what is made once is made
        with steady(f"{count} idle connections", daemon, name):
            beside(daemon, name, count)


def beside(daemon, name, count):
    """Idle connections, requests beside them, until each of the connections is dropped."""
    mine = [connect(daemon.socket) for _ in range(count)]
    times = []
    for _ in range(50):
        started = time.monotonic()
        status = daemon.check(name).status
        times.append((time.monotonic() - started, status))
    true("check answers beside them", sorted(times)[45][0] < 0.5 and {status for _, status in times} == {200}, sorted(times)[-3:])
    gone = within(40, lambda: len(select_ended(mine)) == count, 0.5)
    true("each is dropped when its time is over", gone, f"{len(select_ended(mine))} of {count}")
    for one in mine:
        one.close()


def select_ended(sockets):
    """Those of the sockets that the other side has ended."""
    poll = select.poll()
    by_number = {one.fileno(): one for one in sockets}
    for number in by_number:
        poll.register(number, select.POLLIN | select.POLLHUP | select.POLLRDHUP)
    return [number for number, events in poll.poll(0) if events & (select.POLLHUP | select.POLLRDHUP)]


def shares():
    """One user cannot take all connections, nor the whole queue of uploads."""
    if not IS_ROOT:
        checks.skip(4, "connections of two users need root")
        return
    publisher, daemon = world(["--max-connections", "100", "--socket-mode", "0666", "--engine", "games"])
    with daemon:
        package = publisher.package(1)
        body = package.read_bytes()

        def many(count):
            """As another user: so many connections; what the last ones get; and whether a request still comes through."""
            mine = [connect(daemon.socket, 5) for _ in range(count)]
            time.sleep(0.3)
            ended = len(select_ended(mine))
            try:
                status = ask(daemon.socket, "GET", "/v1/health", timeout=5).status
            except (OSError, http.client.HTTPException):
                status = None
            theirs = os.read(go[0], 1)
            return ended, status, theirs

        go, results = os.pipe(), []
        with steady("a user who takes every connection", daemon):
            thread = threading.Thread(target=lambda: results.append(as_user(*OTHER, [], many, 150)), daemon=True)
            thread.start()
            time.sleep(1)
            equal("another user is served all the same", daemon.get("/v1/health").status, 200)
            equal("and so is an engine of a third", as_user(*ENGINE, [], lambda: ask(daemon.socket, "POST", "/v1/packages/open", body, {"Content-Type": PACKAGE}).status), 200)
            os.write(go[1], b"x")
            thread.join(10)
            true("the first user got no more than a share", results and results[0][0] >= 50 and results[0][1] in (None, 503), results)


def descriptors():
    """ulimit -n 256: more clients than descriptors."""
    room(2000)
    publisher, daemon = world(["--client-timeout", "5s"], limits=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256)))
    with daemon:
        package = publisher.package(1)
        name = daemon.open(package).json["digest"]
        with steady("400 connections with ulimit -n 256", daemon, name):
            mine, refused_ones = [], 0
            for _ in range(400):
                try:
                    mine.append(connect(daemon.socket, 2))
                except (OSError, TimeoutError):
                    refused_ones += 1
            for one in mine[:40]:
                with contextlib.suppress(OSError):
                    one.sendall(head("GET", "/v1/health"))
            time.sleep(0.5)
            true("it lives", daemon.alive())
            for one in mine:
                one.close()
            true("and serves when they have left", within(10, daemon.is_there, 0.1))
        with steady("opens beside 60 connections with ulimit -n 256", daemon, name):
            mine = [connect(daemon.socket, 2) for _ in range(60)]
            results = each(60, 12, lambda number, state: daemon.open(package, timeout=20).status)
            checks.check("each is answered", *[result for result in results if result not in (200, 503)][:3])
            for one in mine:
                one.close()


def slow():
    """Clients that are slow on purpose, or silent."""
    publisher, daemon = world(["--client-timeout", "2s"])
    with daemon:
        name = daemon.open(publisher.package(1)).json["digest"]
        count = 200 if LONG else 40
        heads = {
            "a head": head("GET", "/v1/health", "X: " + "y" * 1000),
            "a body that is gathered": head("POST", "/v1/packages/check", f"Content-Type: {JSON}", "Content-Length: 2000") + b" " * 1900,
            "a body in chunks": head("POST", "/v1/packages/check", f"Content-Type: {JSON}", "Transfer-Encoding: chunked") + b"1\r\n \r\n" * 400,
            "a package": head("POST", "/v1/packages/verify", f"Content-Type: {PACKAGE}", "Content-Length: 100000") + b"\0" * 90000,
        }
        for kind, data in heads.items():
            start = 10 if kind == "a head" else data.index(b"\r\n\r\n") + 4
            with steady(f"{count} clients that send {kind} byte by byte", daemon, name):
                mine, sent = [], start
                for _ in range(count):
                    one = connect(daemon.socket, 5)
                    one.sendall(data[:start])
                    mine.append(one)
                begun, longest, alive = time.monotonic(), 0.0, set(range(count))
                while alive and time.monotonic() - begun < 15:
                    for number in list(alive):
                        try:
                            mine[number].send(data[sent:sent + 1])
                        except OSError:
                            alive.discard(number)
                    gone = set(select_ended([mine[number] for number in alive])) if alive else set()
                    alive = {number for number in alive if mine[number].fileno() not in gone}
                    sent = min(sent + 1, len(data) - 2)
                    asked = time.monotonic()
                    daemon.check(name)
                    longest = max(longest, time.monotonic() - asked)
                    time.sleep(0.1)
                took = time.monotonic() - begun
                true(f"{kind}: all are dropped soon after their time is over", not alive and took < 10, f"{len(alive)} left after {took:.1f} s")
                true(f"{kind}: the others do not wait", longest < 1, f"{longest:.2f} s")
                for one in mine:
                    one.close()
        with steady(f"{count} clients that take no answer", daemon, name):
            mine = []
            for _ in range(count):
                one = connect(daemon.socket, 5)
                one.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    one.sendall(head("GET", "/v1/openapi.json") * 200)
                mine.append(one)
            gone = within(20, lambda: len(select_ended(mine)) == count, 0.5)
            true("those who take no answer are dropped", gone, f"{len(select_ended(mine))} of {count}")
            for one in mine:
                one.close()


def leavers():
    """Clients that go away in the middle of anything."""
    publisher, daemon = world()
    with daemon:
        name = daemon.open(publisher.package(1)).json["digest"]
        large = publisher.package(1, app="large", size=20 * MIB)
        package = large.read_bytes()
        small = (publisher / "orders-1.nshpkg").read_bytes()
        count = 1000 if LONG else 150
        chance = random.Random(1)

        def post(route, kind, body):
            return head("POST", route, f"Content-Type: {kind}", f"Content-Length: {len(body)}") + body

        wholes = {
            "a head": (head("GET", "/v1/health", "X: " + "y" * 1000), 0),
            "a small body": (post("/v1/packages/check", JSON, json.dumps({"digest": name}).encode()), 0),
            "a package": (post("/v1/packages/open", PACKAGE, small), 0),
            "a large package": (post("/v1/packages/verify", PACKAGE, package[:MIB]), 0),
            "an answer": (head("GET", "/v1/openapi.json") * 5, 1),
            "an answer that takes time": (post("/v1/packages/verify", JSON, json.dumps({"path": str(large)}).encode()), 1),
            "events": (head("GET", "/v1/events?follow=true&after=0"), 1),
        }

        def leave(what, one):
            data, is_whole = wholes[what]
            sock = connect(daemon.socket, 20)
            with contextlib.suppress(OSError):
                sock.sendall(data if is_whole else data[:chance.randrange(1, len(data))])
                if is_whole and one % 3:
                    sock.settimeout(0.01)
                    sock.recv(1 + one % 50)
            if one % 2:
                with contextlib.suppress(OSError):
                    sock.shutdown(socket.SHUT_WR)
            sock.close()

        for what in wholes:
            for one in range(30):
                leave(what, one)
        for what in wholes:
            number = count if what != "an answer that takes time" else count // 10
            with steady(f"{number} clients that leave in the middle of {what}", daemon, name):
                each(number, 8, lambda one, state, what=what: leave(what, one))
        equal("what was left in the middle is not installed", {app["id"] for app in daemon.get("/v1/apps").json["apps"]} - {"com.example.orders"}, set())
        true("nothing is left in staging", within(10, lambda: not list((daemon.state / "staging").glob("*"))), list((daemon.state / "staging").glob("*")))


def queue():
    """A queue that is full: 503 with Retry-After; check does not wait behind it."""
    publisher, daemon = world(["--workers", "1"])
    with daemon:
        name = daemon.open(publisher.package(1)).json["digest"]
        large = publisher.package(1, app="large", size=60 * MIB)
        daemon.post("/v1/packages/verify", {"path": str(large)}, timeout=60)
        stop, times = threading.Event(), []

        def watch():
            connection = UnixConnection(daemon.socket)
            while not stop.is_set():
                started = time.monotonic()
                status = ask(None, "POST", "/v1/packages/check", {"digest": name}, connection=connection).status
                times.append((time.monotonic() - started, status))
                time.sleep(0.002)
            connection.close()

        with steady("more opens than the queue takes", daemon, name):
            watcher = threading.Thread(target=watch, daemon=True)
            watcher.start()
            answers = each(120, 120, lambda number, state: ask(daemon.socket, "POST", "/v1/packages/verify", {"path": str(large)}, timeout=120))
            stop.set()
            watcher.join(10)
            broken = [answer for answer in answers if isinstance(answer, Exception)]
            full = [answer for answer in answers if not isinstance(answer, Exception) and answer.status == 503]
            done = [answer for answer in answers if not isinstance(answer, Exception) and answer.status == 200]
            print(f"  of 120 at once: {len(done)} done, {len(full)} turned away; check meanwhile: "
                  f"p50 {sorted(times)[len(times) // 2][0] * 1000:.1f} ms, greatest {max(times)[0] * 1000:.1f} ms of {len(times)}")
            checks.check("each is answered", *broken[:3], len(done) + len(full) != 120 and [answer.status for answer in answers][:10])
            true("some were turned away, some were done", full and done, (len(full), len(done)))
            checks.check("those turned away are told when to come again", *[answer for answer in full if answer.code != "overloaded"
                                                                            or not answer.headers.get("retry-after", "").isdigit()][:2])
            true("check never waits behind them", sorted(times)[int(len(times) * 0.99)][0] < 0.1 and {status for _, status in times} == {200},
                 f"p99 {sorted(times)[int(len(times) * 0.99)][0] * 1000:.0f} ms")


def killed():
    """kill -9 under load, and again: the store is whole each time."""
    publisher, daemon = world()
    with daemon:
        packages = [publisher.package(1, app=f"app{number}") for number in range(20)]
        lists = [publisher.list("--min-build", f"com.example.none={number + 1}") for number in range(20)]
        stop = threading.Event()

        def work(offset):
            number = offset
            while not stop.is_set():
                number += 1
                with contextlib.suppress(OSError, http.client.HTTPException):
                    if number % 3:
                        daemon.open(packages[number % 20])
                    else:
                        daemon.apply(lists[number % 20])
                if number % 20 == 0:
                    with contextlib.suppress(OSError, http.client.HTTPException):
                        daemon.post("/v1/store/prune", {"keep": 1})

        workers = [threading.Thread(target=work, args=(offset * 5,), daemon=True) for offset in range(3)]
        for worker in workers:
            worker.start()
        for _ in range(10 if LONG else 4):
            time.sleep(0.4)
            daemon.kill()
            daemon.start()
        stop.set()
        for worker in workers:
            worker.join(30)
        found = daemon.post("/v1/store/check").json
        equal("after kill -9 under load, again and again: the store is whole", (found["verdict"], found["problems"]), ("accepted", []))
        for package in packages:
            daemon.open(package)
        equal("and everything opens", len(daemon.get("/v1/apps").json["apps"]), 20)
        equal("nothing half done is left", list((daemon.state / "staging").glob("*")), [])


def followers():
    """Followers that come, go, and do not read."""
    publisher, daemon = world()
    with daemon:
        daemon.open(publisher.package(1))
        old = publisher.package(2, app="old")
        daemon.open(publisher.package(3, app="old"))
        for _ in range(100):
            Follower(daemon.socket).close()
        with steady("500 followers, one after another", daemon):
            for number in range(500):
                Follower(daemon.socket, after=0 if number % 2 else None).close()
        with steady("followers who read nothing, beside one who does", daemon):
            deaf = []
            for _ in range(30):
                one = connect(daemon.socket)
                one.sendall(head("GET", "/v1/events?follow=true&after=0"))
                deaf.append(one)
            good = Follower(daemon.socket)
            for number in range(300):
                daemon.open(old) if number % 2 else daemon.apply(publisher.list("--min-build", f"com.example.none={number + 1}"))
            newest = daemon.get("/v1/status").json["newestEvent"]
            true("the one who reads has every event", within(10, lambda: good.events and good.events[-1][1] == newest), (len(good.events), newest))
            good.close()
            for one in deaf:
                one.close()


def main():
    needs_programs()
    for part in (refused, idle, shares, descriptors, slow, leavers, queue, followers, killed):
        with checks.part(part.__name__):
            part()
    checks.finish()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Clocks that are wrong: at 1970, in 2100, set back, jumping. The newest list is what time cannot fall behind.

    NSH_PKGTOOL=… NSH_TRUSTD=… .venv/bin/python Tests/host/clocks.py

Proves C10 and C11. The daemon runs under libfaketime (Debian's faketime), which shows it another time than the machine's; the tool is
linked statically and gets its time with --at. Certificates run from 2025-11-30 to 2026-11-30.
"""
import datetime
import glob
import os
import pathlib
import sys
import time

from common_host import LONG, Checks, run, scratch
from common_daemon import Daemon, Follower, needs_programs, within

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "testvectors"))
from maker import packages as p  # noqa: E402
from maker import wire  # noqa: E402

checks = Checks()
check = checks.check
LIBRARY = next(iter(glob.glob("/usr/lib/*/faketime/libfaketime.so.1")), None)
BEFORE, WITHIN, AFTER, FAR = 0, p.NOW + 86400, p.NOT_AFTER + 86400, 4102444800  # 1970, in the window, a day behind it, 2100


class Clock:
    """A clock that the daemon reads from a file, so that it can be set while it runs."""

    def __init__(self, place):
        self.file = place / "clock"
        self.environment = {"LD_PRELOAD": LIBRARY, "FAKETIME_TIMESTAMP_FILE": str(self.file), "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}

    def set(self, seconds):
        spare = self.file.with_suffix(".new")
        spare.write_text(datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("@%Y-%m-%d %H:%M:%S\n"))
        os.rename(spare, self.file)


def daemon(place, clock, name):
    directory = place / name
    directory.mkdir()
    served = Daemon(directory, wait=None, environment={**clock.environment, "TZ": "UTC"})
    served.trust(place / "root.pub")
    return served


def judged(name, answer, status, code):
    check(name, (answer.status, answer.code) != (status, code) and str(answer))


def wrong_from_the_start(place, clock):
    for name, now, code in (("1970", BEFORE, "signedInFuture"), ("2100", FAR, "certificateExpired")):
        clock.set(now)
        with daemon(place, clock, f"start-{name}") as served:
            served.start()
            answer = served.open(place / "a.nshpkg")
            judged(f"C11 the clock is at {name} at the first start: not accepted, with a code of its own", answer, 403, code)
            check(f"C11 {name}: the message names the times", "1970" not in answer.json["detail"] and "2100" not in answer.json["detail"] and "2026" not in answer.json["detail"] and str(answer.json))
            clock.set(WITHIN)
            judged(f"C11 the clock is set right: accepted without a restart (was {name})", served.open(place / "a.nshpkg"), 200, None)
            clock.set(now)
            judged(f"C11 what is accepted opens again at {name}", served.open(place / "a.nshpkg"), *((403, "signedInFuture") if now == BEFORE else (200, None)))
            check(f"C11 {name}: health", served.get("/v1/health").status != 200 and "not well")


def set_back(place, clock):
    """A list moves the floor; a clock behind it changes nothing; a clock ahead moves nothing."""
    clock.set(WITHIN)
    with daemon(place, clock, "back") as served:
        served.start()
        judged("C10 no floor: a clock within the window accepts", served.post("/v1/packages/verify", {"path": str(place / "a.nshpkg")}), 200, None)
        clock.set(FAR)
        judged("C10 a clock in 2100 refuses what is new", served.post("/v1/packages/verify", {"path": str(place / "a.nshpkg")}), 200, "certificateExpired")
        clock.set(WITHIN)
        judged("C10 and has moved no floor", served.post("/v1/packages/verify", {"path": str(place / "a.nshpkg")}), 200, None)
        clock.set(AFTER + 100)
        answer = served.apply(place / "after.json")
        check("C10 a list issued behind the window is applied", answer.status != 200 and str(answer))
        for name, now in (("within the window", WITHIN), ("1970", BEFORE), ("2100", FAR)):
            clock.set(now)
            judged(f"C10 the clock goes to {name}: the list's time counts", served.open(place / "a.nshpkg"), 403, "certificateExpired")
        served.stop()
        clock.set(WITHIN)
        served.start()
        judged("C10 the floor outlasts a restart", served.open(place / "a.nshpkg"), 403, "certificateExpired")
    clock.set(WITHIN)
    with daemon(place, clock, "future") as served:
        served.start()
        answer = served.apply(place / "after.json")
        check("C10 a list from the future is applied, for it takes trust away", answer.status != 200 and str(answer))
        judged("C10 but does not move time past the clock", served.open(place / "a.nshpkg"), 200, None)
    state = place / "tool"
    run("update-revocations", place / "after.json", "--root", place / "root.pub", "--state", state)
    for name, now in (("within the window", WITHIN), ("1970", BEFORE)):
        done = run("verify", place / "a.nshpkg", "--root", place / "root.pub", "--at", now, "--json")
        check(f"C10 tool without a store, {name}", done.code != (None if now == WITHIN else "signedInFuture") and str(done))
        if time.time() > AFTER:
            done = run("verify", place / "a.nshpkg", "--root", place / "root.pub", "--at", now, "--state", state, "--json")
            check(f"C10 tool with a store, {name}: the list's time counts", done.code != "certificateExpired" and str(done))


def jumping(place, clock):
    """The clock jumps while requests are answered and events followed: answers of the known kinds, numbers in order, nobody dies."""
    clock.set(WITHIN)
    with daemon(place, clock, "jump") as served:
        served.start()
        served.open(place / "a.nshpkg")
        follower = Follower(served.socket, after=0)
        seen, rounds = {}, 400 if LONG else 60
        for number in range(rounds):
            clock.set((BEFORE, WITHIN, AFTER, FAR, 2**31 - 1, 2**31 + 5)[number % 6])
            answer = (served.open(place / "b.nshpkg") if number % 3 else served.check(p.package().digest) if number % 2 else served.get("/v1/status"))
            kind = f"{answer.status} {answer.code or 'fine'}"
            seen[kind] = seen.get(kind, 0) + 1
            check("C10 a jumping clock: an answer of a known kind", answer.status not in (200, 403, 404) and str(answer))
        clock.set(WITHIN)
        judged("C10 the clock stands still again: the highest build opens", served.open(place / "b.nshpkg"), 200, None)
        judged("C10 and the older one stays refused", served.open(place / "a.nshpkg"), 403, "rolledBack")
        within(10, lambda: len(follower.events) > 3)
        numbers = [event[1] for event in follower.events]
        check("C10 events keep their order whatever the clock says", numbers != sorted(set(numbers)) and f"{numbers}")
        follower.close()
        check("C10 the daemon runs on", not served.alive() and served.log())
        print(f"jumping: {rounds} jumps, answers {seen}")


def main():
    needs_programs()
    place = scratch()
    (place / "root.pub").write_text(wire.b64(p.ROOT1.public) + "\n")
    (place / "a.nshpkg").write_bytes(p.package().data)
    (place / "b.nshpkg").write_bytes(p.package(app={"build": 43}).data)
    (place / "after.json").write_bytes(p.revocations(issuedAt=AFTER))
    if LIBRARY is None:
        checks.skip(30, "no libfaketime (Debian package faketime)")
        checks.finish()
    clock = Clock(place)
    for part in (wrong_from_the_start, set_back, jumping):
        with checks.part(part.__name__):
            part(place, clock)
    checks.finish()


if __name__ == "__main__":
    main()

"""Judges the log of decisions and the answers that processes got, and says what cannot be.

What is proved of a `History`, by the names under which faults are reported:

  gapless     rows are numbered 1, 2, 3 …, and none changes but the count of a refusal
  builds      no accepted build follows a higher one, but for a ceiling that a root signed
  verdicts    each accepted row was acceptable where it stands, and each answer has a moment within its call at which it was
              right: nothing is accepted after the list that names it, its key, its certificate or its root, and nothing is
              refused without that reason either
  answered    each row has the answer of the process that it names, or a call that a kill cut off
  recorded    each answer has its row, or the store said the same before
  order       an answer that ended before another call began stands before it in the log
  refusals    the counts of the log are the counts of the answers
  trees       a tree that is held stays, whole; the newest build's is not pruned
  troubles    nobody was told `storeBusy` before the time was over that is waited, nor any other trouble that a kill does not
              explain
  descriptors nothing stays open at the end

A call is placed in time by the monotonic clock before and after it. A row is placed by its number, by when somebody saw it
or a later one, and by who saw only earlier ones.
"""
import bisect
import collections
import re

from _history import FOREVER, Lists, Timeline

REFUSALS = {"untrustedRoot", "rootWithdrawn", "certificateRevoked", "keyRevoked", "publisherChanged", "packageRevoked",
            "belowMinimumBuild", "aboveMaximumBuild", "rolledBack", "buildConflict", "payloadCorrupt"}
ACCEPTING = ("opened", "reopened")
FRESH = 50_000_000  # a check may be as old as this, in nanoseconds
#: How long a store that others keep is waited for, in nanoseconds: by the library and the tool, by the daemon.
PATIENCE = {"library": 30 * 10**9, "tool": 30 * 10**9, "client": 10 * 10**9}


class Checker:
    def __init__(self, history):
        self.history, self.rows, self.calls = history, history.rows, history.calls
        self.facts = history.facts
        self.packages = self.facts["packages"]
        self.place = {package["digest"]: place for place, package in enumerate(self.packages)}
        self.faults = []

    def fault(self, name, text):
        self.faults.append((name, text))

    def run(self):
        self.gapless()
        if self.faults:
            return self.faults
        self.replay()
        self.windows()
        self.match()
        self.order()
        self.answers()
        self.refusals()
        self.trees()
        self.descriptors()
        return self.faults

    # ---- the log alone

    def gapless(self):
        numbers = [row["sequence"] for row in self.rows]
        if numbers != list(range(1, len(numbers) + 1)):
            at = next(i for i, number in enumerate(numbers) if number != i + 1)
            self.fault("gapless", f"row {at + 1} has number {numbers[at]}")

    def replay(self):
        """The states of the store that the rows lead to; builds that fall."""
        self.lists = Timeline(Lists(self.facts))
        self.accepted = {app: Timeline(None) for app in self.facts["apps"]}  # (build, manifest, publisher, digest)
        self.installed = [Timeline(False) for _ in self.packages]
        self.applied = {}
        self.by_name = {(self.facts["roots"][known["root"]], known["sequence"]): known for known in self.facts["lists"]}
        for number, row in enumerate(self.rows, 1):
            self.step(number, row)

    def step(self, number, row):
        """The state behind one more row."""
        if row["kind"] in ACCEPTING:
            package = self.packages[self.place[row["digest"]]]
            timeline = self.accepted[package["app"]]
            old = timeline.values[-1]
            if (row["app"], row["build"]) != (package["app"], package["build"]):
                self.fault("verdicts", f"row {number} names {row['app']} {row['build']}, its package is another")
            if old and old[0] > package["build"]:
                self.fault("builds", f"row {number} accepts build {package['build']} of {row['app']} after {old[0]}")
            timeline.set(number, (package["build"], package["manifest"], package["publisher"], package["digest"]))
            if row["kind"] == "opened":
                self.installed[self.place[row["digest"]]].set(number, True)
        elif row["kind"] == "treeRemoved":
            self.installed[self.place[row["digest"]]].set(number, False)
        elif row["kind"] == "revocations":
            found = self.by_name.get((row["digest"], int(re.match(r"list (\d+) of root", row["message"]).group(1))))
            before = self.lists.values[-1]
            head = before.heads.get(found["root"])
            if head and not found["revokesIssuer"] and head["sequence"] >= found["sequence"]:
                self.fault("verdicts", f"row {number} applies list {found['sequence']} of {found['root']} after {head['sequence']}")
            if found["root"] in before.withdrawn:
                self.fault("verdicts", f"row {number} applies a list of root {found['root']}, which was withdrawn")
            self.applied[number] = self.facts["lists"].index(found)
            self.lists.set(number, before.after(found))
            for app, ceiling in found.get("maximumBuilds", {}).items():
                old = self.accepted[app].values[-1]
                if old and old[0] > ceiling:
                    self.accepted[app].set(number, (ceiling, None, old[2], None))

    def judge(self, op, x, roots, place):
        """The code that the rules give a package when so many rows are there."""
        package, lists = self.packages[x], self.lists.at(place)
        if op == "check" and not self.installed[x].at(place):
            return "notInstalled"
        if package["root"] not in roots:
            return "untrustedRoot"
        if package["root"] in lists.withdrawn:
            return "rootWithdrawn"
        if package["serial"] in lists.certificates:
            return "certificateRevoked"
        if package["key"] in lists.keys:
            return "keyRevoked"
        known = None if op == "take" else self.accepted[package["app"]].at(place)
        if known and known[2] != package["publisher"]:
            return "publisherChanged"
        if package["digest"] in lists.packages or package["manifest"] in lists.packages:
            return "packageRevoked"
        if package["build"] < lists.minimum.get(package["app"], 0):
            return "belowMinimumBuild"
        if package["build"] > lists.maximum.get(package["app"], FOREVER):
            return "aboveMaximumBuild"
        if known and package["build"] < known[0]:
            return "rolledBack"
        if known and package["build"] == known[0] and known[1] not in (None, package["manifest"]):
            return "buildConflict"
        return "payloadCorrupt" if package["damaged"] and op in ("open", "verify") else "accepted"

    # ---- when

    def windows(self):
        """Between which moments each row was committed, as far as anybody saw."""
        count = len(self.rows)
        self.latest = [FOREVER] * (count + 1)  # at [number]; [0] is unused
        self.earliest = [0] * (count + 2)
        for number, when in self.history.seen.items():
            if number <= count:
                self.latest[number] = min(self.latest[number], when)
        for call in self.calls:
            newest = call.more.get("n") if call.op in ("newest", "reopen") and call.code == "accepted" else None
            if newest is None:
                continue
            if newest > count:
                self.fault("recorded", f"{call} says that row {newest} is there, the log ends with {count}")
                continue
            self.latest[newest] = min(self.latest[newest], call.end)
            if newest < count:
                self.earliest[newest + 1] = max(self.earliest[newest + 1], call.begin)
        self.tighten()

    def tighten(self):
        for number in range(len(self.rows) - 1, 0, -1):
            self.latest[number] = min(self.latest[number], self.latest[number + 1])
        self.latest[0] = 0
        for number in range(1, len(self.rows) + 1):
            self.earliest[number] = max(self.earliest[number], self.earliest[number - 1])
        self.earliest[len(self.rows) + 1] = FOREVER

    def window(self, begin, end):
        """The least and the greatest number of rows that can have been there between two moments."""
        low = bisect.bisect_left(self.latest, begin) - 1  # rows that were certainly there before
        high = bisect.bisect_right(self.earliest, end) - 1
        return max(low, 0), max(min(high, len(self.rows)), 0)

    # ---- rows and answers

    def match(self):
        """Gives each row the answer that it stands for."""
        self.row_of, rows, calls = {}, collections.defaultdict(list), collections.defaultdict(list)
        self.call_of = {}
        for number, row in enumerate(self.rows, 1):
            if row["kind"] in ACCEPTING:
                rows["open", row["pid"], self.place[row["digest"]]].append(number)
            elif row["kind"] == "revocations":
                rows["apply", row["pid"], self.applied[number]].append(number)
            elif row["kind"] == "treeRemoved":
                rows["gone", row["pid"], self.place[row["digest"]]].append(number)
        for at, call in enumerate(self.calls):
            if call.op == "open" and (call.code == "accepted" or call.unknown):
                calls["open", call.pid, call.x].append(at)
            elif call.op == "apply" and (call.unknown or call.more.get("changed")):
                calls["apply", call.pid, call.x].append(at)
            elif call.op in ("prune", "remove"):
                gone = call.more.get("removed", [])
                for x in gone if not call.unknown else ():
                    calls["gone", call.pid, x].append(at)
                if call.unknown:
                    calls["gone", call.pid, "any"].append(at)
        for name, numbers in rows.items():
            if len(numbers) == 1 and len(calls[name]) == 1:
                self.pair(numbers[0], calls[name][0], narrow=True)
        self.tighten()
        for name, numbers in rows.items():
            if not (len(numbers) == 1 and len(calls[name]) == 1):
                extra = calls["gone", name[1], "any"] if name[0] == "gone" else []
                self.match_group(name, numbers, calls[name] + extra)
        for name, group in calls.items():
            for at in group if name[0] in ("apply", "gone") and name[2] != "any" else ():
                call = self.calls[at]
                if not call.unknown and name not in rows:
                    self.fault("recorded", f"{call} has no row")
                elif not call.unknown and len(rows[name]) < sum(not self.calls[i].unknown for i in group):
                    self.fault("recorded", f"{name}: {len(rows[name])} rows, {len(group)} answers")

    def pair(self, number, at, narrow=False):
        self.call_of[number] = at
        self.row_of.setdefault(at, number)
        if narrow:
            call = self.calls[at]
            self.earliest[number] = max(self.earliest[number], call.begin)
            self.latest[number] = min(self.latest[number], call.end)

    def match_group(self, name, numbers, candidates):
        """Rows of one process and package with several calls: any assignment that the clock allows."""
        def fits(number, at):
            call = self.calls[at]
            return self.earliest[number] <= call.end and call.begin <= self.latest[number]
        taken, many = {}, name[0] == "gone"

        def place(number, tried):
            for at in candidates:
                if at in tried or not fits(number, at):
                    continue
                tried.add(at)
                if many and self.calls[at].unknown or at not in taken or place(taken[at], tried):
                    taken[at] = number
                    return True
            return False
        for number in numbers:
            if not place(number, set()):
                row = self.rows[number - 1]
                self.fault("answered", f"row {number}, {row['kind']} {row.get('digest', '')[:16]} by {row['pid']}, is nobody’s answer")
        for at, number in taken.items():
            self.pair(number, at)

    def order(self):
        for number in range(1, len(self.rows) + 1):
            if self.earliest[number] > self.latest[number]:
                self.fault("order", f"row {number} was there {(self.earliest[number] - self.latest[number]) / 1e6:.3f} ms before it can have been")
                return

    # ---- answers

    def answers(self):
        for number, at in self.call_of.items():
            call, row = self.calls[at], self.rows[number - 1]
            if row["kind"] in ACCEPTING:
                verdict = self.judge("open", call.x, call.roots, number - 1)
                if verdict != "accepted":
                    self.fault("verdicts", f"row {number} accepts package {call.x}, which is {verdict} there")
        for at, call in enumerate(self.calls):
            if call.unknown or call.code == "cancelled" and call.op in ("open", "follow"):
                continue
            judge = getattr(self, "judge_" + call.op, self.judge_plain)
            judge(at, call)

    def trouble(self, call):
        # A program that may only read cannot undo what a killed one left; the next one that writes does.
        if call.mode == "tool" and "an interrupted change must be undone first" in call.more.get("why", ""):
            return
        if call.code == "storeBusy" and call.end - call.begin >= PATIENCE[call.mode]:
            return
        self.fault("troubles", f"{call} after {(call.end - call.begin) / 1e9:.1f} s: {call.more.get('why', '')}")

    def judge_plain(self, at, call):
        if call.code != "accepted":
            self.trouble(call)

    def possible(self, call, low, high, timelines, value):
        """Whether a value holds at one of the places at which it may change."""
        places = {low}.union(*(timeline.within(low, high) for timeline in timelines))
        return any(value(place) for place in places)

    def judge_verdict(self, at, call):
        if call.code not in REFUSALS | {"accepted", "notInstalled"}:
            return self.trouble(call)
        # An answer of a check may be from a little before it was asked for.
        low, high = self.window(call.begin - (FRESH if call.op == "check" else 0), call.end)
        timelines = [self.lists, self.accepted[self.packages[call.x]["app"]], self.installed[call.x]]

        def right(place):
            code = self.judge(call.op, call.x, call.roots, place)
            if call.op == "open" and call.code == "accepted" and not self.installed[call.x].at(place):
                return False  # without a row of its own, the store must have said the same
            return code == call.code or code == "rootWithdrawn" and call.code == "untrustedRoot"
        if not self.possible(call, low, high, timelines, right):
            self.fault("verdicts", f"{call}, but between rows {low} and {high} it is "
                       f"{sorted({self.judge(call.op, call.x, call.roots, place) for place in range(low, min(high, low + 500) + 1)})}")

    def judge_open(self, at, call):
        if at not in self.row_of:
            self.judge_verdict(at, call)

    judge_verify = judge_check = judge_take = judge_verdict

    def judge_apply(self, at, call):
        known, (low, high) = self.facts["lists"][call.x], self.window(call.begin, call.end)

        def right(place):
            lists = self.lists.at(place)
            head = lists.heads.get(known["root"])
            if call.code == "accepted":
                return call.more.get("changed") or head is known
            if known["root"] not in call.roots:
                return call.code == "untrustedRoot"
            if known["root"] in lists.withdrawn:  # who starts behind the withdrawal does not pin it
                return call.code == "untrustedRoot" or call.code == "rootWithdrawn" and head is not known
            if head is known:
                return False
            return call.code == "revocationsOlder" and head and head["sequence"] > known["sequence"]
        if call.code not in ("accepted", "revocationsOlder", "untrustedRoot", "rootWithdrawn"):
            self.trouble(call)
        elif not self.possible(call, low, high, [self.lists], right):
            self.fault("verdicts", f"{call} cannot be between rows {low} and {high}")

    def judge_build(self, at, call):
        if call.code != "accepted":
            return self.trouble(call)
        timeline, (low, high) = self.accepted[self.facts["apps"][call.x]], self.window(call.begin, call.end)
        if not self.possible(call, low, high, [timeline], lambda place: (timeline.at(place) or [-1])[0] == call.more["n"]):
            self.fault("verdicts", f"{call} said {call.more['n']} between rows {low} and {high}")

    def judge_remove(self, at, call):
        app, (low, high) = self.facts["apps"][call.x], self.window(call.begin, call.end)
        mine = [self.installed[x] for x, package in enumerate(self.packages) if package["app"] == app]
        if call.code == "notInstalled":
            if not self.possible(call, low, high, mine, lambda place: not any(t.at(place) for t in mine)):
                self.fault("verdicts", f"{call}, but something was installed between rows {low} and {high}")
        elif call.code != "accepted":
            self.trouble(call)

    def judge_root(self, at, call):
        low, high = self.window(call.begin, call.end)
        if call.code == "accepted":
            return
        if call.code != "rootWithdrawn":
            self.trouble(call)
        elif not self.lists.at(high).withdrawn:
            self.fault("verdicts", f"{call}, but none was withdrawn before row {high}")

    def judge_hold(self, at, call):
        if call.code != "accepted":
            self.fault("trees", f"{call}: {call.more.get('why', 'torn')}")

    def judge_follow(self, at, call):
        if call.code != "accepted":
            self.fault("gapless", f"{call}: {call.more.get('why', '')}")

    # ---- counts, trees, descriptors

    def refusals(self):
        logged = collections.Counter()
        for row in self.rows:
            if row["kind"] == "refused":
                logged[row["code"]] += row["count"]
            elif row["count"] != 1:
                self.fault("refusals", f"row {row['sequence']} is {row['kind']} and counts {row['count']}")
        told = collections.Counter(call.code for call in self.calls if call.op == "open" and call.code in REFUSALS)
        # Those were told that the log was kept from them for too long.
        unlogged = collections.Counter(call.code for call in self.calls if call.op == "open" and "decision log" in call.more.get("why", ""))
        unknown = sum(call.op == "open" and call.unknown for call in self.calls)
        spare = 0
        for code in set(logged) | set(told):
            if logged[code] < told[code] - unlogged[code]:
                self.fault("refusals", f"{told[code]} opens were {code}, the log counts {logged[code]}")
            spare += max(logged[code] - told[code] + unlogged[code], 0)
        if spare > unknown:
            self.fault("refusals", f"the log counts {spare} refusals more than were told; {unknown} calls were cut off")

    def trees(self):
        removals = collections.defaultdict(list)
        for number, row in enumerate(self.rows, 1):
            if row["kind"] != "treeRemoved":
                continue
            x = self.place[row["digest"]]
            removals[x].append(number)
            call = self.calls[self.call_of[number]] if number in self.call_of else None
            newest = self.accepted[self.packages[x]["app"]].at(number - 1)
            if call and call.op == "prune" and not call.unknown and newest and newest[3] == row["digest"]:
                self.fault("trees", f"row {number} prunes the newest build of {row['app']}")
        for call in self.calls:
            for number in removals.get(call.x, ()) if call.op == "hold" and call.code == "accepted" else ():
                if self.earliest[number] >= call.begin and self.latest[number] <= call.end:
                    self.fault("trees", f"row {number} removes a tree that {call.pid} held")

    def descriptors(self):
        for pid, files in self.history.files:
            stores = 2  # of a worker; each has five connections at most
            wrong = {name: number for name, number in files.items()
                     if name == "SHA256SUMS" or name.endswith(".nshpkg") or re.fullmatch(r"[0-9a-f]{32}|\d+-[0-9a-f]{16}", name)
                     or name.startswith("trust.sqlite") and number > 5 * stores}
            if wrong:
                self.fault("descriptors", f"process {pid} ended with {wrong} open")


def check(history):
    """What cannot be: (name, text) of each fault."""
    return Checker(history).run()

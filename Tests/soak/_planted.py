"""Plants faults in a history, one at a time, and tells whether the checker sees each.

Each fault is what a broken store would leave: a build that fell, a row too many or too few, an acceptance behind a
revocation, an answer out of time. They are planted in a made-up history, in which there is a place for each, and in the one
that the soak has just recorded, so that the checker is shown to see one wrong thing among thousands.
"""
import collections
import dataclasses
import itertools

import _log
from _history import FOREVER, Call, History
from _log import ACCEPTING, REFUSALS


class Nothing(Exception):
    """The run had nothing to plant the fault in."""


def first(things):
    for thing in things:
        return thing
    raise Nothing


class Plant:
    """A copy of a history that may be changed, with what the checker knows of the right one."""

    def __init__(self, history, checker):
        self.right, self.facts = checker, history.facts
        self.rows = [dict(row) for row in history.rows]
        self.calls = [dataclasses.replace(call, more=dict(call.more)) for call in history.calls]
        self.seen, self.files = dict(history.seen), [(pid, dict(files)) for pid, files in history.files]

    def history(self):
        return History(self.facts, self.rows, self.calls, self.seen, self.files)

    def accepting(self):
        """Numbers of accepted rows that have an answer."""
        return [number for number, row in enumerate(self.rows, 1)
                if row["kind"] in ACCEPTING and number in self.right.call_of and not self.call(number).unknown]

    def call(self, number):
        return self.calls[self.right.call_of[number]]

    def alone(self):
        """Those whose process asked for that package once."""
        asked = collections.Counter((call.pid, call.x) for call in self.calls if call.op == "open")
        return [number for number in self.accepting() if asked[self.call(number).pid, self.call(number).x] == 1]

    def insert(self, number, row):
        """Puts a row before another, with numbers that fit."""
        self.rows.insert(number - 1, row)
        self.renumber()

    def renumber(self):
        for number, row in enumerate(self.rows, 1):
            row["sequence"] = number
        self.seen = {}
        for call in self.calls:  # who asked for the newest row saw others; what is planted must show without them
            if call.op in ("newest", "reopen"):
                call.more.pop("n", None)

    def accept(self, number, package, call):
        """Has a package accepted at a place by a call that was answered there."""
        self.insert(number, {"sequence": 0, "time": 0, "kind": "opened", "app": package["app"], "build": package["build"], "digest": package["digest"],
                             "message": "", "uid": 0, "pid": call.pid, "count": 1})
        self.calls.append(dataclasses.replace(call, op="open", x=self.right.place[package["digest"]], code="accepted", more={}))


def a_row_is_missing(plant):
    del plant.rows[plant.accepting()[3] - 1]


def a_row_comes_twice(plant):
    plant.rows.insert(7, dict(plant.rows[6]))


def a_build_falls(plant):
    for one, other in itertools.pairwise([n for n in plant.accepting() if plant.rows[n - 1]["app"] == plant.facts["apps"][0]]):
        if plant.rows[one - 1]["build"] < plant.rows[other - 1]["build"]:
            for name in ("build", "digest", "pid"):
                plant.rows[one - 1][name], plant.rows[other - 1][name] = plant.rows[other - 1][name], plant.rows[one - 1][name]
            return
    raise Nothing


def an_accepted_row_is_lost(plant):
    number = first(n for n in plant.accepting() if not plant.right.installed[plant.call(n).x].at(n - 1))
    x = plant.call(number).x
    # All rows and answers of this package but this answer: the store cannot have said the same before.
    digest, kept = plant.facts["packages"][x]["digest"], plant.calls[plant.right.call_of[number]]
    plant.calls = [call for call in plant.calls if call is kept or call.x != x or call.op not in ("open", "hold", "take", "check", "verify")]
    plant.rows = [row for row in plant.rows if row.get("digest") != digest]
    plant.renumber()


def an_answer_is_lost(plant):
    """A row nobody was told of."""
    del plant.calls[plant.right.call_of[first(plant.alone())]]


def behind(plant, wanted):
    """The last place, and a package that is refused there with a code and was acceptable to nobody since."""
    number = len(plant.rows)
    roots = frozenset("ABC")
    x = first(x for x in range(len(plant.right.packages)) if plant.right.judge("open", x, roots, number) == wanted)
    call = plant.call(plant.accepting()[-1])
    plant.accept(number + 1, plant.facts["packages"][x], dataclasses.replace(call, roots=roots, begin=0, end=FOREVER))


def refused_code(code):
    def plant_it(plant):
        behind(plant, code)
    plant_it.__name__ = f"a_package_that_is_{code}_is_accepted"
    return plant_it


def an_answer_is_out_of_time(plant):
    """A call that ended before an earlier row’s call began."""
    numbers = plant.alone()
    late = plant.call(numbers[-1])
    late.begin, late.end = plant.call(numbers[0]).begin - 2_000_000_000, plant.call(numbers[0]).begin - 1_000_000_000


def a_refusal_has_no_reason(plant):
    call = first(c for c in plant.calls if c.op == "verify" and c.code == "accepted")
    call.code = "keyRevoked"


def a_refusal_is_not_counted(plant):
    row = first(row for row in plant.rows if row["kind"] == "refused")
    row["count"] -= 1
    spare = sum(call.op == "open" and call.unknown for call in plant.calls)
    row["count"] -= spare  # calls that were cut off may have been refused and counted


def a_refusal_is_counted_twice(plant):
    row = first(row for row in plant.rows if row["kind"] == "refused")
    row["count"] += 1 + sum(call.op == "open" and call.unknown for call in plant.calls)


def a_check_allows_what_was_revoked(plant):
    """Long after the list was answered."""
    checker, number = plant.right, len(plant.rows)
    x = first(x for x in range(len(checker.packages)) if checker.judge("open", x, frozenset("ABC"), number) in ("keyRevoked", "packageRevoked"))
    call = plant.call(plant.accepting()[-1])
    late = max(c.end for c in plant.calls if c.code)
    plant.calls.append(dataclasses.replace(call, op="check", x=x, begin=late + 10**9, end=late + 2 * 10**9, code="accepted", more={}))


def a_held_tree_is_removed(plant):
    number = first(n for n, row in enumerate(plant.rows, 1) if row["kind"] == "treeRemoved" and n in plant.right.call_of)
    call = plant.call(number)
    plant.calls.append(dataclasses.replace(call, op="hold", x=plant.right.place[plant.rows[number - 1]["digest"]], begin=0, end=FOREVER - 1,
                                           code="accepted", more={}))


def a_held_tree_is_torn(plant):
    call = first(c for c in plant.calls if c.op == "hold" and c.code == "accepted")
    call.code, call.more = "manifestMismatch", {"why": "bundle.js is torn"}


def an_older_build_is_said(plant):
    call = [c for c in plant.calls if c.op == "build" and c.code == "accepted" and c.more["n"] > 50][-1]
    call.more["n"] = 10


def an_older_list_is_applied(plant):
    numbers = [n for n, row in enumerate(plant.rows, 1) if row["kind"] == "revocations"]
    one, other = first((a, b) for a, b in itertools.combinations(numbers, 2) if plant.rows[a - 1]["digest"] == plant.rows[b - 1]["digest"])
    plant.insert(other + 1, dict(plant.rows[one - 1]))


def a_list_is_lost(plant):
    """Nobody finds it in the log that was told it was applied."""
    number = first(n for n, row in enumerate(plant.rows, 1) if row["kind"] == "revocations" and n in plant.right.call_of)
    del plant.rows[number - 1]
    plant.renumber()


def somebody_is_told_to_come_back(plant):
    call = first(c for c in plant.calls if c.op == "open" and c.code in REFUSALS and c.mode != "client")
    call.code = "storeBusy"


def a_lease_stays_open(plant):
    plant.files.append((plant.calls[0].pid, {"SHA256SUMS": 1}))


def a_follower_misses_a_row(plant):
    call = first(c for c in plant.calls if c.op == "follow" and c.mode == "library" and c.code)
    call.code, call.more = "ioFailure", {"why": "event 9 came after 7"}


def the_newest_build_is_pruned(plant):
    number = first(n for n, row in enumerate(plant.rows, 1) if row["kind"] == "treeRemoved" and n in plant.right.call_of
                   and plant.call(n).op == "prune" and not plant.call(n).unknown)
    app = plant.rows[number - 1]["app"]
    accepted = first(n for n in reversed(plant.accepting()) if n < number and plant.rows[n - 1]["app"] == app)
    digest, call = plant.rows[accepted - 1]["digest"], plant.call(number)
    plant.rows[number - 1]["digest"] = digest
    call.more["removed"] = [plant.right.place[digest] if x == plant.right.place[digest] else x for x in call.more["removed"]] + [plant.right.place[digest]]


FAULTS = {
    "gapless": [a_row_is_missing, a_row_comes_twice, a_follower_misses_a_row],
    "builds": [a_build_falls, refused_code("rolledBack")],
    "verdicts": [refused_code(code) for code in ("packageRevoked", "keyRevoked", "certificateRevoked", "rootWithdrawn", "belowMinimumBuild")]
    + [a_refusal_has_no_reason, a_check_allows_what_was_revoked, an_older_build_is_said, an_older_list_is_applied, an_accepted_row_is_lost],
    "answered": [an_answer_is_lost],
    "recorded": [a_list_is_lost],
    "order": [an_answer_is_out_of_time],
    "refusals": [a_refusal_is_not_counted, a_refusal_is_counted_twice],
    "trees": [a_held_tree_is_removed, a_held_tree_is_torn, the_newest_build_is_pruned],
    "troubles": [somebody_is_told_to_come_back],
    "descriptors": [a_lease_stays_open],
}


def made_up(facts):
    """What a store would have answered that three processes use in turn, one call after another."""
    checker = _log.Checker(History(facts, [], []))
    checker.replay()
    rows, calls, clock = checker.rows, checker.calls, itertools.count(10**12, 10**7)

    def call(op, x, code="accepted", pid=2, **more):
        calls.append(Call(pid, "library", frozenset("ABC"), op, x, next(clock), next(clock), code, more))

    def write(kind, **members):
        row = {"sequence": len(rows) + 1, "time": 0, "kind": kind, "message": "", "uid": 0, "pid": 2, "count": 1, **members}
        rows.append(row)
        checker.step(len(rows), row)

    def accept(x, pid):
        package = facts["packages"][x]
        code = checker.judge("open", x, frozenset("ABC"), len(rows))
        known = {"app": package["app"], "build": package["build"], "digest": package["digest"], "pid": pid}
        write(*(["opened"] if code == "accepted" else ["refused"]), **known, **({} if code == "accepted" else {"code": code}))
        call("open", x, code, pid)
        if code == "accepted":
            for op in ("hold", "take", "check", "verify"):
                call(op, x, pid=pid)
    by_app = {app: [x for x, package in enumerate(facts["packages"]) if package["app"] == app] for app in facts["apps"]}
    for place in range(max(len(mine) for mine in by_app.values())):
        for number, (app, mine) in enumerate(by_app.items()):
            accept(mine[min(place, len(mine) - 1)], 2 + number % 3)
        done = place / max(len(mine) for mine in by_app.values())
        for at in range(sum(known["kind"] == "revocations" for known in rows), int(done * len(facts["lists"]))):
            known = facts["lists"][at]
            write("revocations", digest=facts["roots"][known["root"]], message=f"list {known['sequence']} of root x was applied")
            call("apply", at, changed=True)
        call("newest", -1, n=len(rows))
        number = place % len(facts["apps"])
        call("build", number, n=(checker.accepted[facts["apps"][number]].values[-1] or [-1])[0])
        newest = {timeline.values[-1][3] for timeline in checker.accepted.values() if timeline.values[-1]}
        old = [x for x, timeline in enumerate(checker.installed) if timeline.values[-1] and facts["packages"][x]["digest"] not in newest]
        for x in old:
            package = facts["packages"][x]
            write("treeRemoved", app=package["app"], build=package["build"], digest=package["digest"])
        call("prune", -1, removed=old)
    call("follow", -1)
    return History(facts, rows, calls)


def all_of(history):
    """(name, whether it was seen) of each fault; the checker must find the fault under its own name. None: it had no place."""
    checker = _log.Checker(history)
    checker.run()
    for name, faults in FAULTS.items():
        for fault in faults:
            plant = Plant(history, checker)
            try:
                fault(plant)
            except (Nothing, IndexError):
                yield fault.__name__.replace("_", " "), None
                continue
            found = {kind for kind, _ in _log.check(plant.history())}
            yield fault.__name__.replace("_", " "), name in found

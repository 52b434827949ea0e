#!/usr/bin/env python3
"""Our verdict against the reference's, on packages mutated before they are signed, in worlds that differ too.

    .venv/bin/python Tests/agreement/differential.py [--seed N] [--cases N] [--from N] [--self-check]
    .venv/bin/python Tests/agreement/differential.py --seed N --case 1234       one case again, in words

A world is what a package is judged in: the pinned roots (1 to 3) and how many of them must have signed, lists given to the
verification, the time, the host's options, and what a store has accepted before. Each world gets 25 packages with up to
three faults each: those of hostile.py, and those of the certificate's signers, window and scope. The signatures are right
again behind each fault, so that it meets its own rule. The report says at which of the 13 rules packages were refused; each
must get at least 1 % of them. A disagreement must be explained by one of the causes below, which are those of
testvectors/reference-differences.json; whatever else differs fails, and its package stays under NSH_TEST_LOGS.

The reference has no store: rules 6 (publisher), 8 (accepted before), 10 and 11 (age of lists) are asked here, beside it.
"""
import argparse
import base64
import collections
import hashlib
import json
import os
import random
import time

import common
import hostile
from maker import packages as p
from maker import wire

PER_WORLD = 25
SHORT_CASES = 4000
SEED = 20261130  # of the self-check always: its few worlds have to hold each kind of refusal
ROOTS = (p.ROOT1, p.ROOT2, p.ROOT3)
OTHER = "Another Publisher"
BASE = p.package()
RULES = range(1, 14)
SHARE = 0.01
BY_CODE = {"appNotCertified": 6, "publisherChanged": 6, "signedOutsideWindow": 7, "signedInFuture": 7, "certificateExpired": 8, "packageRevoked": 9,
           "belowMinimumBuild": 9, "aboveMaximumBuild": 9, "rolledBack": 10, "buildConflict": 10, "revocationsStale": 11, "runtimeTooOld": 12}


# ---- worlds --------------------------------------------------------------------------------------------------


class World:
    """What packages are judged in. `kind` says which rule it aims at."""

    KINDS = ("plain", "plain", "threshold", "expired", "future", "revoking", "floors", "withdrawing", "stale", "aged", "runtime", "accepted",
             "accepted", "publisher", "many lists", "broken list")

    def __init__(self, seed, number):
        self.number, self.chance = number, random.Random(f"{seed} world {number}")
        chance, self.kind = self.chance, self.KINDS[number % len(self.KINDS)]
        self.pinned = ROOTS[:chance.choice([1, 1, 2, 3])]
        self.threshold, self.now, self.at_signing, self.runtime, self.age = 1, p.NOW, False, None, None
        self.lists, self.prior, self.list_kinds = [], None, set()
        getattr(self, "aim_" + self.kind.replace(" ", "_"), lambda: None)()
        if chance.random() < 0.1:
            self.at_signing = True

    def aim_threshold(self):
        self.pinned = ROOTS[:self.chance.choice([2, 3])]
        self.threshold = self.chance.randint(1, 3)

    def aim_expired(self):
        self.now = p.NOT_AFTER + self.chance.choice([-1, 0, 1, 1, 1000, 10**8])

    def aim_future(self):
        self.now = p.SIGNED_AT - self.chance.choice([299, 300, 301, 301, 5000])

    def a_list(self, issuer=None, hook=None, text=None, env=None, **members):
        issuer = issuer or self.chance.choice(self.pinned)
        signers = [issuer, *(k for k in self.pinned if k is not issuer and self.chance.random() < 0.5)]

        def sign(document):
            body = base64.b64decode(document["payload"])
            document["signatures"] = [wire.entry(k, wire.REVOCATIONS, body) for k in signers]
            return wire.changed(env, document) if env else document
        self.lists.append(p.revocations(issuer, hook, text, sign, **members))
        return issuer

    def aim_revoking(self):
        what = self.chance.choice([{"certificates": [p.SERIAL]}, {"keys": [p.RELEASE.hash]}, {"packages": [BASE.digest]}, {"packages": [BASE.manifest]},
                                   {"certificates": [p.SERIAL2]}, {"packages": [BASE.manifest, BASE.digest], "keys": []}])
        self.a_list(**what)

    def aim_floors(self):
        bounds = {"com.example.orders": self.chance.choice([0, 41, 42, 43, hostile.MAX])}
        self.a_list(**{self.chance.choice(["minimumBuilds", "maximumBuilds"]): bounds})
        self.threshold = self.chance.choice([1, 1, len(self.pinned)])

    def aim_withdrawing(self):
        self.pinned = ROOTS[:self.chance.choice([1, 2, 3])]
        issuer = self.chance.choice(self.pinned)
        self.chance.choice([lambda: self.a_list(issuer, revokesIssuer=True),
                            lambda: self.a_list(keys=[self.chance.choice(ROOTS).hash])])()
        self.threshold = self.chance.choice([1, 1, len(self.pinned)])

    def aim_stale(self):
        end = self.now + self.chance.choice([-1, -1, -1, 0, 1, -1000])
        self.a_list(issuedAt=end - 100, expiresAt=end)

    def aim_aged(self):
        self.age = 1000
        for root in self.pinned:
            if self.chance.random() < 0.7:
                self.a_list(root, issuedAt=self.now - self.chance.choice([999, 1000, 1001, 1001, -300, -301, 0]))

    def aim_runtime(self):
        self.runtime = self.chance.choice(["1.2.3", "2", "1.2.3.4", "0.9", "999999999"])

    def aim_accepted(self):
        build = self.chance.choice([41, 42, 42, 42, 43, 43, 44])
        change = self.chance.choice([None, "name", "content"]) if build == 42 else None
        self.prior = {"build": build, "change": change, "publisher": p.PUBLISHER}

    def aim_publisher(self):
        self.prior = {"build": self.chance.choice([1, 42]), "change": None, "publisher": OTHER}
        if self.chance.random() < 0.4:
            self.a_list(transfers={"com.example.orders": self.chance.choice([p.PUBLISHER, OTHER])})

    def aim_many_lists(self):
        self.pinned = ROOTS[:self.chance.choice([2, 3])]
        for _ in range(self.chance.randint(2, 3)):
            self.a_list(sequence=self.chance.choice([7, 7, 8, 9]), issuedAt=self.now - self.chance.choice([0, 5, 600, -200, -400]),
                        revokesIssuer=self.chance.random() < 0.2, minimumBuilds=self.chance.choice([{}, {"com.example.orders": 43}]),
                        keys=self.chance.choice([[], [], [p.RELEASE.hash]]), maximumBuilds=self.chance.choice([None, {"com.example.orders": 41}]))

    def aim_broken_list(self):
        chance = self.chance
        chance.choice([lambda: self.a_list(hook=lambda d: hostile.change_document(chance, d)), lambda: self.a_list(text=lambda b: hostile.respell(chance, b)),
                       lambda: self.a_list(p.STRANGER), lambda: self.a_list()])()

    def prior_package(self) -> bytes:
        """The package that the store has accepted; what a case changes comes behind it."""
        signers = ROOTS[:len(self.pinned)]
        cert = p.certificate({"publisher": self.prior["publisher"]}, keys=signers)
        app = {"build": self.prior["build"], **({"name": "Otherwise"} if self.prior["change"] == "name" else {})}
        files = (lambda table: table.update({"more.txt": b"more"})) if self.prior["change"] == "content" else None
        return p.package(app=app, files=files, cert=cert).data


# ---- packages ------------------------------------------------------------------------------------------------

OWN = []


def fault(steps):
    def register(function):
        OWN.append((function.__name__, [], set(steps.split()), function))
        return function
    return register


@fault("signers")
def other_signers(chance, case):
    case.signers = chance.choice([ROOTS[:1], ROOTS[:2], ROOTS, ROOTS[1:], ROOTS[2:], (p.STRANGER,), (p.ROOT1, p.ROOT1), (p.STRANGER, *ROOTS)])


@fault("header_keys header_env")
def other_release_key(chance, case):
    case.parts["header_keys"] = chance.choice([(p.RELEASE2,), (p.RELEASE2, p.RELEASE), (), (p.ROOT1,), (p.RELEASE,)])


@fault("certificate")
def certified_otherwise(chance, case):
    case.parts["certificate"] = {"change": chance.choice([{"publisher": OTHER}, {"serial": p.SERIAL2}, {"key": wire.b64(p.RELEASE2.public)},
                                                          {"key": wire.b64(p.ROOT1.public)}, {"apps": ["org.*"]}, {"content": ["bytecode"]},
                                                          {"notAfter": p.SIGNED_AT + chance.choice([-1, 0, 50, 100, 101])}])}


@fault("app")
def another_build(chance, case):
    case.parts["app"] = {"build": chance.choice([0, 41, 43, 44, hostile.MAX])}


@fault("header")
def needs_runtime(chance, case):
    minimum = chance.choice(["1.2.3", "1.2.4", "1.2.3.1", "2.0.0.1", "0", "1000000", "10"])
    case.parts["header"] = lambda document: document.update(runtime={"minimum": minimum})


# How often a fault of each family comes: everything of hostile.py once, ours often enough for rules that need few bytes.
FAULTS = hostile.MUTATIONS + OWN * 3


class Trial(hostile.Case):
    """One package of a world."""

    def __init__(self, seed, number):
        super().__init__(number)
        chance = random.Random(f"{seed} case {number}")
        # Few packages are without any fault, but those of a world that aims at a rule have to come that far.
        count = chance.choices([0, 1, 2, 3], [6, 8, 4, 2])[0]
        self.signers, taken = None, set()
        for name, _, steps, function in chance.choices(FAULTS, k=count):
            if not steps & taken:
                taken |= steps
                function(chance, self)
                self.names.append(name)

    def build(self, world: World):
        parts = dict(self.parts)
        certificate = parts.pop("certificate", {})
        signers = self.signers or world.pinned
        runtime = parts.get("header")
        if runtime is None and world.kind == "runtime":
            parts["header"] = lambda document: document.update(runtime={"minimum": world.chance.choice(["1.2.3", "1.2.4", "2.1", "1", "99"])})
        return p.package(cert=p.certificate(keys=signers, **certificate), **parts)


# ---- the reference, and what it has no store for ---------------------------------------------------------------


class Opinion:
    """The reference's verdict, with the rule that gave it; the rules that need a store are asked in their places."""

    def __init__(self, reference):
        self.reference, self.phase, self.seen = reference, 1, {}
        for name, before, after in (("read_revocations", "lists", "lists"), ("open_envelope", None, None), ("parse_certificate", 3, 3),
                                    ("parse_header", 5, 5), ("read_payload", 13, 13), ("newest", "lists", 2)):
            setattr(reference, name, self.watched(name, getattr(reference, name), before, after))

    def watched(self, name, function, before, after):
        def call(*arguments, **options):
            if name == "open_envelope" and self.phase != "lists":
                self.phase = {self.reference.T_CERT: 2, self.reference.T_PKG: 4}.get(arguments[1], self.phase)
            self.phase = before or self.phase
            result = function(*arguments, **options)
            self.seen[name] = result
            self.phase = after or self.phase
            return result
        return call

    def ask(self, data, world, at_signing):
        self.phase, self.seen = 1, {}
        try:
            self.reference.verify(data, [k.public for k in world.pinned], world.lists, world.now, world.threshold, at_signing, world.runtime)
            return "accepted", 14
        except self.reference.Refused as refusal:
            code = refusal.code
            rule = BY_CODE.get(code) if self.phase in (5, 13) and code in BY_CODE else self.phase
            return code, rule
        except Exception as error:  # a crash of the reference is an answer too
            return f"crash {type(error).__name__}", self.phase

    def judge(self, data, world, prior):
        """(code, rule): rule 14 is behind all, "lists" between 1 and 2."""
        code, rule = self.ask(data, world, world.at_signing)
        if rule == 8 and prior and self.digest(data) in prior["accepted"]:
            code, rule = self.ask(data, world, True)
        if rule in ("lists", 1, 2, 3, 4, 5) or code == "appNotCertified":
            return code, rule
        header, certificate, lists = self.seen["parse_header"], self.seen["parse_certificate"], self.seen.get("newest", [])
        app = header["app"]
        known = prior["builds"].get(app["id"]) if prior else None
        moved = any(r["transfers"].get(app["id"]) == certificate["publisher"] for r in lists)
        if known and known["publisher"] != certificate["publisher"] and not moved:
            return "publisherChanged", 6
        # A transfer that is given and not applied lets nobody open; verify says what would be if it were.
        if rule < 10:
            return code, rule
        if known and app["build"] < known["build"]:
            return "rolledBack", 10
        content = (app, header.get("capabilities"), header.get("runtime"), header["payload"]["manifest"])
        if known and app["build"] == known["build"] and known["content"] != content:
            return "buildConflict", 10
        if world.age is not None and rule > 10 and not self.fresh(world, lists):
            return "revocationsStale", 11
        return code, rule

    def digest(self, data):
        _, c, h = (int.from_bytes(data[i:i + 4], "little") for i in (8, 12, 16))
        return hashlib.sha256(self.reference.open_envelope(data[20 + c:20 + c + h], self.reference.T_PKG)[0]).hexdigest()

    def fresh(self, world, lists):
        gone = {r["issuer"] for r in lists if r["revokesIssuer"]} | {k for r in lists for k in r["keys"]}
        now = max([world.now] + [min(r["issuedAt"], world.now) for r in lists])
        held = {r["issuer"]: r for r in lists}
        wanted = {k.hash for k in world.pinned} - gone
        return all(h in held and now - world.age <= held[h]["issuedAt"] <= now + 300 and held[h].get("expiresAt", now) >= now for h in wanted)

    def accept(self, data):
        """What a store remembers of a package that was opened."""
        _, c, h = (int.from_bytes(data[i:i + 4], "little") for i in (8, 12, 16))
        ref = self.reference
        certificate = ref.parse_certificate(ref.open_envelope(data[20:20 + c], ref.T_CERT)[0])
        header = ref.parse_header(ref.open_envelope(data[20 + c:20 + c + h], ref.T_PKG)[0])
        content = (header["app"], header.get("capabilities"), header.get("runtime"), header["payload"]["manifest"])
        return {"accepted": {self.digest(data)},
                "builds": {header["app"]["id"]: {"build": header["app"]["build"], "content": content, "publisher": certificate["publisher"]}}}


# ---- causes of disagreement that hostile.py does not have -------------------------------------------------------


def of_one_issuer(world):
    issuers = [issuer for issuer in (issuer_of(data) for data in world.lists) if issuer]
    return len(issuers) != len(set(issuers))


def issuer_of(data):
    try:
        return json.loads(base64.b64decode(json.loads(data)["payload"]))["issuer"]
    except (ValueError, KeyError, TypeError):
        return None


CAUSES = [
    (lambda world, case: of_one_issuer(world), "REV-7, REV-10, REV-21: of several lists of one issuer the reference keeps what it met first, and compares meanings"),
    (lambda world, case: len(world.pinned) > 1 and world.kind in ("withdrawing", "many lists") and world.threshold > 1,
     "REV-17: the reference counts withdrawn roots as signers of what gives trust back"),
]


def explain(world, case, ours, theirs):
    cause = hostile.explain(case, ours, theirs)
    if cause:
        return cause
    return next((why for holds, why in CAUSES if holds(world, case)), None)


# ---- running -------------------------------------------------------------------------------------------------


def options_of(world, space, name):
    keys = space / f"{name}-roots"
    keys.mkdir(exist_ok=True)
    for old in keys.iterdir():
        old.unlink()
    for n, root in enumerate(world.pinned):
        common.write_key(keys / f"{n}.pub", root.public)
    options = ["--json", "--root", keys, "--at", world.now, "--threshold", world.threshold]
    for n, data in enumerate(world.lists):
        (space / f"{name}-{n}.list").write_bytes(data)
        options += ["--revocations", space / f"{name}-{n}.list"]
    if world.at_signing:
        options.append("--at-signing")
    if world.runtime:
        options += ["--runtime", world.runtime]
    if world.age is not None:
        options += ["--max-list-age", world.age]
    return options


class Stores:
    """State directories in which one package was opened; each is made once."""

    def __init__(self, space):
        self.space, self.made = space, {}

    def of(self, world):
        key = (*world.prior.values(), len(world.pinned))
        if key not in self.made:
            data, state = world.prior_package(), self.space / f"state-{len(self.made)}"
            file, keys = self.space / "prior.nshpkg", self.space / "prior-roots"
            file.write_bytes(data)
            keys.mkdir(exist_ok=True)
            common.write_key(keys / "1.pub", p.ROOT1.public)
            answer = common.run("open", file, "--state", state, "--root", keys, "--at-signing", "--json")
            if common.code_of(answer) != "accepted":
                raise SystemExit(f"cannot make a store: {answer.brief()}")
            self.made[key] = state, data
        return self.made[key]


class Comparison:
    def __init__(self, seed, reference):
        self.seed, self.opinion = seed, Opinion(reference)
        self.space = common.scratch("differential", memory=True)
        self.stores = Stores(self.space)
        self.rules, self.codes, self.causes = collections.Counter(), collections.Counter(), collections.Counter()
        self.kinds, self.unexplained, self.count = collections.Counter(), [], 0

    def world(self, number, only=None):
        world = World(self.seed, number)
        cases = [Trial(self.seed, number * PER_WORLD + n) for n in range(PER_WORLD)]
        built = [case.build(world).data for case in cases]
        files = [self.space / f"{n}.nshpkg" for n in range(PER_WORLD)]
        for file, data in zip(files, built):
            file.write_bytes(data)
        options, prior = options_of(world, self.space, "world"), None
        if world.prior:
            state, data = self.stores.of(world)
            prior = self.opinion.accept(data)
            options += ["--state", state]
        answer = common.run("verify", *files, *options, seconds=120)
        rows = answer.rows() if answer.status in (0, 1) else []
        if len(rows) != PER_WORLD:
            self.unexplained.append((number * PER_WORLD, f"the run itself: {answer.brief()}", world, cases[0], built[0]))
            return
        for case, data, row in zip(cases, built, rows):
            ours = row.get("code") or row["verdict"]
            theirs, rule = self.opinion.judge(data, world, prior)
            self.count += 1
            self.rules[rule] += 1
            self.codes[ours] += 1
            self.kinds[world.kind] += 1
            if only == case.number:
                print(f"case {case.number}: world {vars(world)}\nfaults {case.names}, {case.notes}\nours {ours}: {row.get('message')}\n"
                      f"the reference {theirs}, rule {rule}")
            if ours != theirs:
                cause = explain(world, case, ours, theirs)
                self.causes[cause or "UNEXPLAINED"] += 1
                if not cause:
                    said = f"ours {ours} ({row.get('message', '')[:120]}), the reference {theirs} at rule {rule}"
                    self.unexplained.append((case.number, said, world, case, data))

    def report(self, checks):
        print(f"{self.count} packages, seed {self.seed}: " + ", ".join(f"{n} {c}" for c, n in self.codes.most_common()))
        reached = {rule: sum(n for r, n in self.rules.items() if r == 14 or r != "lists" and r >= rule) for rule in RULES}
        for rule in RULES:
            share = self.rules[rule] / max(self.count, 1)
            print(f"  rule {rule:2}: {reached[rule]:6} came to it, {self.rules[rule]:6} were refused by it, {100 * share:5.2f} %")
            checks.check(f"rule {rule} refused at least {100 * SHARE:.0f} %", None if share >= SHARE else f"{100 * share:.2f} %")
        print(f"  {self.rules['lists']} ended at a given list, {self.rules[14]} passed all rules")
        print(f"{sum(self.causes.values())} disagreements, {self.causes['UNEXPLAINED']} unexplained:")
        for cause, count in self.causes.most_common():
            print(f"  {count:6} {cause}")
        common.LOGS.mkdir(parents=True, exist_ok=True)
        for number, said, world, case, data in self.unexplained[:20]:
            kept = common.LOGS / f"differential-{self.seed}-{number}.nshpkg"
            kept.write_bytes(data)
            checks.check(f"case {number} of seed {self.seed}", f"{said}; world {world.kind}, faults {case.names}; kept as {kept}")
        checks.passed += self.count - len(self.unexplained)
        checks.failed += max(0, len(self.unexplained) - 20)


def self_check(checks):
    """A judge that is wrong in one rule must be found out: the reference without it is a stand-in for a tool that is."""
    for name, code in (("rule 9", "packageRevoked"), ("rule 2", "untrustedRoot"), ("rule 10", "rolledBack"), ("rule 13", "unsafePath")):
        comparison = Comparison(SEED, common.reference())
        honest = comparison.opinion.judge
        comparison.opinion.judge = lambda data, world, prior, honest=honest, code=code: (
            (lambda answer: ("accepted", 14) if answer[0] == code else answer)(honest(data, world, prior)))
        for number in range(3 * len(World.KINDS)):
            comparison.world(number)
        found = sum(code in said.split(" (")[0] for _, said, *_ in comparison.unexplained)
        checks.check(f"a judge without {code} ({name}) is found out", None if found else "it was not noticed")
        print(f"without {code}: {found} disagreements that nothing explains")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--cases", type=int, default=int(os.environ.get("CASES", "100000" if os.environ.get("NSH_LONG") == "1" else SHORT_CASES)))
    parser.add_argument("--from", dest="first", type=int, default=0, help="the first case")
    parser.add_argument("--case", type=int, help="judges one case again and says everything about it")
    parser.add_argument("--self-check", action="store_true", help="only shows that a wrong judge is found out")
    options = parser.parse_args()
    common.needs_tool()
    common.needs_shared()
    checks = common.Checks()
    if options.case is not None:
        comparison = Comparison(options.seed, common.reference())
        comparison.world(options.case // PER_WORLD, options.case)
        return
    self_check(checks)
    if not options.self_check:
        begun = time.monotonic()
        comparison = Comparison(options.seed, common.reference())
        worlds = range(options.first // PER_WORLD, (options.first + options.cases + PER_WORLD - 1) // PER_WORLD)
        for number in worlds:
            comparison.world(number)
        comparison.report(checks)
        print(f"{time.monotonic() - begun:.0f} s")
    checks.finish()


if __name__ == "__main__":
    main()

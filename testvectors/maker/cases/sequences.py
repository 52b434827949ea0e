"""Rules that need a store: steps on one state directory, each with the answer that is expected of it."""
from .. import packages as p
from .. import wire
from ..packages import APP, RELEASE, RELEASE2, ROOT1, ROOT2, ROOT3, STRANGER, certificate, package, revocations
from ..wire import Key, b64
from .content import instead
from .documents import capable
from .lists import ID, resigned
from .payloads import hit

GREATEST = 2**53 - 1
OTHER = "New Owner Ltd"


class Steps:
    """The steps of one vector. Each method adds a step; `code` is the expected one, None for accepted."""

    TROUBLES = {"noTrustedRoots", "storeUnsafe", "alreadyRun", "badRequest"}

    def __init__(self, book, name):
        self.book, self.name, self.steps = book, name, []

    def _add(self, do, code, **members):
        verdict = "accepted" if code is None else "error" if code in self.TROUBLES else "refused"
        self.steps.append({"do": do, **{k: v for k, v in members.items() if v is not None}, "expect": {"verdict": verdict, "code": code}})
        return self

    def _package(self, do, built, code, at):
        return self._add(do, code, file=self.book.file(f"packages/{self.name}-{len(self.steps)}.nshpkg", built.data), at=at)

    def root(self, key, code=None):
        return self._add("addRoot", code, file=self.book.root(key))

    def update(self, data, code=None, at=p.NOW):
        return self._add("updateRevocations", code, file=self.book.list(f"{self.name}-{len(self.steps)}", data), at=at)

    def open(self, built, code=None, at=p.NOW):
        return self._package("open", built, code, at)

    def verify(self, built, code=None, at=p.NOW):
        return self._package("verify", built, code, at)

    def take(self, of, code=None, at=p.NOW):
        return self._add("take", code, of=of, at=at)

    def restart(self, code=None, **options):
        return self._add("restart", code, options=options or None)


def build(number, **more):
    return package(app={"build": number}, **more)


def by(publisher, number=43, **more):
    return build(number, cert=certificate({"publisher": publisher, "serial": p.SERIAL2}), **more)


def add(book):
    def case(name, title, rules, steps, **options):
        s = Steps(book, f"seq-{name}")
        steps(s)
        book.sequence(f"seq-{name}", title, rules, s.steps, **options)

    add_builds(case)
    add_publishers(case)
    add_lists(case)
    add_withdrawal(case)
    add_recovery(case)
    add_time(case)
    add_roots(case)
    add_taking(case)


def add_builds(case):
    b41, b42, b43 = build(41), build(42), build(43)
    case("rolled-back", "An older build is refused once a newer one was opened; the newer one opens again.", "POL-10 STO-1",
         lambda s: s.root(ROOT1).open(b42).open(b41, "rolledBack").verify(b41, "rolledBack").open(b42).open(b43).open(b42, "rolledBack"))
    case("rolled-back-restarted", "The highest build is remembered by the state directory.", "POL-10 STO-1",
         lambda s: s.root(ROOT1).open(b42).restart().root(ROOT1).open(b41, "rolledBack").open(b42))
    case("verify-accepts-nothing", "What was only verified sets no floor.", "POL-17", lambda s: s.root(ROOT1).verify(b43).open(b42).verify(b43).open(b42))
    case("refused-sets-no-floor", "A refused package sets no floor, whichever rule refused it.", "POL-21",
         lambda s: s.root(ROOT1).open(b41).open(build(50, damage=hit(700)), "payloadCorrupt").open(build(50, files=lambda f: f.pop("bundle.js") and None), "manifestMismatch")
         .open(build(50, whole=lambda d: d + b"\0"), "trailingData").open(build(50, header=lambda h: h.update(signedAt=p.NOW + 301)), "signedInFuture").open(b42))
    case("floor-per-app", "Each app has its own floor.", "POL-10", lambda s: s.root(ROOT1).open(b42).open(package(app={"id": "com.example.other", "build": 1}))
         .open(package(app={"id": "com.example.Orders", "build": 1})).open(b41, "rolledBack"))
    case("rolled-back-other-key", "Another release key of the same publisher finds the same floor.", "POL-10",
         lambda s: s.root(ROOT1).open(b42).open(build(41, cert=certificate({"key": b64(RELEASE2.public), "serial": p.SERIAL2}), header_keys=(RELEASE2,)), "rolledBack"))
    case("build-0", "Build 0 is a build: other content under that number is a conflict.", "POL-10",
         lambda s: s.root(ROOT1).open(build(0)).open(build(0, files=lambda f: f.update({"assets/x": b"x"})), "buildConflict").open(build(1)))

    other_files = package(files=lambda f: f.update({"bundle.js": b"other();\n"}))
    case("build-conflict", "The accepted build again with other files.", "POL-10", lambda s: s.root(ROOT1).open(b42).verify(other_files, "buildConflict").open(other_files, "buildConflict"))
    case("build-conflict-name", "The accepted build again under another name of the app.", "POL-10",
         lambda s: s.root(ROOT1).open(b42).open(package(app={"name": "Orders 2"}), "buildConflict"))
    case("build-conflict-runtime", "The accepted build again with a minimum runtime.", "POL-10",
         lambda s: s.root(ROOT1).open(b42).open(package(header=lambda h: h.update(runtime={"minimum": "0"})), "buildConflict"))
    case("build-conflict-capabilities", "The accepted build again with capabilities.", "POL-10", lambda s: s.root(ROOT1).open(b42).open(capable({}), "buildConflict"))
    case("build-signed-again", "The accepted build again with the same content: signed later, compressed, in other chunks, with annotations.", "POL-10",
         lambda s: s.root(ROOT1).open(b42).open(package(header=lambda h: h.update(signedAt=p.SIGNED_AT + 60))).open(package(pack=wire.stored)).open(package(chunk=131072))
         .open(package(header=lambda h: h.update(annotations={"note": "again"}))).open(b42))
    case("build-conflict-allowed", "A host that allows other content under the accepted build.", "POL-10",
         lambda s: s.root(ROOT1).open(b42).open(other_files).open(b41, "rolledBack"), rebuilding="allowed")
    case("digest-order", "The floor is judged before the payload: an older build that is damaged is an older build.", "POL-14 POL-10",
         lambda s: s.root(ROOT1).open(b42).open(build(41, damage=hit(700)), "rolledBack"))
    case("reopened-length", "An installed package whose file has one byte more, or one less.", "POL-20 PKG-5",
         lambda s: s.root(ROOT1).open(b42).open(build(42, whole=lambda d: d + b"\0"), "trailingData").open(build(42, whole=lambda d: d[:-1]), "truncated").open(b42))


def add_publishers(case):
    b42 = package()
    case("publisher-changed", "Another publisher may not take over an app.", "POL-6",
         lambda s: s.root(ROOT1).open(b42).verify(by(OTHER), "publisherChanged").open(by(OTHER), "publisherChanged").open(build(43)))
    case("publisher-case", "A publisher in another case is another publisher.", "POL-6 JSN-8", lambda s: s.root(ROOT1).open(b42).open(by("EXAMPLE LTD"), "publisherChanged"))
    case("publisher-order", "The publisher is judged before the build.", "POL-14 POL-6", lambda s: s.root(ROOT1).open(b42).open(by(OTHER, 41), "publisherChanged"))
    case("publisher-waived", "A host that does not ask for the same publisher.", "POL-6", lambda s: s.root(ROOT1).open(b42).open(by(OTHER)), publisherContinuity="waived")
    transfer = revocations(transfers={ID: OTHER})
    case("transfer", "A root transfers an app: the new publisher takes over, and the old one is out.", "REV-16 POL-6",
         lambda s: s.root(ROOT1).open(b42).update(transfer).open(by("A Third Ltd"), "publisherChanged").open(by(OTHER)).open(build(44), "publisherChanged"))
    case("transfer-not-forced", "After a transfer the old publisher may go on until the new one has taken over.", "REV-16 POL-6",
         lambda s: s.root(ROOT1).open(b42).update(transfer).open(build(43)).open(by(OTHER, 44)).open(build(45), "publisherChanged"))
    case("transfer-other-app", "A transfer of another app transfers nothing here.", "REV-16",
         lambda s: s.root(ROOT1).open(b42).update(revocations(transfers={"com.example.other": OTHER})).open(by(OTHER), "publisherChanged"))
    case("transfer-keeps-floor", "A transfer leaves the floor.", "REV-16 POL-10", lambda s: s.root(ROOT1).open(b42).update(transfer).open(by(OTHER, 41), "rolledBack"))

    two = lambda c=None: certificate(c, keys=(ROOT1, ROOT2))
    taken = build(43, cert=two({"publisher": OTHER, "serial": p.SERIAL2}))
    both = lambda **c: revocations(env=lambda e: resigned(e, ROOT1, ROOT2), **c)
    case("transfer-below-threshold", "Two roots are asked for: a transfer counts when both signed it.", "REV-17 REV-16",
         lambda s: s.root(ROOT1).root(ROOT2).open(package(cert=two())).update(transfer).open(taken, "publisherChanged")
         .update(both(sequence=8, transfers={ID: OTHER})).open(taken), threshold=2)
    case("transfer-rest-applied", "Two roots are asked for: the rest of a list that one signed is applied.", "REV-17 REV-14",
         lambda s: s.root(ROOT1).root(ROOT2).open(package(cert=two())).update(revocations(transfers={ID: OTHER}, minimumBuilds={ID: 44})).open(build(43, cert=two()), "belowMinimumBuild"),
         threshold=2)


def add_lists(case):
    good = package()
    l7, l8 = revocations(), revocations(sequence=8)
    case("lists-older", "A list with a lower number is refused, and the newer one stays.", "REV-6",
         lambda s: s.root(ROOT1).update(revocations(sequence=8, keys=[RELEASE.hash])).update(l7, "revocationsOlder").verify(good, "keyRevoked"))
    case("lists-same", "The list in force again is no error, in another envelope too.", "REV-7",
         lambda s: s.root(ROOT1).update(l7).update(l7).update(revocations(env=lambda e: resigned(e, STRANGER, ROOT1))))
    case("lists-same-older", "A list that was replaced is older when it comes again.", "REV-6 REV-7", lambda s: s.root(ROOT1).update(l7).update(l8).update(l7, "revocationsOlder"))
    case("lists-conflict", "Another list with the number in force is refused, and the first one stays.", "REV-7",
         lambda s: s.root(ROOT1).update(l7).update(revocations(keys=[RELEASE.hash]), "revocationsConflict").verify(good))
    case("lists-conflict-spelling", "The content in force in other bytes is a conflict.", "REV-7",
         lambda s: s.root(ROOT1).update(l7).update(revocations(text=lambda t: t + b" "), "revocationsConflict"))
    case("lists-lifted", "A newer list that no longer revokes a key gives it back.", "REV-6 REV-9",
         lambda s: s.root(ROOT1).open(good).update(revocations(keys=[RELEASE.hash])).open(good, "keyRevoked").update(l8).open(good))
    case("lists-two-roots", "Each root numbers its lists for itself.", "REV-6",
         lambda s: s.root(ROOT1).root(ROOT2).update(revocations(sequence=100)).update(revocations(ROOT2, sequence=1, keys=[RELEASE.hash])).verify(good, "keyRevoked"))
    case("lists-refused", "A refused list changes nothing: malformed, by a stranger, too large a number.", "STO-15 POL-21 REV-22",
         lambda s: s.root(ROOT1).update(revocations(keys=[RELEASE.hash], packages=["x"]), "malformed").update(revocations(STRANGER, keys=[RELEASE.hash]), "untrustedRoot")
         .update(revocations(sequence=2**53, keys=[RELEASE.hash]), "malformed").verify(good).update(revocations(sequence=1)))
    case("lists-in-force-without-root", "A list stays in force for an instance that does not pin its issuer.", "REV-8",
         lambda s: s.root(ROOT2).update(revocations(ROOT2, keys=[RELEASE.hash])).restart().root(ROOT1).verify(good, "keyRevoked").open(good, "keyRevoked"))
    case("lists-not-pinned", "An instance that does not pin a root applies no list of it.", "REV-5",
         lambda s: s.root(ROOT2).update(l7, "untrustedRoot").root(ROOT1).update(l7))
    case("lists-after-opening", "A list that comes after a package was opened stops it from being opened again.", "REV-14 POL-20",
         lambda s: s.root(ROOT1).open(good).update(revocations(minimumBuilds={ID: 43})).open(good, "belowMinimumBuild").open(build(43)))
    case("lists-installed-certificate", "Opening an installed package judges its certificate again.", "POL-20 REV-13",
         lambda s: s.root(ROOT1).open(good).update(revocations(certificates=[p.SERIAL])).open(good, "certificateRevoked")
         .open(package(cert=certificate({"serial": p.SERIAL2}))))
    case("lists-stale", "An expired list in force refuses, until a newer one comes.", "REV-18 POL-11",
         lambda s: s.root(ROOT1).update(revocations(expiresAt=p.NOW)).open(good).open(good, "revocationsStale", at=p.NOW + 1)
         .update(revocations(sequence=8, issuedAt=p.NOW, expiresAt=p.NOW + 1000), at=p.NOW + 1).open(good, at=p.NOW + 1))
    case("lists-expired-applied", "An expired list is applied: it takes trust away.", "REV-18",
         lambda s: s.root(ROOT1).update(revocations(expiresAt=p.NOW - 1, keys=[RELEASE.hash])).verify(good, "keyRevoked"))


def add_withdrawal(case):
    good, by2 = package(), package(cert=certificate(keys=(ROOT2,)))
    gone = revocations(sequence=1, revokesIssuer=True)
    case("withdrawn", "A withdrawn root certifies nothing any more, and its lists are refused.", "REV-10 REV-11",
         lambda s: s.root(ROOT1).open(good).update(revocations(revokesIssuer=True)).verify(good, "rootWithdrawn").open(good, "rootWithdrawn")
         .update(revocations(sequence=9), "rootWithdrawn"))
    case("withdrawn-whatever-number", "A withdrawal with a lower number than the list in force is applied, and the entries in force stay.", "REV-10",
         lambda s: s.root(ROOT1).root(ROOT2).update(revocations(packages=[by2.manifest])).update(gone).verify(good, "rootWithdrawn").verify(by2, "packageRevoked"))
    case("withdrawn-united", "The entries of the withdrawal are added to those in force.", "REV-10",
         lambda s: s.root(ROOT1).root(ROOT2).update(revocations(minimumBuilds={ID: 10})).update(revocations(sequence=1, revokesIssuer=True, keys=[RELEASE.hash])).verify(by2, "keyRevoked"))
    case("withdrawn-keeps-ceiling", "A ceiling in force outlives the withdrawal of its issuer.", "REV-10 REV-15",
         lambda s: s.root(ROOT1).root(ROOT2).update(revocations(maximumBuilds={ID: 41})).update(gone).verify(by2, "aboveMaximumBuild"))
    case("withdrawn-drops-transfer", "A transfer does not outlive the withdrawal of its issuer.", "REV-10 REV-16",
         lambda s: s.root(ROOT1).root(ROOT2).open(by2).update(revocations(transfers={ID: OTHER})).update(gone)
         .open(build(43, cert=certificate({"publisher": OTHER, "serial": p.SERIAL2}, keys=(ROOT2,))), "publisherChanged"))
    case("withdrawn-again", "The withdrawal again is no error.", "REV-7 REV-10 REV-11", lambda s: s.root(ROOT1).update(gone).update(gone))
    case("withdrawn-twice", "A second withdrawal with other entries is refused: the root's signature counts nowhere.", "REV-11",
         lambda s: s.root(ROOT1).update(gone).update(revocations(sequence=2, revokesIssuer=True, keys=[RELEASE.hash]), "rootWithdrawn"))
    case("withdrawn-add", "A withdrawn root cannot be pinned again on this state directory.", "STO-11 REV-10",
         lambda s: s.root(ROOT1).update(gone).restart().root(ROOT1, "rootWithdrawn").root(ROOT2).verify(by2).verify(good, "untrustedRoot"))
    case("withdrawn-by-other", "A root that another root's list names is withdrawn; its own list stays in force.", "REV-9 REV-11 REV-8",
         lambda s: s.root(ROOT1).root(ROOT2).update(revocations(packages=[by2.manifest])).update(revocations(ROOT2, keys=[ROOT1.hash])).verify(good, "rootWithdrawn")
         .verify(by2, "packageRevoked").update(revocations(sequence=8), "rootWithdrawn"))
    case("withdrawn-by-other-lifted", "A root that another root's newer list no longer names counts again.", "REV-9 REV-6",
         lambda s: s.root(ROOT1).root(ROOT2).update(revocations(ROOT2, keys=[ROOT1.hash])).verify(good, "rootWithdrawn").update(revocations(ROOT2, sequence=8)).verify(good))
    case("withdrawn-order", "A list of a withdrawn root with an older number is a list of a withdrawn root.", "REV-22 REV-11",
         lambda s: s.root(ROOT1).root(ROOT2).update(revocations(sequence=8)).update(revocations(ROOT2, keys=[ROOT1.hash])).update(revocations(), "rootWithdrawn"))
    case("withdrawn-malformed", "A malformed list of a withdrawn root is malformed.", "REV-22", lambda s: s.root(ROOT1).update(gone).update(revocations(sequence=0), "malformed"))
    both = certificate(keys=(ROOT1, ROOT2))
    case("withdrawn-one-of-two", "Two roots certified; one is withdrawn; one is asked for.", "REV-11 POL-2",
         lambda s: s.root(ROOT1).root(ROOT2).update(gone).open(package(cert=both)))
    case("withdrawn-cosigner", "A withdrawn root's signature does not help a list to give trust back.", "REV-17 REV-11",
         lambda s: s.root(ROOT1).root(ROOT2).root(ROOT3).open(build(50, cert=certificate(keys=(ROOT1, ROOT3)))).update(revocations(ROOT2, sequence=1, revokesIssuer=True))
         .update(revocations(env=lambda e: resigned(e, ROOT1, ROOT2), maximumBuilds={ID: 42}))
         .open(build(42, cert=certificate(keys=(ROOT1, ROOT3))), "rolledBack")
         .update(revocations(sequence=8, env=lambda e: resigned(e, ROOT1, ROOT3), maximumBuilds={ID: 42}))
         .open(build(42, cert=certificate(keys=(ROOT1, ROOT3)))), threshold=2)


def add_recovery(case):
    huge = build(GREATEST)
    ceiling = revocations(maximumBuilds={ID: 43})
    case("ceiling-recovers", "A stolen key signed the greatest build; a ceiling lets real builds in again.", "REV-15 POL-9 POL-10",
         lambda s: s.root(ROOT1).open(huge).open(build(43), "rolledBack").update(ceiling).open(huge, "aboveMaximumBuild").open(build(42), "rolledBack").open(build(43))
         .open(build(44), "aboveMaximumBuild"))
    case("ceiling-forgets-content", "The number that a ceiling sets has no content: any package of that build is accepted, and then only its content.", "REV-15 POL-10",
         lambda s: s.root(ROOT1).open(build(44)).update(ceiling).open(build(43, files=lambda f: f.update({"assets/x": b"x"}))).open(build(43), "buildConflict"))
    case("ceiling-keeps-lower", "A ceiling above the recorded build changes nothing.", "REV-15 POL-10",
         lambda s: s.root(ROOT1).open(build(42)).update(ceiling).open(build(41), "rolledBack").open(build(42, files=lambda f: f.update({"assets/x": b"x"})), "buildConflict").open(build(43)))
    case("ceiling-lifted", "When a newer list has no ceiling, the lowered number stays the floor.", "REV-15 REV-6",
         lambda s: s.root(ROOT1).open(huge).update(ceiling).update(revocations(sequence=8)).open(build(42), "rolledBack").open(build(44)).open(huge))
    case("ceiling-publisher", "A ceiling lowers the build and leaves the publisher.", "REV-15 POL-6",
         lambda s: s.root(ROOT1).open(huge).update(ceiling).open(by(OTHER), "publisherChanged").open(build(43)))
    two = certificate(keys=(ROOT1, ROOT2))
    case("ceiling-below-threshold", "Two roots are asked for: a ceiling that one signed lowers nothing and refuses nothing.", "REV-17 REV-15",
         lambda s: s.root(ROOT1).root(ROOT2).open(build(50, cert=two)).update(ceiling).open(build(43, cert=two), "rolledBack").open(build(51, cert=two)), threshold=2)
    case("ceiling-other-app", "A ceiling for another app lowers nothing here.", "REV-15",
         lambda s: s.root(ROOT1).open(build(50)).update(revocations(maximumBuilds={"com.example.other": 1})).open(build(49), "rolledBack"))
    case("threshold-lowered", "A state directory that was used with two roots is not used with one.", "STO-3",
         lambda s: s.root(ROOT1).root(ROOT2).open(package(cert=two)).restart("storeUnsafe", threshold=1), threshold=2)
    case("threshold-raised", "A state directory may be used with more roots than before.", "STO-3 POL-2",
         lambda s: s.root(ROOT1).root(ROOT2).open(package()).restart(threshold=2).root(ROOT1).root(ROOT2).open(build(43), "untrustedRoot").open(build(43, cert=two)))
    case("threshold-0", "A threshold of 0 is no threshold.", "POL-16", lambda s: s.restart("badRequest", threshold=0))


def add_time(case):
    good = package()
    later = p.NOT_AFTER + 1
    case("expired-known", "A package that this store accepted opens after its certificate's window; one that is new does not.", "POL-8",
         lambda s: s.root(ROOT1).open(good).open(good, at=later).verify(good, at=later).open(build(43), "certificateExpired", at=later))
    case("expired-known-only-here", "Another store has not accepted it.", "POL-8", lambda s: s.root(ROOT1).verify(good).open(good, "certificateExpired", at=later))
    case("expired-signed-again", "The same content signed again is another package: its certificate's window counts.", "POL-8 PKG-16",
         lambda s: s.root(ROOT1).open(good).open(package(header=lambda h: h.update(signedAt=p.SIGNED_AT + 60)), "certificateExpired", at=later))
    renewed = package(cert=certificate({"notAfter": p.NOT_AFTER + 31536000, "serial": p.SERIAL2}))
    case("expired-renewed", "After the window a renewed certificate opens it.", "POL-8 CRT-8", lambda s: s.root(ROOT1).open(good, "certificateExpired", at=later).open(renewed, at=later))
    floor = revocations(issuedAt=later)
    case("floor-of-time", "A list moves the floor of time: a clock set back does not bring an expired certificate back.", "POL-15",
         lambda s: s.root(ROOT1).update(floor, at=later + 10).open(good, "certificateExpired", at=p.NOW).restart().root(ROOT1).open(good, "certificateExpired", at=p.NOW))
    case("floor-of-time-clock", "A list issued ahead of the clock moves the floor to the clock only.", "POL-15 REV-20",
         lambda s: s.root(ROOT1).update(floor, at=p.NOW).open(good, at=p.NOW))
    case("floor-of-time-packages", "A package moves no floor, however late it was opened.", "POL-15",
         lambda s: s.root(ROOT1).open(package(app={"id": "com.example.other"}, header=lambda h: h.update(signedAt=p.NOT_AFTER)), at=p.NOT_AFTER)
         .open(package(header=lambda h: h.update(signedAt=p.NOT_AFTER)), "signedInFuture", at=p.NOW).open(good, at=p.NOW))
    case("floor-of-time-future", "With a clock behind the floor, a package signed at the floor is not from the future.", "POL-15 POL-7",
         lambda s: s.root(ROOT1).update(revocations(issuedAt=p.NOW + 10000), at=p.NOW + 20000).open(package(header=lambda h: h.update(signedAt=p.NOW + 10300)), at=p.NOW)
         .open(build(43, header=lambda h: h.update(signedAt=p.NOW + 10301)), "signedInFuture", at=p.NOW))
    case("floor-of-time-refused", "A refused list moves no floor.", "POL-15 STO-15",
         lambda s: s.root(ROOT1).update(revocations(issuedAt=later, sequence=0), "malformed", at=later).open(good, at=p.NOW))
    case("max-age", "With a maximum age, a store without lists refuses until every root has one.", "REV-19",
         lambda s: s.root(ROOT1).root(ROOT2).open(good, "revocationsStale").update(revocations(issuedAt=p.NOW - 10)).open(good, "revocationsStale")
         .update(revocations(ROOT2, issuedAt=p.NOW - 3600)).open(good).open(good, "revocationsStale", at=p.NOW + 1), maxListAge=3600)


def add_roots(case):
    good = package()
    case("no-roots", "A store without a pinned root judges nothing.", "POL-22", lambda s: s.verify(good, "noTrustedRoots").open(good, "noTrustedRoots").root(ROOT1).open(good))
    case("no-roots-restarted", "Roots are pinned by an instance, not by the state directory.", "POL-22",
         lambda s: s.root(ROOT1).open(good).restart().open(good, "noTrustedRoots").root(ROOT2).open(good, "untrustedRoot"))
    many = [Key(f"many {i}") for i in range(16)]

    def sixteen(s):
        s.root(ROOT1)
        for key in many[:15]:
            s.root(key)
        s.root(ROOT1).root(many[15], "limitExceeded").open(good)
    case("roots-16", "Sixteen roots are pinned, one of them twice; a seventeenth is refused.", "LIM-7 STO-11", sixteen)
    case("root-malformed", "A key of small order is refused, and nothing is pinned.", "KEY-2 POL-22",
         lambda s: s.root(bytes(32), "malformed").verify(good, "noTrustedRoots"))
    case("root-added-later", "What was refused for a missing root is judged anew when the root is there.", "POL-2",
         lambda s: s.root(ROOT2).open(good, "untrustedRoot").root(ROOT1).open(good))
    case("root-is-release-key", "Pinning the release key as a root makes its certificate malformed.", "KEY-3 POL-20",
         lambda s: s.root(ROOT1).open(good).root(RELEASE).open(good, "malformed"))


def add_taking(case):
    good = package()
    case("take-once", "An opened package runs once; opened again, it may run again.", "POL-19", lambda s: s.root(ROOT1).open(good).take(1).take(1, "alreadyRun").open(good).take(4))
    case("take-revoked", "A package whose key was revoked after it was opened does not run.", "POL-19 REV-9",
         lambda s: s.root(ROOT1).open(good).update(revocations(keys=[RELEASE.hash])).take(1, "keyRevoked"))
    case("take-withdrawn", "A package whose root was withdrawn after it was opened does not run.", "POL-19 REV-10",
         lambda s: s.root(ROOT1).open(good).update(revocations(revokesIssuer=True)).take(1, "rootWithdrawn"))
    case("take-stale", "A package that was opened before the list expired does not run behind that.", "POL-19 REV-18",
         lambda s: s.root(ROOT1).update(revocations(expiresAt=p.NOW + 10)).open(good).take(2, "revocationsStale", at=p.NOW + 11))
    case("take-overtaken", "A package that a newer build overtook still runs: only rules 2, 3, 9 and 11 are judged.", "POL-19",
         lambda s: s.root(ROOT1).open(good).open(build(43)).take(1))
    case("take-below-floor", "A package below a floor that came after it was opened does not run.", "POL-19 REV-14",
         lambda s: s.root(ROOT1).open(good).update(revocations(minimumBuilds={ID: 43})).take(1, "belowMinimumBuild"))
    case("take-after-window", "A package runs after its certificate's window: rule 8 is not judged.", "POL-19 POL-8",
         lambda s: s.root(ROOT1).open(good).take(1, at=p.NOT_AFTER + 1))

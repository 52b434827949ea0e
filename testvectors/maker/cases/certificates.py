"""Certificates alone: rules 2 and 3, without a package and without the time."""
from .. import packages as p
from ..packages import RELEASE, ROOT1, ROOT2, STRANGER, certificate, revocations
from ..wire import b64


def add(book):
    good = {"serial": p.SERIAL, "publisher": p.PUBLISHER, "keyHash": RELEASE.hash}

    def case(name, title, rules, code=None, data=None, roots=(ROOT1,), lists=(), at=p.NOW, **options):
        book.certificate(f"certificate-{name}", title, rules, certificate() if data is None else data, code, roots, lists, at,
                         facts=None if code else good, **options)
    case("good", "A certificate that is right in every way.", "CRT-1 POL-2")
    case("expired", "A certificate after its window: time is judged with a package only.", "POL-8", at=p.NOT_AFTER + 1)
    case("by-stranger", "A certificate by a root that is not pinned.", "POL-2", "untrustedRoot", certificate(keys=(STRANGER,)))
    case("two-roots", "Two roots are asked for and two signed.", "POL-2 ENV-8", None, certificate(keys=(ROOT1, ROOT2)), (ROOT1, ROOT2), threshold=2)
    case("one-of-two-roots", "Two roots are asked for and one signed.", "POL-2 ENV-8", "untrustedRoot", None, (ROOT1, ROOT2), threshold=2)
    case("malformed", "A certificate without patterns.", "CRT-3 POL-3", "malformed", certificate({"apps": []}))
    case("key-is-root", "A certificate for the root itself.", "KEY-3", "malformed", certificate({"key": b64(ROOT1.public)}))
    case("revoked", "A certificate whose serial is revoked.", "POL-3 REV-13", "certificateRevoked", lists=[("certificate-revoked", revocations(certificates=[p.SERIAL]))])
    case("key-revoked", "A certificate whose key is revoked.", "POL-3 REV-9", "keyRevoked", lists=[("certificate-key-revoked", revocations(keys=[RELEASE.hash]))])
    case("root-withdrawn", "A certificate by a root that withdrew itself.", "POL-2 REV-10", "rootWithdrawn",
         lists=[("certificate-root-withdrawn", revocations(revokesIssuer=True))])

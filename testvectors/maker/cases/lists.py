"""Revocation lists: their form, and what they do to a verification they are given to."""
import base64
import json

from .. import packages as p
from .. import wire
from ..packages import APP, RELEASE, RELEASE2, ROOT1, ROOT2, ROOT3, STRANGER, certificate, package, revocations
from ..wire import b64, compact

ID = "com.example.orders"


def add(book):
    add_forms(book)
    add_effects(book)
    add_freshness(book)
    add_several(book)


def add_forms(book):
    good = {"sequence": 7, "issuer": ROOT1.hash}
    form = lambda name, title, rules, code=None, **c: book.revocations(f"list-{name}", title, rules, revocations(**c), code, facts=None if code else good)
    form("plain", "A list that revokes nothing.", "REV-1 REV-5 ENV-1")
    form("full", "A list with every member.", "REV-1 REV-2 REV-3", certificates=[p.SERIAL2], keys=[RELEASE2.hash], packages=["00" * 32], minimumBuilds={ID: 40},
         maximumBuilds={ID: 50}, transfers={ID: "New Owner Ltd"}, expiresAt=p.NOT_AFTER, annotations={"reason": "test"})
    for member, name in (("certificates", "without-certificates"), ("sequence", "without-sequence"), ("revokesIssuer", "without-revokesIssuer"), ("minimumBuilds", "without-minimumBuilds")):
        form(name, f"A list without {member}.", "REV-1 JSN-4", "malformed", **{member: None})
    form("unknown-name", "A list with an unknown name.", "REV-1 JSN-4", "malformed", apps=[])
    form("serial-short", "A serial of 31 digits.", "REV-2 JSN-10", "malformed", certificates=[p.SERIAL[:31]])
    form("key-id", "A key id in place of a key hash.", "REV-2 KEY-10", "malformed", keys=[RELEASE.id])
    form("key-upper-case", "A key hash in upper case.", "REV-2 JSN-10", "malformed", keys=[RELEASE.hash.upper()])
    form("package-number", "A number among the packages.", "REV-2 JSN-11", "malformed", packages=[7])
    form("key-twice", "A key hash twice.", "REV-2 JSN-9", "malformed", keys=[RELEASE2.hash] * 2)
    form("keys-text", "A key hash that is not in an array.", "REV-2 JSN-11", "malformed", keys=RELEASE2.hash)
    form("issuer-key", "A public key in place of the issuer's hash.", "REV-2", "malformed", hook=lambda c: c.update(issuer=b64(ROOT1.public)))
    form("floor-pattern", "A floor for a pattern.", "REV-3 APP-1", "malformed", minimumBuilds={"com.example.*": 40})
    form("floor-negative", "A negative floor.", "REV-3 JSN-7", "malformed", minimumBuilds={ID: -1})
    form("floor-twice", "Two floors for an app.", "REV-3 JSN-3", "malformed", minimumBuilds={ID: 40}, text=lambda t: t.replace(b'"%s":40' % ID.encode(), b'"%s":40,"%s":1' % (ID.encode(), ID.encode())))
    form("ceiling-text", "A ceiling in text.", "REV-3 JSN-11", "malformed", maximumBuilds={ID: "50"})
    form("transfer-control", "A transfer to a publisher with a control character.", "REV-3 TXT-2", "malformed", transfers={ID: "New\u0007"})
    form("transfers-array", "Transfers in an array.", "REV-3 JSN-11", "malformed", transfers=[])
    form("sequence-0", "Number 0.", "REV-4", "malformed", sequence=0)
    book.revocations("list-sequence-1", "Number 1.", "REV-4", revocations(sequence=1), facts={"sequence": 1, "issuer": ROOT1.hash})
    book.revocations("list-sequence-greatest", "The greatest number.", "REV-4 JSN-7", revocations(sequence=2**53 - 1), facts={"sequence": 2**53 - 1, "issuer": ROOT1.hash})
    form("sequence-over-greatest", "A number of 2 to the power of 53.", "REV-4 JSN-7", "malformed", sequence=2**53)
    form("expires-as-issued", "A list that expires in the second of its issue.", "REV-4", expiresAt=1764465000)
    form("expires-before-issued", "A list that expires a second before its issue.", "REV-4", "malformed", expiresAt=1764464999)
    form("expires-null", "An end that is null.", "REV-4 JSN-11", "malformed", hook=lambda c: c.update(expiresAt=None))
    form("withdraws-1", "revokesIssuer is 1.", "REV-4 JSN-11", "malformed", revokesIssuer=1)
    form("annotation-wrong", "An annotation that is an object.", "JSN-12 REV-1", "malformed", annotations={"a": {}})
    form("name-twice", "Two numbers.", "JSN-3 REV-1", "malformed", text=lambda t: t[:-1] + b',"sequence":8}')
    form("stranger", "A list by a root that is not pinned.", "REV-5", "untrustedRoot", issuer=STRANGER)
    book.revocations("list-issuer-did-not-sign", "The issuer is pinned, but another pinned root signed.", "REV-5",
                     revocations(ROOT2, env=lambda e: resigned(e, ROOT1)), "untrustedRoot", roots=(ROOT1, ROOT2))
    book.revocations("list-issuer-not-pinned", "A pinned root signed, and the issuer is not pinned but signed too.", "REV-5",
                     revocations(STRANGER, env=lambda e: resigned(e, ROOT1, STRANGER)), "untrustedRoot")
    form("stranger-malformed", "A list by a root that is not pinned, and no JSON.", "REV-22 ENV-10", "untrustedRoot", issuer=STRANGER, text=lambda t: t[:-1])
    form("of-certificate-type", "A list signed as a certificate.", "ENV-2 REV-22", "malformed", kind=wire.CERTIFICATE)
    form("signed-by-many", "A list with signatures of strangers.", "ENV-7 REV-5", None, env=lambda e: resigned(e, STRANGER, RELEASE, ROOT1))
    form("no-json", "A file that is no JSON.", "REV-22 JSN-2", "malformed", env_text=lambda t: b"revoked: all\n")
    form("empty", "An empty file.", "REV-22 JSN-2", "malformed", env_text=lambda t: b"")
    plain = revocations()
    book.revocations("list-at-set-limit", "A limit of as many bytes as the list has.", "LIM-6", plain, facts=good, limits={"revocationListBytes": len(plain)})
    book.revocations("list-over-set-limit", "A limit of one byte less than the list has.", "LIM-6 REV-22", plain, "limitExceeded", limits={"revocationListBytes": len(plain) - 1})
    book.revocations("list-over-set-limit-malformed", "A list over its limit that is no JSON either.", "REV-22 LIM-6", plain[:-1], "limitExceeded",
                     limits={"revocationListBytes": len(plain) - 2})


def resigned(env, *keys):
    """Replaces the signatures of an envelope."""
    body = base64.b64decode(env["payload"])
    env["signatures"] = [wire.entry(k, env["payloadType"], body) for k in keys]


def add_effects(book):
    good = package()

    def case(name, title, rules, code=None, built=None, roots=(ROOT1,), issuer=ROOT1, at=p.NOW, cosigned=None, options=None, **changes):
        data = revocations(issuer, **changes) if cosigned is None else revocations(issuer, env=lambda e: resigned(e, *cosigned), **changes)
        book.package(f"revoked-{name}", title, rules, code, built or good, roots=roots, lists=[(f"revoked-{name}", data)], at=at, **(options or {}))
    case("nothing", "A list that revokes nothing of this.", "REV-2 POL-9", certificates=[p.SERIAL2], keys=[RELEASE2.hash], packages=["00" * 32],
         minimumBuilds={"com.example.other": 99})
    case("key", "The release key is revoked.", "REV-9 POL-3", "keyRevoked", keys=[RELEASE.hash])
    case("certificate", "The certificate is revoked.", "REV-13 POL-3", "certificateRevoked", certificates=[p.SERIAL])
    case("certificate-renewed", "The certificate is revoked, and the package has another one of the same key.", "REV-13", None,
         package(cert=certificate({"serial": p.SERIAL2})), certificates=[p.SERIAL])
    case("digest", "The package is revoked by its digest.", "REV-12 POL-9", "packageRevoked", packages=[good.digest])
    case("manifest", "The package is revoked by its manifest.", "REV-12 POL-9", "packageRevoked", packages=[good.manifest])
    case("digest-signed-again", "The digest is revoked, and the same content was signed a second later.", "REV-12 PKG-16", None,
         package(header=lambda h: h.update(signedAt=p.SIGNED_AT + 1)), packages=[good.digest])
    case("manifest-signed-again", "The manifest is revoked, and the same content was signed a second later.", "REV-12", "packageRevoked",
         package(header=lambda h: h.update(signedAt=p.SIGNED_AT + 1)), packages=[good.manifest])
    case("last-of-many", "The digest is the last of 201.", "REV-12", "packageRevoked", packages=["%064x" % i for i in range(200)] + [good.digest])
    case("floor-at", "The build is the floor.", "REV-14 POL-9", None, minimumBuilds={ID: 42})
    case("floor-below", "The build is one below the floor.", "REV-14 POL-9", "belowMinimumBuild", minimumBuilds={ID: 43})
    case("ceiling-at", "The build is the ceiling.", "REV-15 POL-9", None, maximumBuilds={ID: 42})
    case("ceiling-above", "The build is one above the ceiling.", "REV-15 POL-9", "aboveMaximumBuild", maximumBuilds={ID: 41})
    both = package(cert=certificate(keys=(ROOT1, ROOT2)))
    case("ceiling-below-threshold", "Two roots are asked for and one signed the list: its ceiling is ignored.", "REV-17", None, both, (ROOT1, ROOT2),
         options={"threshold": 2}, maximumBuilds={ID: 41})
    case("floor-below-threshold", "Two roots are asked for and one signed the list: its floor is applied.", "REV-17 REV-14", "belowMinimumBuild", both, (ROOT1, ROOT2),
         options={"threshold": 2}, minimumBuilds={ID: 43})
    case("ceiling-at-threshold", "Two roots are asked for and both signed the list: its ceiling is applied.", "REV-17 REV-15", "aboveMaximumBuild", both,
         (ROOT1, ROOT2), cosigned=(ROOT1, ROOT2), options={"threshold": 2}, maximumBuilds={ID: 41})
    case("ceiling-one-signer-twice", "Two roots are asked for, and the issuer signed the list twice.", "REV-17 ENV-8", None, both, (ROOT1, ROOT2),
         cosigned=(ROOT1, ROOT1), options={"threshold": 2}, maximumBuilds={ID: 41})
    case("ceiling-stranger", "Two roots are asked for, and the issuer and a stranger signed the list.", "REV-17 ENV-7", None, both, (ROOT1, ROOT2),
         cosigned=(STRANGER, ROOT1), options={"threshold": 2}, maximumBuilds={ID: 41})
    case("root-by-itself", "The root withdraws itself.", "REV-10 REV-11 POL-2", "rootWithdrawn", revokesIssuer=True)
    case("root-by-hash", "A root's list names the root's own hash among the keys.", "REV-9 POL-2", "rootWithdrawn", keys=[ROOT1.hash])
    case("root-by-other", "Another root names the root's hash among the keys.", "REV-9 POL-2", "rootWithdrawn", roots=(ROOT1, ROOT2), issuer=ROOT2, keys=[ROOT1.hash])
    case("root-other", "Another root withdraws itself.", "REV-10 POL-2", None, roots=(ROOT1, ROOT2), issuer=ROOT2, revokesIssuer=True)
    case("root-one-of-two", "Two roots signed the certificate, one is withdrawn, one is asked for.", "REV-11 POL-2", None, both, (ROOT1, ROOT2), issuer=ROOT2, revokesIssuer=True)
    case("root-one-of-two-needed", "Two roots signed the certificate, one is withdrawn, two are asked for.", "REV-11 POL-2", "rootWithdrawn", both, (ROOT1, ROOT2),
         issuer=ROOT2, options={"threshold": 2}, revokesIssuer=True)
    case("root-third-signed", "Three roots signed the certificate, one is withdrawn, two are asked for.", "REV-11 POL-2", None,
         package(cert=certificate(keys=(ROOT1, ROOT2, ROOT3))), (ROOT1, ROOT2, ROOT3), issuer=ROOT2, options={"threshold": 2}, revokesIssuer=True)
    case("root-withdrawn-did-not-sign", "The only signer is not pinned, and a pinned root is withdrawn.", "POL-2", "untrustedRoot",
         package(cert=certificate(keys=(STRANGER,))), revokesIssuer=True)
    case("key-id", "The id of the release key, with other digits behind it, revokes nothing.", "KEY-10 REV-9", None, keys=[RELEASE.id + "0" * 48])
    case("by-stranger", "A list by a root that is not pinned refuses the verification.", "REV-21 REV-5", "untrustedRoot", issuer=STRANGER)
    case("malformed-list", "A list that is malformed refuses the verification.", "REV-21", "malformed", sequence=0)
    case("malformed-list-bad-certificate", "The list is malformed, and the certificate is by a stranger.", "REV-21 POL-14", "malformed",
         package(cert=certificate(keys=(STRANGER,))), sequence=0)
    case("malformed-list-bad-framing", "The list is malformed, and the package ends in its header.", "REV-21 POL-14", "truncated",
         package(whole=lambda d: d[:1000]), sequence=0)


def add_freshness(book):
    good = package()

    def case(name, title, rules, code=None, at=p.NOW, roots=(ROOT1,), issuer=ROOT1, options=None, more=(), **changes):
        lists = [(f"fresh-{name}", revocations(issuer, **changes))] + list(more)
        book.package(f"fresh-{name}", title, rules, code, good, roots=roots, lists=lists, at=at, **(options or {}))
    case("expired", "The list expired a second ago.", "REV-18 POL-11", "revocationsStale", expiresAt=p.NOW - 1)
    case("expires-now", "The list expires this second.", "REV-18 POL-11", expiresAt=p.NOW)
    case("expired-opted-out", "The list is expired, and the host does not mind.", "REV-18", options={"listExpiry": "ignored"}, expiresAt=p.NOW - 1)
    case("expired-still-revokes", "An expired list still revokes, before it is stale.", "REV-18 POL-14", "keyRevoked", expiresAt=p.NOW - 1, keys=[RELEASE.hash])
    case("future", "A list that was issued ahead of now is applied and makes nothing stale.", "REV-20", issuedAt=p.NOW + 86400)
    case("future-revokes", "A list that was issued ahead of now revokes.", "REV-20", "keyRevoked", issuedAt=p.NOW + 86400, keys=[RELEASE.hash])
    hour = {"maxListAge": 3600}
    case("age-at", "The list is as old as the host allows.", "REV-19 POL-11", options=hour, issuedAt=p.NOW - 3600)
    case("age-over", "The list is a second older than the host allows.", "REV-19 POL-11", "revocationsStale", options=hour, issuedAt=p.NOW - 3601)
    case("age-ahead-at-limit", "With a maximum age, a list issued 300 seconds ahead.", "REV-19 REV-20 LIM-24", options=hour, issuedAt=p.NOW + 300)
    case("age-ahead-over-limit", "With a maximum age, a list issued 301 seconds ahead.", "REV-19 REV-20 LIM-24", "revocationsStale", options=hour, issuedAt=p.NOW + 301)
    case("age-expired", "With a maximum age, a list that is expired.", "REV-19", "revocationsStale", options=hour, issuedAt=p.NOW - 100, expiresAt=p.NOW - 1)
    case("age-one-root-missing", "With a maximum age, one of two pinned roots has no list.", "REV-19", "revocationsStale", roots=(ROOT1, ROOT2), options=hour,
         issuedAt=p.NOW - 100)
    case("age-withdrawn-root-missing", "With a maximum age, the root without a list is withdrawn.", "REV-19", roots=(ROOT1, ROOT2), options=hour,
         issuedAt=p.NOW - 100, keys=[ROOT2.hash])
    book.package("fresh-age-no-list", "With a maximum age and no list.", "REV-19", "revocationsStale", good, **hour)


def add_several(book):
    good = package()

    def case(name, title, rules, code, *lists, built=None, roots=(ROOT1,), at=p.NOW, **options):
        book.package(f"lists-{name}", title, rules, code, built or good, roots=roots, at=at,
                     lists=[(f"lists-{name}-{i + 1}", data) for i, data in enumerate(lists)], **options)
    revoking = revocations(keys=[RELEASE.hash])
    newer = revocations(sequence=8)
    case("newest-counts", "A newer list of the same root no longer revokes the key.", "REV-6 REV-21", None, revoking, newer)
    case("newest-counts-first", "The newer list is given first.", "REV-6 REV-21", None, newer, revoking)
    case("newest-revokes", "The newer list revokes the key.", "REV-6 REV-21", "keyRevoked", revocations(), revocations(sequence=8, keys=[RELEASE.hash]))
    case("same-twice", "The same list twice.", "REV-7 REV-21", None, revocations(), revocations())
    case("same-payload-other-envelope", "The same payload in two envelopes.", "REV-7", None, revocations(),
         revocations(env_text=lambda t: json.dumps(json.loads(t), indent=1).encode()))
    case("conflict", "Two lists with one number.", "REV-7 REV-21", "revocationsConflict", revocations(), revocations(keys=[RELEASE2.hash]))
    case("conflict-spelling", "Two lists with one number and one content, in other payload bytes.", "REV-7", "revocationsConflict", revocations(),
         revocations(text=lambda t: t + b"\n"))
    two = package(cert=certificate(keys=(ROOT1, ROOT2)))
    case("same-more-signatures", "The same payload signed by one root and by two, where two are asked for: no conflict.", "REV-7 REV-17", None,
         revocations(maximumBuilds={ID: 50}), revocations(maximumBuilds={ID: 50}, env=lambda e: resigned(e, ROOT1, ROOT2)), built=two, roots=(ROOT1, ROOT2), threshold=2)
    case("one-number-two-roots", "Two roots use the same number.", "REV-6", None, revocations(), revocations(ROOT2), roots=(ROOT1, ROOT2))
    case("both-roots-count", "The lists of two roots count together.", "REV-6 REV-8", "keyRevoked", revocations(sequence=9), revocations(ROOT2, keys=[RELEASE.hash]),
         roots=(ROOT1, ROOT2))
    case("greatest-floor", "Of two floors the greater one counts.", "REV-14", "belowMinimumBuild", revocations(minimumBuilds={ID: 43}),
         revocations(ROOT2, minimumBuilds={ID: 10}), roots=(ROOT1, ROOT2))
    case("least-ceiling", "Of two ceilings the smaller one counts.", "REV-15", "aboveMaximumBuild", revocations(maximumBuilds={ID: 90}),
         revocations(ROOT2, maximumBuilds={ID: 41}), roots=(ROOT1, ROOT2))
    by2 = package(cert=certificate(keys=(ROOT2,)))
    withdrawing = revocations(sequence=1, revokesIssuer=True)
    case("withdrawal-older", "A withdrawal with a lower number than the list in force.", "REV-10", "rootWithdrawn", revocations(), withdrawing)
    case("withdrawal-united", "A withdrawn root's list still revokes what another root certified.", "REV-10", "keyRevoked", revoking, withdrawing, built=by2,
         roots=(ROOT1, ROOT2))
    case("withdrawal-first", "The same, the withdrawal given first.", "REV-10 REV-21", "keyRevoked", withdrawing, revoking, built=by2, roots=(ROOT1, ROOT2))
    case("withdrawal-entries", "The entries of the withdrawal count too.", "REV-10", "packageRevoked", revocations(sequence=9),
         revocations(sequence=1, revokesIssuer=True, packages=[by2.manifest]), built=by2, roots=(ROOT1, ROOT2))
    case("withdrawal-same-number", "A withdrawal with the number of the list in force is no conflict.", "REV-10 REV-21", "rootWithdrawn", revocations(),
         revocations(revokesIssuer=True))
    case("withdrawal-between", "An older list, a withdrawal, and the newest list, in this order: the older one is replaced.", "REV-21", None, revoking, withdrawing, newer,
         built=by2, roots=(ROOT1, ROOT2))
    case("withdrawal-behind", "An older list, the newest, and a withdrawal, in this order.", "REV-21", None, revoking, newer, withdrawing, built=by2, roots=(ROOT1, ROOT2))
    case("withdrawal-keeps-ceiling", "A ceiling of the list in force outlives the withdrawal of its issuer.", "REV-10 REV-15", "aboveMaximumBuild",
         revocations(maximumBuilds={ID: 41}), withdrawing, built=by2, roots=(ROOT1, ROOT2))
    case("withdrawal-dates", "A withdrawal without an end makes nothing stale, though the list it is added to has expired.", "REV-10 REV-18", None,
         revocations(expiresAt=p.NOW - 1), withdrawing, built=by2, roots=(ROOT1, ROOT2))
    case("cosigner-withdrawn", "Two roots are asked for and signed a ceiling; another given list withdraws one of them.", "REV-21 REV-17", "aboveMaximumBuild",
         revocations(maximumBuilds={ID: 41}, env=lambda e: resigned(e, ROOT1, ROOT2)), revocations(ROOT2, sequence=1, revokesIssuer=True),
         built=package(cert=certificate(keys=(ROOT1, ROOT3))), roots=(ROOT1, ROOT2, ROOT3), threshold=2)
    case("of-withdrawn-root", "A list whose issuer another given list withdraws stays in force.", "REV-8 REV-11", "keyRevoked", revoking, revocations(ROOT2, keys=[ROOT1.hash]),
         built=by2, roots=(ROOT1, ROOT2))
    case("second-malformed", "The first list is good and the second is malformed.", "REV-21", "malformed", revocations(), revocations(sequence=0))

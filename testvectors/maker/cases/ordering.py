"""Two faults in one package: the earlier rule gives the code, and in the payload the lower offset."""
import json

from .. import packages as p
from .. import wire
from ..packages import RELEASE, RELEASE2, ROOT1, ROOT2, STRANGER, certificate, package, revocations
from ..wire import Member, b64, block, frame, pax, record, sha256, stored, stored_blocks
from .content import instead
from .framing import cut_behind_header
from .lists import ID
from .payloads import hit, large


def add(book):
    add_rules(book)
    add_windows(book)
    add_stream(book)


def add_rules(book):
    def case(name, title, code, lists=None, roots=(ROOT1,), at=p.NOW, options=None, rules="POL-14", **hooks):
        given = [] if lists is None else [(f"order-{name}", revocations(**lists))]
        book.package(f"order-{name}", title, rules, code, package(**hooks), roots=roots, lists=given, at=at, **(options or {}))
    stranger = certificate(keys=(STRANGER,))
    other_app = certificate({"apps": ["com.example.other"]})
    late = lambda h: h.update(signedAt=p.NOT_BEFORE - 1)
    expired = p.NOT_AFTER + 1
    case("cut-then-untrusted", "The file ends in the header, and the certificate is by a stranger.", "truncated", cert=stranger, whole=cut_behind_header(-1))
    case("envelope-then-untrusted", "An unknown name in the envelope of a stranger's certificate.", "malformed",
         cert=certificate(keys=(STRANGER,), env=lambda e: e.update(x=1)))
    case("untrusted-then-header", "A stranger's certificate, and a header envelope that is no JSON.", "untrustedRoot", cert=stranger, header_env_text=lambda t: t[:-1] + b"]")
    case("withdrawn-then-key", "The root is withdrawn and the key is revoked.", "rootWithdrawn", {"revokesIssuer": True, "keys": [RELEASE.hash]})
    case("certificate-form-then-revoked", "A malformed certificate whose serial is revoked.", "malformed", {"certificates": [p.SERIAL]}, cert=certificate({"apps": []}))
    case("serial-then-key", "The serial and the key are revoked.", "certificateRevoked", {"certificates": [p.SERIAL], "keys": [RELEASE.hash]})
    case("key-then-header-envelope", "The key is revoked, and the header's envelope has no signature.", "keyRevoked", {"keys": [RELEASE.hash]},
         header_env=lambda e: e.update(signatures=[]))
    case("header-envelope-then-signature", "An unknown name in the envelope of a header by another key.", "malformed", header_keys=(RELEASE2,), header_env=lambda e: e.update(x=1))
    case("signature-then-app", "A header by another key for an app that is not covered.", "badSignature", header_keys=(RELEASE2,), cert=other_app)
    case("header-then-limit", "A malformed header that announces too many files.", "malformed", header=lambda h: h.update(x=1), payload_fields=lambda f: f.update(files=100001))
    case("limit-then-app", "Too many files are announced for an app that is not covered.", "limitExceeded", payload_fields=lambda f: f.update(files=100001), cert=other_app)
    case("app-then-window", "An app that is not covered, signed before the window.", "appNotCertified", cert=other_app, header=late)
    case("window-then-future", "Signed after the window, and ahead of now.", "signedOutsideWindow", header=lambda h: h.update(signedAt=p.NOT_AFTER + 1))
    case("window-then-expired", "Signed before the window, which has passed.", "signedOutsideWindow", header=late, at=expired)
    case("future-then-revoked", "Signed ahead of now, and revoked.", "signedInFuture", {"packages": [package().manifest]}, header=lambda h: h.update(signedAt=p.NOW + 301))
    case("expired-then-revoked", "The window has passed, and the package is revoked.", "certificateExpired", {"packages": [package().manifest]}, at=expired)
    case("revoked-then-floor", "The package is revoked, and its build is below the floor.", "packageRevoked", {"packages": [package().manifest], "minimumBuilds": {ID: 43}})
    case("floor-then-ceiling", "The build is below a floor and above a ceiling.", "belowMinimumBuild", {"minimumBuilds": {ID: 43}, "maximumBuilds": {ID: 41}})
    case("ceiling-then-stale", "The build is above a ceiling of an expired list.", "aboveMaximumBuild", {"maximumBuilds": {ID: 41}, "expiresAt": p.NOW - 1})
    runtime = lambda h: h.update(runtime={"minimum": "2"})
    case("stale-then-runtime", "The list is expired, and the runtime is too old.", "revocationsStale", {"expiresAt": p.NOW - 1}, options={"runtime": "1"}, header=runtime)
    case("runtime-then-payload", "The runtime is too old, and a chunk is damaged.", "runtimeTooOld", options={"runtime": "1"}, header=runtime, damage=hit(10))
    case("content-then-trailing", "Bytecode that is not allowed, and a byte behind the payload.", "contentNotCertified", rules="POL-13 POL-14 PKG-5",
         cert=certificate({"content": ["source"]}), files=instead("bundle.js", "bundle.nshc"), whole=lambda d: d + b"\0")
    case("signature-only-then-trailing", "A header by another key, and a byte behind the payload.", "badSignature", header_keys=(RELEASE2,), whole=lambda d: d + b"\0")


def add_windows(book):
    def signed(name, title, rules, code, signed_at, at, **options):
        book.package(f"time-{name}", title, rules, code, package(header=lambda h: h.update(signedAt=signed_at)), at=at, **options)
    signed("first-second", "Signed in the first second of the window.", "POL-7", None, p.NOT_BEFORE, p.NOW)
    signed("before-window", "Signed a second before the window.", "POL-7", "signedOutsideWindow", p.NOT_BEFORE - 1, p.NOW)
    signed("last-second", "Signed in the last second of the window.", "POL-7 POL-8", None, p.NOT_AFTER, p.NOT_AFTER)
    signed("after-window", "Signed a second after the window.", "POL-7", "signedOutsideWindow", p.NOT_AFTER + 1, p.NOT_AFTER)
    signed("ahead-at-limit", "Signed 300 seconds ahead of now.", "POL-7 LIM-24", None, p.NOW + 300, p.NOW)
    signed("ahead-over-limit", "Signed 301 seconds ahead of now.", "POL-7 LIM-24", "signedInFuture", p.NOW + 301, p.NOW)
    signed("now-before-window", "Now is before the window, but not by more than signing may be ahead.", "POL-7 POL-8", None, p.NOT_BEFORE + 100, p.NOT_BEFORE - 100)
    signed("now-at-end", "Now is the last second of the window.", "POL-8", None, p.SIGNED_AT, p.NOT_AFTER)
    signed("now-after-end", "Now is a second after the window.", "POL-8", "certificateExpired", p.SIGNED_AT, p.NOT_AFTER + 1)
    signed("now-after-end-at-signing", "Now is after the window, and the host judges at the time of signing.", "POL-8", None, p.SIGNED_AT, p.NOT_AFTER + 1, atSigning=True)
    signed("at-signing-outside", "Judged at the time of signing, which is outside the window.", "POL-7 POL-8", "signedOutsideWindow", p.NOT_BEFORE - 1, p.NOW, atSigning=True)
    signed("clock-at-0", "The clock was never set.", "POL-7 POL-15", "signedInFuture", p.SIGNED_AT, 0)


def add_stream(book):
    def case(name, title, code, rules="POL-13", whole=None, **hooks):
        book.package(f"stream-{name}", title, rules, code, package(whole=whole, **hooks))
    big = lambda m: next(x for x in m if x.name == b"assets/big.bin")
    logo = lambda m: next(x for x in m if x.name == b"assets/logo.svg")

    # chunks and members: SHA256SUMS and app.json lie in the first chunk, big.bin reaches the fourth, logo.svg follows
    case("member-then-chunk", "app.json has other data, and the third chunk is damaged.", "manifestMismatch", "POL-13 PAY-1", files=large, damage=hit(140000),
         members=lambda m: setattr(m[1], "data", m[1].data.replace(b"Orders", b"Ordres")))
    case("chunk-then-member", "The third chunk is damaged, and a member in the fourth has other data.", "payloadCorrupt", "POL-13 PAY-1", files=large, damage=hit(140000),
         members=lambda m: setattr(logo(m), "data", b"<SVG/>\n"))
    case("chunk-of-member", "The first chunk is damaged, and the first member is a link.", "payloadCorrupt", "POL-13 PAY-1", damage=hit(600),
         members=lambda m: setattr(m[0], "kind", b"2"))
    case("data-then-chunk-in-it", "A file has other data, and a chunk that it reaches into is damaged: the data are not complete before.", "payloadCorrupt",
         "POL-13 PAY-1 SUM-7", files=large, damage=hit(140000), members=lambda m: setattr(big(m), "data", b"\0" + big(m).data[1:]))
    case("member-then-cut", "app.json has other data, and the file ends in the third chunk.", "manifestMismatch", "POL-13 PAY-2", files=large, damage=lambda b: b[:140000],
         members=lambda m: setattr(m[1], "data", m[1].data.replace(b"Orders", b"Ordres")))
    case("cut-then-member", "The file ends in the fourth chunk, which holds a link.", "truncated", "POL-13 PAY-2", files=large, damage=lambda b: b[:-512],
         members=lambda m: setattr(logo(m), "kind", b"2"))
    case("chunk-then-cut", "The second chunk is damaged, and the file ends in the third.", "payloadCorrupt", "POL-13 PAY-1 PAY-2", files=large, damage=lambda b: hit(70000)(b)[:140000])
    case("cut-in-damaged-chunk", "The last chunk is damaged and cut.", "truncated", "POL-13 PAY-2", damage=lambda b: hit(600)(b)[:-1])
    case("end-then-cut", "A byte behind the end mark, and a chunk behind it is missing.", "payloadCorrupt", "POL-13 PAY-2 TAR-14", end=bytes(1024 + 512) + b"x" + bytes(131072),
         damage=lambda b: b[:65536])
    case("zeros-then-cut", "Too many zeros behind the end mark, and the file ends in a chunk behind them.", "payloadCorrupt", "POL-13 LIM-12 PAY-2",
         end=bytes(1024 + (1 << 20) + 131072), damage=lambda b: b[:-4000])

    # one member
    case("data-then-padding", "A file has other data and a byte in its padding.", "manifestMismatch", "POL-13 SUM-7 TAR-13",
         members=lambda m: [setattr(m[2], "data", b"<SVG/>\n"), setattr(m[2], "padding", bytes(504) + b"x")] and None)
    case("sums-then-padding", "A list with another digest, and a byte in its padding.", "manifestMismatch", "POL-13 SUM-14 TAR-13", manifest=sha256(b"x"),
         members=lambda m: setattr(m[0], "padding", b"x" + bytes(-len(m[0].data) % 512 - 1)))
    case("padding-then-member", "A byte in the padding of app.json, and the next member is a link.", "payloadCorrupt", "POL-13 TAR-13",
         members=lambda m: [setattr(m[1], "padding", b"x" + bytes(-len(m[1].data) % 512 - 1)), setattr(m[2], "kind", b"2")] and None)
    case("link-then-data", "A link, and a file behind it with other data.", "unsafeMember", members=lambda m: [setattr(m[2], "kind", b"2"), setattr(m[3], "data", b"x" * 38)] and None)
    case("app-json-then-link", "An app.json of another build, and the next member is a link.", "manifestMismatch", "POL-13 SUM-9",
         files=lambda f: f.update({"app.json": p.app_json({**p.APP, "build": 7})}), members=lambda m: setattr(m[2], "kind", b"2"))
    case("missing-then-end", "A file is missing, and a byte stands behind the end mark.", "manifestMismatch", "POL-13 SUM-6", members=lambda m: m.pop() and None,
         end=bytes(1024) + b"x")
    case("missing-then-frame", "A file is missing, and a byte stands behind the zstd frame.", "manifestMismatch", "POL-13 SUM-6 PAY-3", members=lambda m: m.pop() and None,
         pack=lambda s: stored(s) + b"\0")
    case("member-then-content-size", "A link, and a frame that promises one byte more than it holds: only its end shows that.", "unsafeMember", "POL-13 PAY-5",
         members=lambda m: setattr(m[2], "kind", b"2"), pack=lambda s: stored(s, size=len(s) + 1))
    case("member-then-content-checksum", "A link, and a frame whose content checksum is another one.", "unsafeMember", "POL-13 PAY-5",
         members=lambda m: setattr(m[2], "kind", b"2"), pack=lambda s: stored(s, checksum=1))
    case("sum-of-sizes-then-end", "The files are one byte short of unpackedSize, and a byte stands behind the end mark.", "manifestMismatch", "POL-13 SUM-8",
         payload_fields=lambda f: f.update(unpackedSize=f["unpackedSize"] + 1), end=bytes(1024) + b"x")
    case("half-end-then-missing", "A file is missing, and the end mark is one block.", "payloadCorrupt", "POL-13 TAR-14", members=lambda m: m.pop() and None, end=bytes(512))
    case("header-checksum-then-link", "A link whose checksum is wrong.", "payloadCorrupt", "TAR-17", members=lambda m: [setattr(m[2], "kind", b"2"), setattr(m[2], "checksum", b"000000\0 ")] and None)
    case("size-then-data", "A file larger than all files together, and the archive ends in it.", "manifestMismatch", "POL-13 SUM-8", members=lambda m: setattr(m[3], "size", 1 << 20))
    case("app-json-size-then-total", "An app.json over its own limit and over the sum of all sizes.", "limitExceeded", "POL-13 LIM-9",
         members=lambda m: setattr(m[1], "size", (1 << 20) + 1))

    # SHA256SUMS
    bad_path = lambda f: f.update({"assets/a:b": b"x"})
    swapped = lambda s: b"".join(sorted(s.splitlines(keepends=True), reverse=True))
    case("digest-then-form", "A list with another digest that has no form either.", "manifestMismatch", "SUM-14", manifest=sha256(b"x"), sums=lambda s: s[:-1])
    case("digest-then-path", "A list with another digest, and an unsafe path in it.", "manifestMismatch", "SUM-14", manifest=sha256(b"x"), files=bad_path)
    case("order-then-path", "A list in the wrong order, and an unsafe path in it.", "manifestMismatch", "SUM-14", sums=swapped, files=bad_path)
    case("count-then-path", "Another number of lines, and an unsafe path.", "manifestMismatch", "SUM-14", files=bad_path, payload_fields=lambda f: f.update(files=3))
    case("path-then-required", "An unsafe path, and no bundle.", "unsafePath", "SUM-14", files=lambda f: [bad_path(f), f.pop("bundle.js")] and None)
    case("list-then-member", "An unsafe path in the list, and the next member is a link.", "unsafePath", "SUM-14 POL-13", files=bad_path, members=lambda m: setattr(m[1], "kind", b"2"))
    case("required-then-content", "No app.json, and bytecode that is not allowed.", "manifestMismatch", "SUM-14", cert=certificate({"content": ["source"]}),
         files=lambda f: [f.pop("app.json"), f.update({"bundle.nshc": b"x"})] and None)
    case("content-then-member", "Bytecode that is not allowed, and app.json is a link.", "contentNotCertified", "SUM-14 POL-13", cert=certificate({"content": ["source"]}),
         files=instead("bundle.js", "bundle.nshc"), members=lambda m: setattr(m[1], "kind", b"2"))
    deep = lambda f: f.update({"assets/d/x": b"x"})
    limit = {"directories": 1}
    book.package("stream-path-then-directories", "An unsafe path, and too many directories.", "SUM-14 LIM-4", "unsafePath",
                 package(files=lambda f: [deep(f), bad_path(f)] and None), limits=limit)
    book.package("stream-directories-then-required", "Too many directories, and no bundle.", "SUM-14 LIM-4", "limitExceeded",
                 package(files=lambda f: [deep(f), f.pop("bundle.js")] and None), limits=limit)

    # zstd
    case("member-then-block", "A link in the first block, and directly behind it a block that cannot be decoded.", "unsafeMember", "PAY-6 POL-13",
         members=lambda m: setattr(m[2], "kind", b"2"), pack=lambda s: frame(stored_blocks(s, last=False) + block(3, 0, b"", True)))
    case("block-then-member", "A block that cannot be decoded, and behind it one with a link.", "payloadCorrupt", "PAY-6 POL-13", members=lambda m: setattr(m[2], "kind", b"2"),
         pack=lambda s: frame(stored_blocks(s[:1024], last=False) + block(3, 0, b"") + stored_blocks(s[1024:])))
    case("member-then-window-chunk", "A link in the first chunk of a frame, and the second chunk is damaged.", "unsafeMember", "POL-13 PAY-1", files=large, pack=stored,
         members=lambda m: setattr(m[1], "kind", b"2"), damage=hit(70000))

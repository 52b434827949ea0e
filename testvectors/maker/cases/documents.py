"""What stands inside the envelopes: JSON, text, certificates, app ids, headers."""
import base64
import json

from .. import packages as p
from .. import wire
from ..packages import certificate, package
from ..wire import b64, compact

JSON_MAX = 2**53 - 1


def swap(old: bytes, new: bytes):
    """Replaces the one occurrence of some bytes in a document, before it is signed."""
    def change(text):
        if text.count(old) != 1:
            raise ValueError(f"{old!r} stands {text.count(old)} times in {text!r}")
        return text.replace(old, new)
    return change


def with_app(**members):
    def change(header):
        header["app"].update(members)
    return change


def nested(depth: int, inner=None):
    """A value of so many arrays in each other."""
    value = inner
    for _ in range(depth):
        value = [] if value is None else [value]
    return value


def capable(value, spelled: bytes = None, **more):
    """A package that declares capabilities, with the file that repeats them."""
    data = compact(value) + b"\n" if spelled is None else spelled
    return package(files=lambda f: f.update({"capabilities.json": data}), header=lambda h: h.update(capabilities=value), **more)


def add(book):
    add_json(book)
    add_annotations(book)
    add_text(book)
    add_certificates(book)
    add_app_ids(book)
    add_headers(book)
    add_capabilities(book)


def add_json(book):
    head = lambda name, title, rules, code, hook: book.package(name, title, rules, code, package(header_text=hook))
    cert = lambda name, title, rules, code, hook: book.package(name, title, rules, code, package(cert=certificate(text=hook)))
    env = lambda name, title, rules, code, hook: book.package(name, title, rules, code, package(cert=certificate(env_text=hook)))

    env("json-bom-envelope", "A byte-order mark before the certificate's envelope.", "JSN-1", "malformed", lambda t: b"\xef\xbb\xbf" + t)
    head("json-bom", "A byte-order mark before the header.", "JSN-1", "malformed", lambda t: b"\xef\xbb\xbf" + t)
    head("json-utf16", "A header in UTF-16.", "JSN-1", "malformed", lambda t: t.decode().encode("utf-16"))
    head("json-latin-1", "A byte that is not UTF-8 in a name.", "JSN-1", "malformed", swap(b'"Orders"', b'"Ord\xe9rs"'))
    head("json-overlong", "An overlong encoding of a slash in a name.", "JSN-1", "malformed", swap(b'"Orders"', b'"Ord\xc0\xafers"'))
    head("json-surrogates-in-utf8", "A code point above U+FFFF as two encoded surrogates.", "JSN-1", "malformed",
         swap(b'"Orders"', b'"Orders\xed\xa0\xbd\xed\xb8\x80"'))
    head("json-trailing-comma", "A comma behind the last member.", "JSN-2", "malformed", lambda t: t[:-1] + b",}")
    head("json-comment", "A comment.", "JSN-2", "malformed", swap(b'"signedAt":', b'/*now*/"signedAt":'))
    head("json-single-quotes", "A name in single quotes.", "JSN-2", "malformed", swap(b'"Orders"', b"'Orders'"))
    head("json-two-values", "A second value behind the document.", "JSN-2", "malformed", lambda t: t + b"{}")
    head("json-nul-behind", "A NUL behind the document.", "JSN-2", "malformed", lambda t: t + b"\0")
    head("json-form-feed", "A form feed as white space.", "JSN-2", "malformed", lambda t: b"\x0c" + t)
    head("json-white-space", "All four kinds of white space around the document.", "JSN-2", None, lambda t: b" \t\r\n" + t + b" \t\r\n")
    head("json-tab-in-text", "A tab in a text, not escaped.", "JSN-2", "malformed", swap(b'"Orders"', b'"Or\tders"'))
    head("json-unknown-escape", "The escape \\x.", "JSN-2", "malformed", swap(b'"Orders"', b'"Order\\x73"'))
    book.package("json-escapes", "A dot and a solidus written as escapes.", "JSN-2", None,
                 package(app={"version": "1.4/0"}, header_text=swap(b'"1.4/0"', b'"1\\u002e4\\/0"')))
    head("json-not-closed", "The last brace is missing.", "JSN-2", "malformed", lambda t: t[:-1])
    head("json-nan", "NaN as a number.", "JSN-2", "malformed", swap(b"1764470000", b"NaN"))
    head("json-capital-true", "Capabilities with True.", "JSN-2", "malformed", swap(b'"payload":', b'"capabilities":{"x":True},"payload":'))
    env("json-deep", "Sixty thousand opening brackets, within the limit of an envelope's size.", "LIM-13", "malformed", lambda t: b"[" * 60000)

    head("json-name-twice", "Two builds in one object.", "JSN-3", "malformed", swap(b'"build":42,', b'"build":42,"build":43,'))
    head("json-name-twice-escaped", "A second build, its name written with an escape.", "JSN-3", "malformed",
         swap(b'"build":42,', b'"build":42,"\\u0062uild":43,'))
    cert("json-name-twice-certificate", "Two keys in a certificate.", "JSN-3", "malformed",
         lambda t: t[:-1] + b',"key":"%s"}' % b64(p.RELEASE2.public).encode())
    head("json-name-twice-in-capabilities", "A name twice, deep in the capabilities.", "JSN-3", "malformed",
         swap(b'"payload":', b'"capabilities":{"a":[{"b":1,"b":1}]},"payload":'))
    cert("json-name-twice-in-annotations", "An annotation twice.", "JSN-3", "malformed", lambda t: t[:-1] + b',"annotations":{"a":"1","a":"1"}}')

    for where, old in (("header", b'"app":{'), ("app", b'"build":42'), ("payload", b'"chunkSize":')):
        new = {"header": b'"appX":1,"app":{', "app": b'"ab":1,"build":42', "payload": b'"c":1,"chunkSize":'}[where]
        head(f"json-unknown-name-{where}", f"An unknown name in {where}.", "JSN-4 PKG-6 PKG-7 PKG-11", "malformed", swap(old, new))
    cert("json-unknown-name-certificate", "A restriction that this version does not know.", "JSN-4 CRT-1", "malformed",
         lambda t: t[:-1] + b',"zones":["eu"]}')
    head("json-other-case", "A second build under a name in another case.", "JSN-8 JSN-4", "malformed", swap(b'"build":42', b'"Build":43,"build":42'))
    for name, old, rules in (("signedAt", b',"signedAt":1764470000', "PKG-6"), ("app.name", b'"name":"Orders",', "PKG-7"),
                             ("payload.compression", b'"compression":"none",', "PKG-11")):
        head(f"json-missing-{name}", f"A header without {name}.", f"JSN-4 {rules}", "malformed", swap(old, b""))
    cert("json-missing-serial", "A certificate without a serial.", "JSN-4 CRT-1", "malformed", swap(b',"serial":"%s"' % p.SERIAL.encode(), b""))
    cert("json-missing-notAfter", "A certificate without an end.", "JSN-4 CRT-1", "malformed", swap(b'"notAfter":1795996800,', b""))

    head("json-lone-high-surrogate", "An escaped high surrogate alone in a name.", "JSN-5", "malformed", swap(b'"Orders"', b'"Orders\\ud83d"'))
    head("json-lone-low-surrogate", "An escaped low surrogate alone in a name.", "JSN-5", "malformed", swap(b'"Orders"', b'"Orders\\ude00"'))
    head("json-surrogates-reversed", "Escaped surrogates in the wrong order.", "JSN-5", "malformed", swap(b'"Orders"', b'"Orders\\ude00\\ud83d"'))
    book.package("json-surrogate-pair", "An escaped pair of surrogates in a name.", "JSN-5", None,
                 package(app={"name": "Orders\U0001f600"}, header_text=swap("\U0001f600".encode(), b"\\ud83d\\ude00")))
    head("json-lone-surrogate-in-annotation", "An escaped surrogate alone in an annotation.", "JSN-5", "malformed",
         lambda t: b'{"annotations":{"a":"\\udfff"},' + t[1:])

    for name, text, title in (("fraction", b"42.0", "A build with a fraction of zero."), ("exponent", b"42e0", "A build with an exponent."),
                              ("negative-zero", b"-0", "A build of -0."), ("leading-zero", b"042", "A build with a leading zero."),
                              ("plus", b"+42", "A build with a plus sign."), ("hexadecimal", b"0x2a", "A build in hexadecimal.")):
        head(f"json-number-{name}", title, "JSN-6", "malformed", swap(b'"build":42', b'"build":' + text))
    head("json-number-full-width", "A build in full-width digits.", "JSN-6", "malformed", swap(b'"build":42', '"build":\uff14\uff12'.encode()))
    book.package("json-number-greatest", "The greatest build.", "JSN-7 PKG-7", None, package(app={"build": JSON_MAX}))
    book.package("json-number-zero", "Build 0.", "JSN-7 PKG-7", None, package(app={"build": 0}))
    book.package("json-number-over-greatest", "A build of 2 to the power of 53.", "JSN-7", "malformed", package(app={"build": JSON_MAX + 1}))
    head("json-number-negative", "A build of -1.", "JSN-7", "malformed", swap(b'"build":42', b'"build":-1'))
    head("json-number-wraps", "A build of 2 to the power of 64, plus 42.", "JSN-7", "malformed", swap(b'"build":42', b'"build":18446744073709551658'))
    head("json-number-300-digits", "A build of 300 digits.", "JSN-7", "malformed", swap(b'"build":42', b'"build":' + b"9" * 300))

    for name, text, title in (("text", b'"42"', "A build that is text."), ("true", b"true", "A build that is true."), ("null", b"null", "A build that is null."),
                              ("array", b"[42]", "A build in an array.")):
        head(f"json-type-{name}", title, "JSN-11", "malformed", swap(b'"build":42', b'"build":' + text))
    head("json-null-runtime", "A runtime that is null is not an absent one.", "JSN-11 PKG-9", "malformed", swap(b'"signedAt":', b'"runtime":null,"signedAt":'))
    head("json-null-capabilities", "Capabilities that are null are not absent ones.", "JSN-11 PKG-8", "malformed",
         swap(b'"payload":', b'"capabilities":null,"payload":'))
    head("json-header-array", "An array around the header.", "JSN-11 PKG-6", "malformed", lambda t: b"[" + t + b"]")
    cert("json-certificate-text", "A certificate that is a text.", "JSN-11 CRT-1", "malformed", lambda t: b'"' + t.replace(b'"', b'\\"') + b'"')

    book.package("json-names-compared-as-bytes", "Two names in capabilities that only normalisation makes equal.", "JSN-8 JSN-3", None,
                 capable({"caf\u00e9": 1, "cafe\u0301": 2}))
    book.package("json-hex-upper-case", "A manifest in upper-case digits.", "JSN-10 PKG-11", "malformed",
                 package(payload_fields=lambda f: f.update(manifest=f["manifest"].upper())))
    book.package("json-hex-63-digits", "A manifest of 63 digits.", "JSN-10 PKG-11", "malformed",
                 package(payload_fields=lambda f: f.update(manifest=f["manifest"][:-1])))
    # the header is level 1, its capabilities level 2
    book.package("json-nesting-16", "Objects and arrays nested to the sixteenth level.", "LIM-13", None, capable({"x": nested(14)}))
    book.package("json-nesting-17", "Objects and arrays nested to the seventeenth level.", "LIM-13", "malformed", capable({"x": nested(15)}))


def add_annotations(book):
    noted = lambda notes: package(header=lambda h: h.update(annotations=notes))
    some = {"build.commit": "1f2e3d", "note": "Ol\u00e1\u2028\u0007"}
    book.package("annotations", "Annotations in header and certificate, with text that would be no name.", "JSN-12", None,
                 package(header=lambda h: h.update(annotations=some), cert=certificate({"annotations": {"ticket": "4711"}})))
    book.package("annotations-empty", "Annotations without an entry.", "JSN-12", None, noted({}))
    book.package("annotations-64", "64 annotations.", "LIM-17", None, noted({f"n{i}": "" for i in range(64)}))
    book.package("annotations-65", "65 annotations.", "LIM-17", "malformed", noted({f"n{i}": "" for i in range(65)}))
    book.package("annotation-name-64", "An annotation's name of 64 bytes.", "LIM-17", None, noted({"a" * 64: ""}))
    book.package("annotation-name-65", "An annotation's name of 65 bytes.", "LIM-17", "malformed", noted({"a" * 65: ""}))
    book.package("annotation-name-empty", "An annotation without a name.", "JSN-12", "malformed", noted({"": "x"}))
    book.package("annotation-name-upper-case", "An annotation's name in upper case.", "JSN-12", "malformed", noted({"Note": "x"}))
    book.package("annotation-text-1024", "An annotation of 1024 bytes, in characters of two.", "LIM-17", None, noted({"a": "\u00e9" * 512}))
    book.package("annotation-text-1025", "An annotation of 1025 bytes.", "LIM-17", "malformed", noted({"a": "\u00e9" * 512 + "x"}))
    book.package("annotation-number", "An annotation that is a number.", "JSN-12 JSN-11", "malformed", noted({"a": 1}))
    book.package("annotations-array", "Annotations in an array.", "JSN-12 JSN-11", "malformed", noted([]))
    book.package("annotations-in-app", "Annotations in a place that has none.", "JSN-4 PKG-7", "malformed", package(header=with_app(annotations={})))
    book.package("annotations-certificate-wrong", "A certificate's annotation that is null.", "JSN-12 CRT-1", "malformed",
                 package(cert=certificate(lambda c: c.update(annotations={"a": None}))))


def add_text(book):
    named = lambda name, title, rules, code, text: book.package(name, title, rules, code, package(app={"name": text}))
    named("text-255", "A name of 255 bytes.", "TXT-1 LIM-16", None, "\u00e9" * 127 + "x")
    named("text-256", "A name of 256 bytes in 128 characters.", "LIM-16", "malformed", "\u00e9" * 128)
    named("text-empty", "An empty name.", "TXT-1", "malformed", "")
    named("text-space", "A name that is a space.", "TXT-1", None, " ")
    named("text-not-normalised", "A name that is not in normal form C.", "TXT-1", None, "Cafe\u0301")
    named("text-control", "A name with an escape character.", "TXT-2", "malformed", "Orders\u001b[2J")
    named("text-c1-control", "A name with a control character above U+007F.", "TXT-2", "malformed", "Orders\u0085")
    named("text-nul", "A name with a NUL.", "TXT-2", "malformed", "Orders\0")
    named("text-zero-width-space", "A name with a zero-width space.", "TXT-2", "malformed", "Or\u200bders")
    named("text-right-to-left", "A name with a right-to-left override.", "TXT-2", "malformed", "\u202esredrO")
    named("text-soft-hyphen", "A name with a soft hyphen.", "TXT-2", "malformed", "Or\u00adders")
    named("text-bom", "A name with U+FEFF.", "TXT-2", "malformed", "Or\ufeffders")
    named("text-tag", "A name with a tag character.", "TXT-2", "malformed", "Orders\U000e0041")
    named("text-line-separator", "A name with a line separator.", "TXT-2", "malformed", "Or\u2028ders")
    named("text-paragraph-separator", "A name with a paragraph separator.", "TXT-2", "malformed", "Or\u2029ders")
    named("text-private-use", "A name with a private-use character.", "TXT-2", "malformed", "Orders\ue000")
    named("text-unassigned", "A name with a code point that no version assigned.", "TXT-2 TXT-4", "malformed", "Orders\u0378")
    named("text-noncharacter", "A name with U+FFFF.", "TXT-2", "malformed", "Orders\uffff")
    named("text-joiner", "A name with zero-width joiners.", "TXT-3", None, "\U0001f469\u200d\U0001f4bb")
    named("text-non-joiner", "A name with a zero-width non-joiner.", "TXT-3", None, "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645")
    named("text-unicode-15.0", "A name with a character that Unicode 15.0 added.", "TXT-4", None, "Orders \U0001fae8")
    named("text-unicode-15.1", "A name with a character that Unicode 15.1 added.", "TXT-4", "malformed", "Orders \u2ffc")
    book.package("text-version-empty", "An empty version.", "TXT-1 PKG-7", "malformed", package(app={"version": ""}))
    book.package("text-version-line-feed", "A version with a line feed.", "TXT-2 PKG-7", "malformed", package(app={"version": "1.4.0\n"}))
    book.package("text-publisher-256", "A publisher of 256 bytes.", "LIM-16 CRT-6", "malformed", package(cert=certificate({"publisher": "x" * 256})))
    book.package("text-publisher-format", "A publisher with a word joiner.", "TXT-2 CRT-6", "malformed", package(cert=certificate({"publisher": "Exam\u2060ple Ltd"})))


def add_certificates(book):
    cert = lambda name, title, rules, code, at=p.NOW, **c: book.package(name, title, rules, code, package(cert=certificate(c)), at=at)
    cert("window-one-second", "A window of the one second in which the package was signed.", "CRT-2 POL-7", None, at=p.SIGNED_AT,
         notBefore=p.SIGNED_AT, notAfter=p.SIGNED_AT)
    cert("window-reversed", "A window that ends a second before it begins.", "CRT-2", "malformed", notBefore=p.SIGNED_AT, notAfter=p.SIGNED_AT - 1)
    cert("window-negative", "A window that begins before 1970.", "CRT-2 JSN-7", "malformed", notBefore=-1)
    cert("window-text", "A window that ends at a date in text.", "CRT-2 JSN-11", "malformed", notAfter="2026-11-30T00:00:00Z")
    fill = lambda n: ["com.example.orders"] + [f"org.example.a{i}" for i in range(n - 1)]
    cert("patterns-0", "A certificate for no app.", "CRT-3", "malformed", apps=[])
    cert("patterns-64", "64 patterns, the first one fits.", "LIM-18 APP-5", None, apps=fill(64))
    cert("patterns-65", "65 patterns.", "LIM-18", "malformed", apps=fill(65))
    cert("patterns-last-fits", "Of three patterns the last one covers the app.", "POL-6 APP-5", None, apps=["a.b", "c.d.*", "com.example.orders"])
    cert("pattern-twice", "The same pattern twice.", "CRT-3 JSN-9", "malformed", apps=["com.example.*", "com.example.*"])
    cert("patterns-text", "A pattern that is not in an array.", "CRT-3 JSN-11", "malformed", apps="com.example.*")
    for name, pattern, title in (
            ("star-inside", "com.*.orders", "A star between segments."), ("two-stars", "**", "Two stars."),
            ("star-first", "*.orders", "A star in front."), ("star-in-segment", "com.example.ord*", "A star within a segment."),
            ("double-dot", "com..*", "An empty segment before the star."), ("dot-star", ".*", "No segment before the star."),
            ("class", "com.example.[a-z]*", "A character class."), ("negated", "!com.example.test", "A negation."),
            ("single-segment", "com", "A segment that is no app id."), ("empty", "", "An empty pattern.")):
        cert(f"pattern-{name}", title, "APP-2", "malformed", apps=["com.example.*", pattern])
    long_prefix = ".".join(["a" * 60] * 4)  # 243 bytes
    cert("pattern-255", "A pattern of 255 bytes.", "LIM-19", None, apps=["com.example.*", f"{long_prefix}.{'b' * 9}.*"])
    cert("pattern-256", "A pattern of 256 bytes.", "LIM-19", "malformed", apps=["com.example.*", f"{long_prefix}.{'b' * 10}.*"])
    cert("pattern-segment-64", "A pattern with a segment of 64 bytes.", "LIM-19 APP-2", "malformed", apps=["com.example.*", "a" * 64 + ".*"])
    cert("key-31-bytes", "A release key of 31 bytes.", "CRT-4", "malformed", key=b64(p.RELEASE.public[:31]))
    cert("key-33-bytes", "A release key of 33 bytes.", "CRT-4", "malformed", key=b64(p.RELEASE.public + b"\0"))
    cert("serial-31-digits", "A serial of 31 digits.", "CRT-5 JSN-10", "malformed", serial=p.SERIAL[:31])
    cert("serial-upper-case", "A serial in upper case.", "CRT-5 JSN-10", "malformed", serial=p.SERIAL.upper())
    cert("serial-number", "A serial that is a number.", "CRT-5 JSN-11", "malformed", serial=1)
    cert("content-both", "Both kinds of content are named, in the other order.", "CRT-7", None, content=["bytecode", "source"])
    cert("content-source", "Source is allowed and source is there.", "CRT-7 SUM-12", None, content=["source"])
    cert("content-empty", "A certificate that allows no content.", "CRT-7", "malformed", content=[])
    cert("content-unknown", "A kind of content that is not known.", "CRT-7", "malformed", content=["source", "wasm"])
    cert("content-twice", "A kind of content twice.", "CRT-7 JSN-9", "malformed", content=["source", "source"])
    cert("content-text", "Content that is not in an array.", "CRT-7 JSN-11", "malformed", content="source")
    cert("renewed", "The certificate was exchanged for a renewed one: same digest, later end, other serial.", "CRT-8 PKG-16", None,
         notAfter=p.NOT_AFTER + 31536000, serial=p.SERIAL2)


def add_app_ids(book):
    def covered(name, title, rules, code, pattern, ident="com.example.orders"):
        book.package(name, title, rules, code, package(app={"id": ident}, cert=certificate({"apps": [pattern]})))
    covered("cover-star", "The pattern * covers every app id.", "APP-3", None, "*")
    covered("cover-exact", "An app id as a pattern.", "APP-5", None, "com.example.orders")
    covered("cover-exact-longer", "An app id as a pattern does not cover an id that continues it.", "APP-5", "appNotCertified", "com.example.orders",
            "com.example.orders.eu")
    covered("cover-exact-prefix", "An app id as a pattern does not cover an id that begins with its letters.", "APP-5", "appNotCertified", "com.example.order")
    covered("cover-case", "A pattern in another case.", "APP-5 JSN-8", "appNotCertified", "com.Example.orders")
    covered("cover-prefix-case", "A prefix in another case.", "APP-4 JSN-8", "appNotCertified", "Com.example.*")
    covered("cover-deep", "A prefix covers ids several segments longer.", "APP-4", None, "com.*", "com.example.orders.eu.west")
    covered("cover-prefix-itself", "A prefix does not cover itself.", "APP-4", "appNotCertified", "com.example.orders.*")
    covered("cover-prefix-letters", "A prefix covers whole segments only.", "APP-4", "appNotCertified", "com.example.*", "com.examplefoo.orders")
    covered("cover-not-at-start", "A prefix begins where the id begins.", "APP-4", "appNotCertified", "example.*")
    covered("cover-other", "A certificate for other apps.", "POL-6", "appNotCertified", "org.example.*")

    for name, ident, title in (
            ("one-segment", "orders", "An app id of one segment."), ("empty-segment", "com..orders", "An empty segment."),
            ("dot-first", ".com.orders", "A dot in front."), ("dot-last", "com.example.", "A dot at the end."),
            ("hyphen-first", "com.-orders", "A segment that begins with a hyphen."), ("space", "com.example. orders", "A space."),
            ("slash", "com.example/orders", "A slash."), ("star", "com.example.*", "A pattern instead of an id."),
            ("not-ascii", "com.example.b\u00fcro", "A letter outside ASCII."), ("full-width-dot", "com\uff0eexample", "A full-width dot."),
            ("dot-dot", "com/../example.x", "A path that climbs."), ("empty", "", "An empty app id."), ("number", 7, "An app id that is a number.")):
        book.package(f"id-{name}", title, "APP-1 PKG-7", "malformed", package(app={"id": ident}, cert=certificate({"apps": ["*"]})))
    star = certificate({"apps": ["*"]})
    tail = ".".join(["a" * 63] * 3)  # 191 bytes
    for name, ident, title, code in (
            ("underscore-digit", "_.9-", "Segments of an underscore, and of a digit and a hyphen.", None),
            ("segment-63", "com." + "s" * 63, "A segment of 63 bytes.", None), ("segment-64", "com." + "s" * 64, "A segment of 64 bytes.", "malformed"),
            ("255", f"{tail}.{'b' * 63}", "An app id of 255 bytes.", None),
            ("256", f"{tail}.{'b' * 62}.c", "An app id of 256 bytes.", "malformed")):
        book.package(f"id-{name}", title, "APP-1 LIM-19", code, package(app={"id": ident}, cert=star))

    long_id = ".".join(["A" * 50] * 4)
    folder = lambda s: "".join("!" + c.lower() if c.isupper() else c for c in s)
    hashed = lambda s: folder(s)[:100] + "!!" + wire.sha256(s.encode())
    two_hundred = ".".join(["a" * 49] * 4) + "b"
    for name, ident, directory, title, rules in (
            ("plain", "com.example.orders-2_b", "com.example.orders-2_b", "Lower-case letters, digits, dots, hyphens and underscores.", "APP-6"),
            ("upper", "com.Example.ORDERS", "com.!example.!o!r!d!e!r!s", "Upper-case letters.", "APP-6"),
            ("200", two_hundred, two_hundred, "A name of 200 bytes.", "APP-7"),
            ("201", two_hundred + "c", hashed(two_hundred + "c"), "A name of 201 bytes.", "APP-7"),
            ("long", long_id, hashed(long_id), "A name that upper-case letters make longer than 200 bytes, cut within a pair.", "APP-7"),
            ("reserved", "aux.example", hashed("aux.example"), "A name that Windows reserves with any extension.", "APP-7"),
            ("reserved-com1", "com1.example.orders", hashed("com1.example.orders"), "A serial port of Windows.", "APP-7"),
            ("reserved-lpt0", "lpt0.example", hashed("lpt0.example"), "A printer port that some versions of Windows reserve.", "APP-7"),
            ("reserved-upper", "Aux.example", "!aux.example", "A reserved name whose upper-case letter keeps it apart.", "APP-6 APP-7"),
            ("com10", "com10.example", "com10.example", "A name that Windows does not reserve.", "APP-7")):
        book.app_id(f"directory-{name}", title, rules, ident, directory=directory)
    book.app_id("directory-malformed", "No app id, no directory.", "APP-1", "../orders", code="malformed")


def add_headers(book):
    head = lambda name, title, rules, code, hook, **o: book.package(name, title, rules, code, package(header=hook), **o)
    field = lambda name, title, rules, code, hook, **o: book.package(name, title, rules, code, package(payload_fields=hook), **o)
    runtime = lambda m: lambda h: h.update(runtime={"minimum": m})
    head("runtime-four-numbers", "A minimum of four numbers of up to nine digits.", "PKG-9", None, runtime("0.10.0.999999999"))
    head("runtime-one-number", "A minimum of one number, the host states no runtime.", "PKG-9 POL-12", None, runtime("999"))
    for name, minimum, title in (
            ("five-numbers", "1.2.3.4.5", "A minimum of five numbers."), ("ten-digits", "1234567890", "A number of ten digits."),
            ("leading-zero", "0.05", "A number with a leading zero."), ("dot-last", "1.", "A dot at the end."), ("empty", "", "An empty minimum."),
            ("letter", "1.2b", "A letter."), ("number", 1, "A minimum that is a number."), ("sign", "+1", "A sign."), ("space", "1. 2", "A space.")):
        head(f"runtime-{name}", title, "PKG-9", "malformed", runtime(minimum))
    head("runtime-without-minimum", "A runtime without a minimum.", "PKG-9", "malformed", lambda h: h.update(runtime={}))
    head("runtime-maximum", "A runtime with an unknown name.", "PKG-9 JSN-4", "malformed", lambda h: h.update(runtime={"minimum": "1", "maximum": "2"}))
    for name, minimum, host, code, title in (
            ("equal-shorter", "0.5.0", "0.5", None, "The host's 0.5 is the package's 0.5.0."),
            ("shorter-minimum", "1", "1.0.0.0", None, "The host's 1.0.0.0 is the package's 1."),
            ("numeric", "0.9", "0.10", None, "10 is more than 9."),
            ("older", "0.5.0", "0.4.9", "runtimeTooOld", "The host's runtime is older."),
            ("older-fourth", "0.5.0.1", "0.5.0", "runtimeTooOld", "The fourth number decides."),
            ("older-numeric", "0.10", "0.9.9", "runtimeTooOld", "9 is less than 10.")):
        head(f"runtime-{name}", title, "PKG-10 POL-12", code, runtime(minimum), runtime=host)
    head("runtime-none-declared", "The host states a runtime and the package asks for none.", "POL-12", None, lambda h: None, runtime="0.0.1")
    for size, code in ((131072, None), (16 << 20, None), (32768, "malformed"), (32 << 20, "malformed"), (65537, "malformed"), (98304, "malformed"), (0, "malformed")):
        book.package(f"chunk-size-{size}", f"Chunks of {size} bytes.", "PKG-12", code,
                     package(chunk=size or 65536, payload_fields=lambda f, s=size: f.update(chunkSize=s)))
    field("chunks-none", "No chunk digests.", "PKG-13", "malformed", lambda f: f.update(chunks=""))
    field("chunks-one-more", "One more chunk digest than there are chunks.", "PKG-13", "malformed",
          lambda f: f.update(chunks=b64(bytes.fromhex("00" * 32) + base64.b64decode(f["chunks"]))))
    field("chunks-cut", "A chunk digest of 31 bytes.", "PKG-13", "malformed",
          lambda f: f.update(chunks=b64(base64.b64decode(f["chunks"])[:31])))
    field("compression-gzip", "An unknown compression.", "PKG-14", "malformed", lambda f: f.update(compression="gzip"))
    field("compression-case", "The name of a compression in another case.", "PKG-14 JSN-8", "malformed", lambda f: f.update(compression="None"))
    field("size-0", "A payload of no bytes and no chunks.", "PKG-11", "malformed", lambda f: f.update(size=0, chunks=""))
    field("size-one-more", "The header counts one byte more than there are.", "PKG-5 PAY-2", "truncated", lambda f: f.update(size=f["size"] + 1))
    field("files-at-limit", "100,000 files are announced.", "LIM-3 SUM-5", "manifestMismatch", lambda f: f.update(files=100000))
    field("files-over-limit", "100,001 files are announced.", "LIM-3 POL-5", "limitExceeded", lambda f: f.update(files=100001))
    field("unpacked-at-limit", "4 GiB are announced.", "LIM-5 SUM-8", "manifestMismatch", lambda f: f.update(unpackedSize=1 << 32))
    field("unpacked-over-limit", "4 GiB and a byte are announced.", "LIM-5 POL-5", "limitExceeded", lambda f: f.update(unpackedSize=(1 << 32) + 1))
    good = package()
    unpacked = good.header["payload"]["unpackedSize"]
    book.package("files-at-set-limit", "A limit of as many files as there are.", "LIM-3", None, good, limits={"files": 3})
    book.package("files-over-set-limit", "A limit of one file less than there are.", "LIM-3", "limitExceeded", good, limits={"files": 2})
    book.package("unpacked-at-set-limit", "A limit of as many bytes as there are.", "LIM-5", None, good, limits={"unpackedBytes": unpacked})
    book.package("unpacked-over-set-limit", "A limit of one byte less than there are.", "LIM-5", "limitExceeded", good, limits={"unpackedBytes": unpacked - 1})
    head("signedAt-text", "A time of signing in text.", "PKG-15 JSN-11", "malformed", lambda h: h.update(signedAt="1764470000"))
    book.package("digest-of-spelling", "The header's payload in another layout has another digest.", "PKG-16", None,
                 package(header_text=lambda t: json.dumps(json.loads(t), indent=1).encode()))


def add_capabilities(book):
    caps = lambda name, title, rules, code, value, **m: book.package(name, title, rules, code, capable(value, **m))
    caps("capabilities", "Capabilities of every type.", "PKG-8 SUM-10", None,
         {"network": {"hosts": ["api.example.com"]}, "statusBar": True, "x": None, "n": -JSON_MAX, "m": JSON_MAX, "t": ""})
    caps("capabilities-empty", "Capabilities that ask for nothing.", "PKG-8 SUM-10", None, {})
    caps("capabilities-array", "Capabilities in an array.", "PKG-8", "malformed", [])
    caps("capabilities-over-integer", "An integer of 2 to the power of 53.", "PKG-8", "malformed", {"n": JSON_MAX + 1})
    caps("capabilities-under-integer", "An integer of minus 2 to the power of 53.", "PKG-8", "malformed", {"n": -JSON_MAX - 1})
    caps("capabilities-fraction", "A fraction.", "PKG-8 JSN-6", "malformed", {"n": 0.5})
    at = {"a": "x" * (65536 - len('{"a":""}'))}
    caps("capabilities-64-KiB", "Capabilities of 64 KiB in compact form.", "LIM-20", None, at)
    caps("capabilities-64-KiB-1", "Capabilities of 64 KiB and a byte in compact form.", "LIM-20", "malformed", {"a": at["a"] + "x"})
    roomy = {"a": "\u00e9" * 20000}
    caps("capabilities-roomy", "Capabilities whose escapes make them longer than 64 KiB, but whose compact form is short.", "LIM-20", None, roomy,
         header_text=swap(compact(roomy), json.dumps(roomy).encode()))
    controls = {"a": "\x01" * 10924}
    caps("capabilities-escapes", "Capabilities whose compact form is over 64 KiB because of control characters.", "LIM-20", "malformed", controls)

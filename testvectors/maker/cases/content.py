"""SHA256SUMS, and the files that it lists."""
import json

from .. import packages as p
from .. import wire
from ..packages import APP, BUNDLE, app_json, certificate, package
from ..wire import Member, compact, sha256
from .documents import capable


def without(*paths):
    return lambda files: [files.pop(path) for path in paths] and None


def replaced(**more):
    """Files by name, with `_` for `.`: replaced(app_json=b"{}")."""
    return lambda files: files.update({k.replace("_", "."): v for k, v in more.items()})


def instead(path: str, *others):
    """Another file (or several) in place of one."""
    def change(files):
        data = files.pop(path)
        files.update({other: data for other in others})
    return change


def lines(change):
    """Changes the lines of SHA256SUMS."""
    def hook(sums):
        found = sums.splitlines(keepends=True)
        result = change(found)
        return b"".join(found if result is None else result)
    return hook


def add(book):
    case = lambda name, title, rules, code=None, **hooks: book.package(name, title, rules, code, package(**hooks))
    case("sums-not-first", "app.json stands before SHA256SUMS.", "SUM-1", "manifestMismatch", members=lambda m: m.insert(0, m.pop(1)))
    case("sums-missing", "There is no SHA256SUMS.", "SUM-1", "manifestMismatch", members=lambda m: m.pop(0) and None)
    case("sums-first-path-unsafe", "The first member's path is not safe.", "SUM-1 PTH-1", "unsafePath", members=lambda m: setattr(m[0], "name", b"../SHA256SUMS"))
    case("sums-other-case", "The first member is sha256sums.", "SUM-1", "manifestMismatch", members=lambda m: setattr(m[0], "name", b"sha256sums"))
    case("sums-digest", "The header has the digest of another list.", "SUM-2", "manifestMismatch", manifest=sha256(b"another"))
    case("sums-upper-case", "A digest in upper case.", "SUM-3", "manifestMismatch", sums=lines(lambda x: [x[0][:64].upper() + x[0][64:]] + x[1:]))
    case("sums-one-space", "One space behind a digest.", "SUM-3", "manifestMismatch", sums=lines(lambda x: [x[0].replace(b"  ", b" ")] + x[1:]))
    case("sums-binary-mark", "A star in place of the second space.", "SUM-3", "manifestMismatch", sums=lines(lambda x: [x[0].replace(b"  ", b" *")] + x[1:]))
    case("sums-63-digits", "A digest of 63 digits.", "SUM-3", "manifestMismatch", sums=lines(lambda x: [x[0][1:]] + x[1:]))
    case("sums-no-last-line-feed", "The last line has no line feed.", "SUM-3", "manifestMismatch", sums=lambda s: s[:-1])
    case("sums-empty-line", "An empty line at the end.", "SUM-3", "manifestMismatch", sums=lambda s: s + b"\n")
    case("sums-comment", "A comment at the start.", "SUM-3", "manifestMismatch", sums=lambda s: b"# files\n" + s)
    case("sums-escaped", "A path escaped as sha256sum does it.", "SUM-3", "manifestMismatch", sums=lines(lambda x: [b"\\" + x[0]] + x[1:]))
    case("sums-no-path", "A line with no path.", "SUM-3", "manifestMismatch", sums=lines(lambda x: [x[0][:66] + b"\n"] + x[1:]))
    case("sums-bom", "A byte-order mark.", "SUM-3", "manifestMismatch", sums=lambda s: b"\xef\xbb\xbf" + s)
    case("sums-not-sorted", "Two lines are exchanged, and so are their members.", "SUM-4", "manifestMismatch",
         sums=lines(lambda x: [x[1], x[0], x[2]]), members=lambda m: m.insert(1, m.pop(2)))
    case("sums-line-twice", "A line twice, and its file twice.", "SUM-4 SUM-5", "manifestMismatch", sums=lines(lambda x: [x[0]] + x),
         members=lambda m: m.insert(1, m[1]), payload_fields=lambda f: f.update(files=4))
    case("sums-order-of-bytes", "Paths are sorted by their bytes, not by UTF-16 code units.", "SUM-4",
         files=lambda f: f.update({"assets/\uff21": b"1\n", "assets/\U0001d11e": b"2\n"}))
    case("sums-order-of-utf16", "Paths sorted by UTF-16 code units.", "SUM-4", "manifestMismatch",
         files=lambda f: f.update({"assets/\uff21": b"1\n", "assets/\U0001d11e": b"2\n"}),
         sums=lines(lambda x: [x[0], x[1], x[3], x[2], x[4]]), members=lambda m: m.insert(3, m.pop(4)))
    case("sums-count-more", "The header counts one file more.", "SUM-5", "manifestMismatch", payload_fields=lambda f: f.update(files=f["files"] + 1))
    case("sums-count-less", "The header counts one file less.", "SUM-5", "manifestMismatch", payload_fields=lambda f: f.update(files=f["files"] - 1))
    case("sums-count-0", "The header counts no file.", "SUM-5", "manifestMismatch", payload_fields=lambda f: f.update(files=0))
    case("sums-empty", "An empty list in a package without files.", "SUM-9 SUM-5", "manifestMismatch", files=lambda f: f.clear())

    # 16 MiB: a list of that size that is no list is read and found wrong; one byte more is not read
    size = 16 << 20
    case("sums-16-MiB", "A list of 16 MiB is read, and found to be no list.", "LIM-8 SUM-3", "manifestMismatch", sums=lambda s: b"a" * size, pack=wire.stored)
    case("sums-16-MiB-1", "A list of 16 MiB and one byte.", "LIM-8", "limitExceeded", sums=lambda s: b"a" * (size + 1), pack=wire.stored)
    case("sums-over-limit-not-there", "A list of 16 MiB and one byte by its header block, and the archive ends there.", "LIM-8 POL-13", "limitExceeded",
         stream=lambda s: Member(b"SHA256SUMS", size=size + 1).block())

    # members
    case("member-missing", "A listed file is missing in the middle.", "SUM-6", "manifestMismatch", members=lambda m: m.pop(2) and None)
    case("member-last-missing", "The last listed file is missing.", "SUM-6", "manifestMismatch", members=lambda m: m.pop(3) and None)
    case("member-extra", "A file behind the last one that is not listed.", "SUM-6", "manifestMismatch", members=lambda m: m.append(Member(b"zzz.js", b"x")))
    case("member-extra-empty", "An empty file that is not listed, between two that are.", "SUM-6", "manifestMismatch", members=lambda m: m.insert(2, Member(b"assets/a")))
    case("member-twice", "A file twice.", "SUM-6", "manifestMismatch", members=lambda m: m.insert(3, m[2]))
    case("members-exchanged", "Two files are exchanged.", "SUM-6", "manifestMismatch", members=lambda m: m.insert(2, m.pop(3)))
    case("sums-again-last", "SHA256SUMS again at the end.", "SUM-6", "manifestMismatch", members=lambda m: m.append(m[0]))
    case("member-data", "A file with other data of the same size.", "SUM-7", "manifestMismatch", members=lambda m: setattr(m[2], "data", b"<SVG/>\n"))
    case("member-longer", "A file with one byte more.", "SUM-7 SUM-8", "manifestMismatch", members=lambda m: setattr(m[2], "data", b"<svg/>\n\n"))
    case("member-shorter", "A file with one byte less.", "SUM-7", "manifestMismatch", members=lambda m: setattr(m[2], "data", b"<svg/>"))
    case("unpacked-one-more", "The header counts one byte more.", "SUM-8", "manifestMismatch", payload_fields=lambda f: f.update(unpackedSize=f["unpackedSize"] + 1))
    case("unpacked-one-less", "The header counts one byte less.", "SUM-8", "manifestMismatch", payload_fields=lambda f: f.update(unpackedSize=f["unpackedSize"] - 1))
    case("unpacked-without-sums", "The header does not count SHA256SUMS.", "SUM-8", "manifestMismatch",
         payload_fields=lambda f: f.update(unpackedSize=sum(map(len, p.base_files().values()))))
    case("files-empty", "Files without a byte.", "SUM-7", files=lambda f: f.update({"assets/empty": b"", "bundle.js": b""}))

    # app.json
    app = lambda name, title, rules, code, data, **h: case(f"app-json-{name}", title, rules, code, files=replaced(app_json=data), **h)
    case("app-json-missing", "There is no app.json.", "SUM-9", "manifestMismatch", files=without("app.json"))
    case("app-json-elsewhere", "app.json lies in assets.", "SUM-9", "manifestMismatch", files=instead("app.json", "assets/app.json"))
    app("array", "An array around app.json.", "SUM-9", "manifestMismatch", b"[" + app_json(APP) + b"]")
    app("broken", "An app.json that is no JSON.", "SUM-9 JSN-2", "manifestMismatch", app_json(APP)[:-2])
    app("other-id", "Another id.", "SUM-9", "manifestMismatch", app_json({**APP, "id": "com.example.other"}))
    app("other-build", "Another build.", "SUM-9", "manifestMismatch", app_json({**APP, "build": 43}))
    app("other-version", "Another version.", "SUM-9", "manifestMismatch", app_json({**APP, "version": "1.4"}))
    app("no-name", "No name.", "SUM-9", "manifestMismatch", app_json({k: v for k, v in APP.items() if k != "name"}))
    case("app-json-name-not-normalised", "The same name in another normal form.", "SUM-9 JSN-8", "manifestMismatch", app={"name": "Caf\u00e9"},
         files=replaced(app_json=app_json({**APP, "name": "Cafe\u0301"})))
    app("build-text", "A build in text.", "SUM-9 SUM-15", "manifestMismatch", app_json({**APP, "build": "42"}))
    app("build-fraction", "A build of 42.0.", "SUM-9 SUM-15", "manifestMismatch", app_json(APP).replace(b"42", b"42.0"))
    app("build-exponent", "A build of 4.2e1.", "SUM-9 SUM-15", "manifestMismatch", app_json(APP).replace(b"42", b"4.2e1"))
    case("app-json-build-negative-zero", "A build of -0 where the header has 0.", "SUM-9 JSN-6", "manifestMismatch", app={"build": 0},
         files=replaced(app_json=app_json({**APP, "build": 0}).replace(b'"build":0', b'"build":-0')))
    case("app-json-build-true", "A build of true where the header has 1.", "SUM-15", "manifestMismatch", app={"build": 1},
         files=replaced(app_json=app_json({**APP, "build": True})))
    app("name-twice", "Two builds.", "SUM-9 JSN-3", "manifestMismatch", app_json(APP).replace(b'"build":42', b'"build":42,"build":42'))
    app("unknown-name-twice", "A name twice among those that the format does not know.", "SUM-9 JSN-3", "manifestMismatch",
        app_json(APP).replace(b"{", b'{"x":[{"y":1,"y":2}],', 1))
    app("bom", "A byte-order mark.", "SUM-9 JSN-1", "manifestMismatch", b"\xef\xbb\xbf" + app_json(APP))
    app("two-values", "A second value.", "SUM-9 JSN-2", "manifestMismatch", app_json(APP) + b"{}")
    app("lone-surrogate", "An escaped surrogate alone.", "SUM-9 JSN-5", "manifestMismatch", app_json(APP).replace(b"{", b'{"x":"\\ud800",', 1))
    app("more", "Other names with numbers of every form, and a control character escaped.", "SUM-9 JSN-4", None,
        app_json(APP).replace(b"{", b'{"a":1.5,"b":-0,"c":1e3,"d":-2.5E-3,"e":12345678901234567890123,"f":null,"g":[true,{"build":1}],"h":"\\u0000",', 1))
    app("spelling", "Another order, layout and spelling.", "SUM-9 SUM-15", None,
        json.dumps(dict(reversed(APP.items())), indent=4).replace("Orders", "\\u004frders").encode())
    app("nesting-16", "Nested to the sixteenth level.", "LIM-13 SUM-9", None, app_json(APP).replace(b"{", b'{"x":' + b"[" * 15 + b"]" * 15 + b",", 1))
    app("nesting-17", "Nested to the seventeenth level.", "LIM-13 SUM-9", "manifestMismatch", app_json(APP).replace(b"{", b'{"x":' + b"[" * 16 + b"]" * 16 + b",", 1))
    wide = lambda data, size: data + b" " * (size - len(data))
    app("1-MiB", "An app.json of 1 MiB.", "LIM-9", None, wide(app_json(APP), 1 << 20), pack=wire.stored)
    app("1-MiB-1", "An app.json of 1 MiB and one byte.", "LIM-9", "limitExceeded", wide(app_json(APP), (1 << 20) + 1), pack=wire.stored)

    # capabilities.json
    caps = {"network": {"hosts": ["a.example.com", "b.example.com"]}, "statusBar": True, "n": 1}
    equal = lambda name, title, code, spelled, rules="SUM-10 SUM-15", **m: book.package(
        f"capabilities-json-{name}", title, rules, code, capable(caps, spelled, **m))
    equal("spelling", "Another order of names, layout and spelling.", None, json.dumps(dict(reversed(caps.items())), indent=2).replace("a.e", "\\u0061.e").encode())
    equal("value", "Another value.", "manifestMismatch", compact({**caps, "statusBar": False}))
    equal("array-order", "An array in another order.", "manifestMismatch", compact({**caps, "network": {"hosts": ["b.example.com", "a.example.com"]}}))
    equal("name-more", "A name more.", "manifestMismatch", compact({**caps, "x": None}))
    equal("name-less", "A name less.", "manifestMismatch", compact({k: v for k, v in caps.items() if k != "n"}))
    equal("true-for-1", "true in place of 1.", "manifestMismatch", compact({**caps, "n": True}))
    equal("fraction", "1.0 in place of 1.", "manifestMismatch", compact({**caps, "n": 1.0}), "SUM-10 SUM-15 JSN-6")
    equal("name-twice", "A name twice, with equal values.", "manifestMismatch", compact(caps).replace(b'"n":1', b'"n":1,"n":1'), "SUM-10 JSN-3")
    equal("empty-file", "An empty file.", "manifestMismatch", b"", "SUM-10 JSN-2")
    equal("1-MiB", "A capabilities.json of 1 MiB.", None, wide(compact(caps), 1 << 20), "LIM-9", pack=wire.stored)
    equal("1-MiB-1", "A capabilities.json of 1 MiB and one byte.", "limitExceeded", wide(compact(caps), (1 << 20) + 1), "LIM-9", pack=wire.stored)
    case("capabilities-json-missing", "Capabilities in the header and no file.", "SUM-10", "manifestMismatch", header=lambda h: h.update(capabilities={}))
    case("capabilities-json-undeclared", "A file and no capabilities in the header.", "SUM-10", "manifestMismatch", files=replaced(capabilities_json=b"{}"))

    # bundles
    case("bundle-none", "No bundle.", "SUM-11", "manifestMismatch", files=without("bundle.js"))
    case("bundle-map-only", "A source map without a bundle.", "SUM-11", "manifestMismatch", files=instead("bundle.js", "bundle.js.map"))
    case("bundle-other-case", "A bundle in another case.", "SUM-11 JSN-8", "manifestMismatch", files=instead("bundle.js", "Bundle.js"))
    case("bundle-elsewhere", "A bundle in assets.", "SUM-11", "manifestMismatch", files=instead("bundle.js", "assets/bundle.js"))
    case("bundle-nshc", "A bundle in bytecode.", "SUM-11 SUM-12", files=instead("bundle.js", "bundle.nshc"))
    case("bundle-qbc", "A bundle in the older bytecode.", "SUM-11 SUM-12", files=instead("bundle.js", "bundle.qbc"))
    case("bundle-all", "Every kind of bundle, a source map, and files that the format does not know.", "SUM-11 SUM-12 SUM-13",
         files=lambda f: f.update({"bundle.nshc": b"\x7fNSH", "bundle.qbc": b"\x02", "bundle.js.map": b"{}", "LICENSE": b"x", "more/x.bin": b"\0"}))
    source, bytecode = certificate({"content": ["source"]}), certificate({"content": ["bytecode"]})
    case("content-bytecode-refused", "Bytecode where the certificate allows source.", "SUM-12", "contentNotCertified", files=instead("bundle.js", "bundle.nshc"), cert=source)
    case("content-older-bytecode-refused", "Older bytecode where the certificate allows source.", "SUM-12", "contentNotCertified", files=instead("bundle.js", "bundle.qbc"), cert=source)
    case("content-source-refused", "Source where the certificate allows bytecode.", "SUM-12", "contentNotCertified", cert=bytecode)
    case("content-bytecode", "Bytecode where the certificate allows it.", "SUM-12 CRT-7", files=instead("bundle.js", "bundle.nshc"), cert=bytecode)
    case("content-both-source-only", "Source and bytecode where the certificate allows source.", "SUM-12", "contentNotCertified",
         files=instead("bundle.js", "bundle.js", "bundle.nshc"), cert=source)
    case("content-asset-is-no-bundle", "bundle.nshc within assets is data.", "SUM-12 SUM-13", files=lambda f: f.update({"assets/bundle.nshc": b"x"}), cert=source)

    # directories
    two = lambda f: f.update({"assets/deep/x": b"x"})
    book.package("directories-at-set-limit", "A limit of as many directories as there are, those between included.", "LIM-4", None, package(files=two),
                 limits={"directories": 2})
    book.package("directories-over-set-limit", "A limit of one directory less than there are.", "LIM-4", "limitExceeded", package(files=two),
                 limits={"directories": 1})

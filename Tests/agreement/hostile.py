#!/usr/bin/env python3
"""Packages that this script makes up: right ones with one to three faults in their structure, put in before signing.

The signatures, digests and checksums are right, so each fault meets the rule that is there for it and not the first
signature check. The tool and the reference reader judge every package; where they differ, an explanation from the list
below must fit, with exactly these codes. A fault that stands alone and has one right answer must get that answer.

NSH_HOSTILE_CASES (default 2400) and NSH_HOSTILE_SEED (default 20261130) choose other packages.
"""
import collections
import json
import os
import pathlib
import random
import struct
import time
import unicodedata

import zstandard

import common
from maker import packages as p
from maker import wire

CASES = int(os.environ.get("NSH_HOSTILE_CASES", "2400"))
SEED = int(os.environ.get("NSH_HOSTILE_SEED", "20261130"))
BATCH = 40  # files of one run of verify
SECONDS = 10.0
MEMORY = 24 * common.MIB
MAX = 2**53 - 1

MUTATIONS = []  # (name, rules, steps that it takes up, function)


def mutation(steps, rules):
    """Registers a fault. The function gets (chance, case) and returns the code it must get when it stands alone, or None."""
    def register(function):
        MUTATIONS.append((function.__name__, rules.split(), set(steps.split()), function))
        return function
    return register


class Case:
    def __init__(self, number):
        self.number, self.parts, self.names, self.rules, self.notes = number, {}, [], [], {}
        self.expected = "accepted"

    def build(self):
        parts = dict(self.parts)
        certificate = parts.pop("certificate", {})
        return p.package(cert=p.certificate(**certificate), **parts)


# ---- helpers -------------------------------------------------------------------------------------------------


def places(value, path=()):
    """Every place in a JSON document: (path of names and indexes)."""
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in items:
        yield from places(inner, (*path, name))


def at(value, path):
    for step in path:
        value = value[step]
    return value


def odd_value(chance):
    return chance.choice([None, True, False, 0, 1, -1, "", "1", [], {}, MAX, MAX + 1, -MAX, 2**63, [None], {"a": 1}, "x" * 300,
                          "\u0000", "a\u202eb", [["a"]], 64, 65536])


def change_document(chance, document):
    """Changes one place of a JSON document in place."""
    path = chance.choice(list(places(document)))
    holder, last = at(document, path[:-1]), path[-1]
    how = chance.randrange(4)
    if how == 0 and isinstance(holder, dict):
        del holder[last]
    elif how == 1 and isinstance(holder, dict):
        holder[chance.choice(["unknown", last + " ", last.upper(), ""])] = chance.choice([0, "", None, holder[last]])
    elif how == 2 and isinstance(holder[last], str) and holder[last]:
        text, where = holder[last], chance.randrange(len(holder[last]))
        holder[last] = text[:where] + chance.choice(["", "=", " ", "é", ".", "A", "0", "\n", "*", text[where] * 2]) + text[where + 1:]
    else:
        holder[last] = odd_value(chance)


def respell(chance, body: bytes) -> bytes:
    """Another spelling of a JSON document with the same meaning, or one that is not allowed."""
    number = b"%d" % p.SIGNED_AT
    return chance.choice([
        lambda: body.replace(b",", b" ,\r\n\t"), lambda: b" \n" + body + b"\n ", lambda: body.replace(b'"app"', b'"\\u0061pp"'),
        lambda: b"\xef\xbb\xbf" + body, lambda: body + b"x", lambda: body + b"\0", lambda: body[:-1], lambda: body[:-1] + b",}",
        lambda: body.replace(number, number + b".0"), lambda: body.replace(number, b"0" + number), lambda: body.replace(number, b"+" + number),
        lambda: body.replace(number, number + b"e0"), lambda: body.replace(number, b"-0"), lambda: body.replace(number, b"1E3"),
        lambda: body.replace(b"{", b"{,", 1), lambda: body.replace(b'"', b"'"), lambda: body.replace(b"Orders", b"Ord\ners"),
        lambda: body.replace(b"{", b'{"signedAt":1,', 1), lambda: body.replace(b"{", b'{"serial":"",', 1),
        lambda: body.replace(b"Orders", b"Ord\xffers"), lambda: body.replace(b"Orders", b"Ord\xed\xa0\x80ers"),
        lambda: body.replace(b"Orders", b"Ord\\ud800ers"), lambda: body.replace(b"Orders", b"Ord\\u0000ers"),
        lambda: body.replace(b":", b"/**/:", 1), lambda: body.replace(b"{", b"\f{", 1), lambda: body.decode().encode("utf-16"), lambda: b"",
        lambda: b"null", lambda: b"[" * 20 + b"]" * 20, lambda: b"[" + body + b"]",
    ])()


COMPONENTS = ["a", "B", "assets", "é", "e\u0301", "ß", "SS", "ss", "ﬁ", "fi", "K", "\u212a", "k", "con", "CON.txt", "nul.", "com1", "com¹", "lpt0",
              "conin$", "CONOUT$.x", "con .txt", "aux~1", ".", "..", "...", "", " ", "a ", " a", "a.", ".a", "._a", "a:b", "a\\b", "a<b", "a|b",
              "a?b", "a*b", 'a"b', "-", "~", "%2e%2e", "\u200c", "\u200b", "\u202e", "\ufeff", "\u2028", "\u00ad", "\ue000", "\ufffe", "\x7f", "\x01",
              "\t", "日本", "🌟", "İ", "ı", "ſ", "ς", "Σ", "ǆ", "ŉ", "ᾳ", "Å", "\u212b", "n" * 255, "n" * 256, "é" * 127, "é" * 128,
              "SHA256SUMS", "sha256sums", "app.json", "bundle.js", "x\u0345", "\u1e9e", "\U0001f600", "\U000e0001", "\ud7b0", "\u0378"]


def odd_path(chance) -> bytes:
    how = chance.randrange(12)
    if how == 0:
        return ("/".join("d" * chance.randint(1, 40) for _ in range(chance.randint(28, 36)))).encode()
    if how == 1:
        return bytes(chance.choice(b"ab/.\xc3\xa9\x80\xff\xed\xa0\xe2\x82") for _ in range(chance.randint(1, 8)))
    if how == 2:
        return ("a" + chr(chance.choice([chance.randrange(0x20, 0xd800), chance.randrange(0xe000, 0x110000)]))).encode()
    return "/".join(chance.choice(COMPONENTS) for _ in range(chance.choice([1, 1, 2, 2, 3]))).encode()


# ---- certificate and header ----------------------------------------------------------------------------------


@mutation("certificate", "CRT-1 CRT-2 CRT-3 CRT-4 CRT-5 CRT-6 CRT-7 APP-2")
def certificate_member(chance, case):
    case.parts["certificate"] = {"change": lambda document: change_document(chance, document)}


@mutation("certificate", "JSN-1 JSN-2 JSN-3 JSN-6")
def certificate_text(chance, case):
    case.parts["certificate"] = {"text": lambda body: respell(chance, body)}


@mutation("certificate", "APP-2 APP-3 APP-4 APP-5 POL-6")
def certificate_patterns(chance, case):
    patterns = chance.choices(["*", "com.*", "com.example.*", "com.example.orders", "com.example.orders.*", "com.Example.*", "com.exampl*", "*.orders",
                               "com.example.", ".*", "", "com", "com.*.orders", "com..*", "org.*", "a" * 63 + ".*", "a" * 64 + ".*", "-a.*",
                               "com.example.order", "com.*.*", "_.*"], k=chance.randint(0, 3))
    case.parts["certificate"] = {"change": {"apps": patterns}}


@mutation("certificate", "POL-7 POL-8 CRT-2")
def certificate_window(chance, case):
    times = [p.SIGNED_AT, p.SIGNED_AT - 1, p.SIGNED_AT + 1, p.NOW, p.NOW - 1, 0, MAX, p.NOT_AFTER]
    case.parts["certificate"] = {"change": {"notBefore": chance.choice(times), "notAfter": chance.choice(times)}}


@mutation("certificate files", "CRT-7 SUM-11 SUM-12")
def content_allowed(chance, case):
    allowed = chance.choice([None, ["source"], ["bytecode"], ["source", "bytecode"], ["bytecode", "source"], [], ["source", "source"], ["wasm"]])
    bundles = chance.sample(["bundle.js", "bundle.nshc", "bundle.qbc", "Bundle.js", "bundle.js.map"], k=chance.randint(0, 3))
    case.parts["certificate"] = {"change": {"content": allowed}}

    def files(table):
        table.pop("bundle.js")
        table.update((name, b"x") for name in bundles)
    case.parts["files"] = files


@mutation("certificate", "ENV-1 ENV-2 ENV-3 ENV-4 ENV-5 ENV-6 ENV-7 ENV-8")
def certificate_envelope(chance, case):
    case.parts["certificate"] = {"env": lambda document: change_document(chance, document)}


@mutation("header_env", "ENV-1 ENV-2 ENV-3 ENV-4 ENV-5 ENV-6 ENV-7 ENV-8")
def header_envelope(chance, case):
    case.parts["header_env"] = lambda document: change_document(chance, document)


@mutation("header_env", "ENV-4 ENV-7 ENV-8 LIM-14 LIM-15")
def more_signatures(chance, case):
    def change(document):
        good = document["signatures"][0]
        others = [{"sig": wire.b64(bytes(n))} for n in (0, 1, 63, 64, 65, 8192, 8193)] + [{**good, "keyid": k} for k in ("", "é", "0" * 16)]
        others += [{"sig": good["sig"]}, dict(good)]
        document["signatures"] = chance.choices(others, k=chance.randint(0, 8)) + ([good] if chance.random() < 0.8 else [])
        chance.shuffle(document["signatures"])
    case.parts["header_env"] = change


@mutation("header_env_text", "ENV-1 JSN-2 JSN-3")
def envelope_text(chance, case):
    case.parts["header_env_text"] = lambda body: respell(chance, body)


@mutation("header", "PKG-6 PKG-7 PKG-11 PKG-12 PKG-13 PKG-14 PKG-15 APP-1 JSN-4 JSN-7 JSN-10 JSN-11")
def header_member(chance, case):
    def change(document):
        document = json.loads(json.dumps(document))  # its own: the maker goes on with the right one
        change_document(chance, document)
        return document
    case.parts["header"] = change


@mutation("header_text", "JSN-1 JSN-2 JSN-3 JSN-5 JSN-6 JSN-8")
def header_text(chance, case):
    case.parts["header_text"] = lambda body: respell(chance, body)


@mutation("app", "APP-1 LIM-19 POL-6")
def app_id(chance, case):
    segment = "".join(chance.choice("aZ0_-.é") for _ in range(chance.randint(0, 5)))
    case.parts["app"] = {"id": "com.example." + chance.choice([segment, "s" * 63, "s" * 64, "a." * 121 + "a", "a." * 122 + "a", "a." * 121 + "ab"])}


@mutation("app", "TXT-1 TXT-2 TXT-3 TXT-4 LIM-16")
def app_text(chance, case):
    code_point = chance.choice([chance.randrange(0x250), chance.randrange(0x2000, 0x2100), chance.randrange(0x250, 0xd800),
                                chance.randrange(0xe000, 0x110000), 0x200c, 0x200d])
    text = chance.choice(["", "x" * 255, "x" * 256, "é" * 127, "é" * 128, " ", "e\u0301"] + ["a" + chr(code_point)] * 9)
    case.notes["text"] = text
    case.parts["app"] = {chance.choice(["name", "version"]): text}


@mutation("app", "PKG-7 JSN-7")
def app_build(chance, case):
    build = chance.choice([0, 1, MAX, MAX + 1, -1, 2**64, True, None, "1", [1]])
    case.parts["app"] = {"build": build}
    return "accepted" if build in (0, 1, MAX) and build is not True else "malformed"


@mutation("header", "PKG-9 PKG-10 POL-12")
def runtime(chance, case):
    number = lambda: chance.choice(["0", "1", "9", "10", "999999999", "1000000000", "01", "", "-1", "1a", "٣", "+1"])
    minimum = ".".join(number() for _ in range(chance.randint(1, 5)))
    case.parts["header"] = lambda document: document.update(runtime={"minimum": minimum})


@mutation("header", "JSN-12 LIM-17")
def annotations(chance, case):
    names = ["a", "A", "a.b-c", "", "x" * 64, "x" * 65, "é", "a b"]
    table = {chance.choice(names): chance.choice(["", "x" * 1024, "x" * 1025, "é" * 512, "é" * 513, 1, None]) for _ in range(2)}
    if chance.random() < 0.3:
        table = {f"n{n}": "" for n in range(chance.choice([63, 64, 65]))}
    case.parts["header"] = lambda document: document.update(annotations=table)


@mutation("header", "POL-7 PKG-15 LIM-24")
def signed_at(chance, case):
    time_ = chance.choice([p.NOT_BEFORE, p.NOT_BEFORE - 1, p.NOW + 300, p.NOW + 301, p.NOW, 0, p.NOT_AFTER, p.NOT_AFTER + 1])
    case.parts["header"] = lambda document: document.update(signedAt=time_)
    return ("signedOutsideWindow" if not p.NOT_BEFORE <= time_ <= p.NOT_AFTER else "signedInFuture" if time_ > p.NOW + 300 else "accepted")


def odd_json(chance, depth=0):
    kinds = [None, True, False, 0, 1, -1, MAX, -MAX, MAX + 1, "", "é", "\u0000", "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"), 1.5]
    if depth < 3 and chance.random() < 0.6:
        if chance.random() < 0.5:
            return [odd_json(chance, depth + 1) for _ in range(chance.randint(0, 3))]
        return {chance.choice("abcdé") * chance.randint(0, 2): odd_json(chance, depth + 1) for _ in range(chance.randint(0, 3))}
    return chance.choice(kinds)


@mutation("header files", "PKG-8 SUM-10 SUM-15 LIM-13 LIM-20")
def capabilities(chance, case):
    declared = odd_json(chance)
    if chance.random() < 0.5:
        declared = {"network": declared}
    if chance.random() < 0.2:
        declared = {"deep": 0}
        for _ in range(chance.randint(11, 16)):
            declared = {"d": declared}
    if chance.random() < 0.1:
        declared = {"a": "x" * chance.choice([65527, 65528, 65529, 65530])}
    written = declared
    if chance.random() < 0.4:
        written = chance.choice([{**declared, "more": 1}, {}, dict(reversed(declared.items()))]) if isinstance(declared, dict) else odd_json(chance)
    text = json.dumps(written, indent=chance.choice([None, 1]), ensure_ascii=chance.random() < 0.5).encode()
    if chance.random() < 0.2:
        text = text.replace(b"1", chance.choice([b"1.0", b"true", b"1e0", b"01", b'"1"']), 1)
    has, says = chance.random() < 0.9, chance.random() < 0.9
    case.parts["files"] = lambda table: table.update({"capabilities.json": text}) if has else None
    case.parts["header"] = lambda document: document.update(capabilities=declared) if says else None


# ---- chunks and compression ----------------------------------------------------------------------------------


@mutation("payload_fields", "PKG-11 PKG-12 PKG-13 PAY-1 PAY-2 PKG-5 SUM-2 SUM-5 SUM-8 LIM-3 LIM-5")
def payload_table(chance, case):
    def change(fields):
        import base64
        digests = base64.b64decode(fields["chunks"])
        step = lambda name, *by: fields.update({name: max(0, fields[name] + chance.choice(by))})
        chance.choice([
            lambda: fields.update(chunks=wire.b64(digests + bytes(32))), lambda: fields.update(chunks=wire.b64(digests[:-32])),
            lambda: fields.update(chunks=wire.b64(digests[:-1])), lambda: fields.update(chunks=wire.b64(bytes(len(digests)))),
            lambda: fields.update(chunks=fields["chunks"].rstrip("=")), lambda: fields.update(chunks=fields["chunks"] + "\n"),
            lambda: step("size", -512, -1, 1, 512), lambda: step("files", -1, 1, 100_000, 100_001), lambda: step("unpackedSize", -1, 1, 1 << 32, -512),
            lambda: fields.update(chunkSize=chance.choice([0, 1, 32768, 65535, 65537, 98304, 131072, 1 << 24, 1 << 25, 1 << 40])),
            lambda: fields.update(compression=chance.choice(["", "zstd", "gzip", "None", "none "])),
            lambda: fields.update(manifest=wire.sha256(b"other")), lambda: fields.update(manifest=fields["manifest"].upper()),
        ])()
    case.parts["payload_fields"] = change


@mutation("pack", "PAY-3 PAY-4 PAY-5 PAY-6 LIM-10")
def frame(chance, case):
    size = chance.choice([None, "right", "more", "less"])
    window = chance.choice([None, 0x00, 0x38, 0x50, 0x68, 0x69, 0x6F, 0x70, 0xF8, 0xFF])
    checksum = chance.choice([None, None, "right", "wrong"])
    options = {"reserved": chance.random() < 0.05, "dictionary": chance.choice([b""] * 9 + [b"\1", b"\0\0", b"\1\2\3\4"])}
    case.notes["window"] = window

    def pack(raw):
        content = {None: len(raw) if window is None else None, "right": len(raw), "more": len(raw) + 1, "less": len(raw) - 1}[size]
        sums = {None: None, "right": wire.xxh64(raw), "wrong": wire.xxh64(raw) ^ 1}[checksum]
        return wire.frame(wire.stored_blocks(raw, step=chance.choice([1000, 4096, 65536])), window=window, size=content, checksum=sums, **options)
    case.parts["pack"] = pack


@mutation("pack", "PAY-3 PAY-5 PAY-6")
def frame_bytes(chance, case):
    """A frame that libzstd made, with bytes changed, cut, put in front or behind."""
    how, level = chance.randrange(7), chance.choice([1, 3, 19])

    def pack(raw):
        packed = bytearray(zstandard.ZstdCompressor(level=level, write_checksum=chance.random() < 0.5).compress(raw))
        if how < 3:
            where = chance.randrange(len(packed))
            packed[where] ^= 1 << chance.randrange(8)
        elif how == 3:
            del packed[chance.randrange(len(packed)):]
        elif how == 4:
            packed += chance.choice([b"\0", bytes(packed), b"\x50\x2a\x4d\x18\0\0\0\0"])
        elif how == 5:
            packed[:0] = chance.choice([b"\x50\x2a\x4d\x18\0\0\0\0", b"\0", b"\x1f\x8b"])
        return bytes(packed) or b"\0"
    case.parts["pack"] = pack


# ---- tar -----------------------------------------------------------------------------------------------------


@mutation("members", "TAR-2 TAR-3 TAR-4 TAR-5 TAR-6 TAR-7 TAR-16 TAR-17")
def header_byte(chance, case):
    """Any byte of any header block, under a right checksum."""
    def change(archive):
        member = chance.choice(archive)
        where = chance.choice([chance.randrange(512), chance.choice([99, 100, 123, 124, 135, 136, 156, 157, 256, 257, 263, 264, 329, 344, 345, 499, 500])])
        member.fields[where] = bytes([chance.choice([0, 0x20, 0x30, 0x31, 0x35, 0x37, 0x38, 0x41, 0x78, 0x80, 0xff, chance.randrange(256)])])
        case.notes["byte"] = where
    case.parts["members"] = change


@mutation("members", "TAR-3 SUM-7 SUM-8")
def size_field(chance, case):
    def change(archive):
        member = chance.choice(archive)
        octal = b"%o" % len(member.data)
        field = chance.choice([octal.rjust(12), octal.ljust(12), octal.rjust(11) + b"\0", octal.rjust(12, b"0"), octal.ljust(12, b"\0"), bytes(12), b" " * 12,
                               b"\x80" + bytes(7) + struct.pack(">I", len(member.data)), b"0" + octal.ljust(11), octal + b" 1" + bytes(10),
                               b"\0" + octal.rjust(11, b"0"), b"8".rjust(11, b"0") + b"\0", b"-1".ljust(12), b"%011o\0" % (len(member.data) + 1),
                               b"%011o\0" % (len(member.data) + 512), b"7" * 12, b"%011o\0" % max(0, len(member.data) - 1), b"+" + octal.rjust(11, b"0")])
        member.fields[124] = field[:12]
    case.parts["members"] = change


@mutation("members", "TAR-1")
def checksum_field(chance, case):
    def change(archive):
        member = chance.choice(archive)
        own = sum(member.block()[:148]) + 8 * 32 + sum(member.block()[156:])
        member.checksum = chance.choice([b"%06o\0 " % own, b"%07o\0" % own, b"%08o" % own, b" %5o\0 " % own, b"%o" % own, b"%06o  " % own,
                                         b"%06o\0\1" % own, b"%06o\0 " % (own + 1), b"0x%x" % own, b"%06d\0 " % own, bytes(8), b" " * 8])[:8].ljust(8, b"\0")
    case.parts["members"] = change


@mutation("members", "TAR-8 TAR-9 TAR-10 TAR-11 TAR-12 LIM-11")
def pax_header(chance, case):
    def record():
        keyword = chance.choice([b"path"] * 4 + [b"size"] * 3 + [b"mtime", b"", b"Path", b"linkpath", b"GNU.sparse.size", b"hdrcharset"])
        value = chance.choice([b"assets/logo.svg", b"bundle.js", b"", b"0", b"7", b"8589934592", b"8589934591", b"08589934592", b"-1", b"9999999999999999",
                               b"99999999999999999", b"a\nb", b"a\0b", b"../x", b"1e9", b"\xff"])
        good = wire.record(keyword, value)
        return chance.choice([good] * 6 + [good[:-1], b"0" + good, good.replace(b"=", b"", 1), b" " + good, good.replace(b" ", b"  ", 1),
                                           good + b"\0", b"999 " + good, b"5 " + good, good[:-1] + b"x"])

    def change(archive):
        where = chance.randint(0, len(archive))
        records = [record() for _ in range(chance.choice([0, 1, 1, 1, 2]))]
        fields = {chance.choice([157, 329, 337, 345, 0]): chance.choice([b"x\0y", b"0000001", b"0000000"])} if chance.random() < 0.2 else {}
        case.notes["pax fields"] = bool(fields)
        added = [wire.pax(*records, fields=fields)]
        if chance.random() < 0.1:
            added = [wire.Member(b"p", b"".join([wire.record(b"path", b"a" * n)]), kind=b"x") for n in [chance.choice([2036, 2037, 2038, 2039, 2040, 3000])]]
        archive[where:where] = added * chance.choice([1, 1, 1, 2])
    case.parts["members"] = change


@mutation("members", "SUM-1 SUM-6 SUM-7 SUM-8 TAR-13 TAR-4")
def archive_order(chance, case):
    def change(archive):
        where = chance.randrange(len(archive))
        member = archive[where]
        chance.choice([
            lambda: archive.pop(where), lambda: archive.insert(where, member), lambda: archive.reverse(), lambda: chance.shuffle(archive),
            lambda: archive.append(wire.Member(odd_path(chance)[:100], b"x")), lambda: archive.insert(where, wire.Member(b"assets/", kind=b"5")),
            lambda: archive.insert(where, wire.Member(b"l", kind=chance.choice([b"1", b"2", b"\0", b"7", b"g", b"L", b"S"]), fields={157: b"x"})),
            lambda: setattr(member, "data", member.data + b"x"), lambda: setattr(member, "data", member.data[:-1] + b"?"),
            lambda: setattr(member, "padding", b"x" + bytes(max(0, -len(member.data) % 512 - 1)) if len(member.data) % 512 else b""),
            lambda: setattr(member, "padding", b""), lambda: setattr(member, "padding", bytes(512)), lambda: setattr(member, "name", odd_path(chance)[:100]),
            lambda: (setattr(member, "prefix", member.name.rpartition(b"/")[0]), setattr(member, "name", member.name.rpartition(b"/")[2])),
        ])()
        case.notes["ordered"] = True
    case.parts["members"] = change


@mutation("end", "TAR-14 TAR-15 LIM-12")
def archive_end(chance, case):
    case.parts["end"] = chance.choice([b"", bytes(1), bytes(512), bytes(513), bytes(1023), bytes(1024) + b"x", bytes(1024 + 10240), bytes(1024) + bytes(511),
                                       bytes(512) + b"x" * 512, bytes(1024) + bytes(1 << 20), bytes(1025) + bytes(1 << 20), bytes(2048) + b"\1", b"\1" + bytes(1023)])


# ---- the list and the files ----------------------------------------------------------------------------------


@mutation("files", "PTH-1 PTH-2 PTH-3 PTH-4 PTH-5 PTH-6 PTH-7 PTH-8 PTH-9 PTH-10 LIM-21 LIM-22 LIM-23 SUM-3")
def listed_paths(chance, case):
    paths = [odd_path(chance) for _ in range(chance.choice([1, 1, 2, 3]))]
    case.notes["paths"] = paths
    case.parts["files"] = lambda table: table.update((path, b"%d" % n) for n, path in enumerate(paths) if path.decode("utf-8", "replace") not in table)


@mutation("sums", "SUM-2 SUM-3 SUM-4 SUM-5 SUM-14")
def list_text(chance, case):
    def change(sums):
        lines = sums.splitlines(keepends=True)
        where = chance.randrange(len(lines))
        line = lines[where]
        lines[where] = chance.choice([line.upper(), line.replace(b"  ", b" "), line.replace(b"  ", b" *"), line.replace(b"\n", b"\r\n"), line.rstrip(b"\n"), b"",
                                      line * 2, b"# note\n" + line, b"\n", line[1:], b"0" + line, line[:64] + b"  \n", line.replace(b"  ", b"   "),
                                      b"\\" + line, wire.sha256(b"").encode() + line[64:], line[:66] + b"\xff\n", b"\xef\xbb\xbf" + line, line + b" ",
                                      line[:-1] + b"\0\n", wire.sha256(b"x").encode() + b"  zzz\n" + line, line.replace(b"json", b"JSON")])
        if chance.random() < 0.2:
            chance.shuffle(lines)
        return b"".join(lines)
    case.parts["sums"] = change


@mutation("files", "SUM-9 JSN-6 LIM-9")
def app_json(chance, case):
    app = dict(p.APP)
    how = chance.randrange(8)
    if how == 0:
        app[chance.choice(list(app))] = odd_value(chance)
    elif how == 1:
        app.pop(chance.choice(list(app)))
    text = json.dumps(app).encode()
    if how == 2:
        text = respell(chance, text)
    elif how == 3:
        text = text.replace(b"42", chance.choice([b"42.0", b"-0", b"4.2e1", b"042", b"43", b'"42"', b"true", b"1e400"]))
    elif how == 4:
        more = chance.choice([b'"x": 1.5e3', b'"x": -0', b'"x": -0.0', b'"x": 1e400', b'"x": 123456789012345678901234567890', b'"x": 01', b'"x": [1,]', b'"build": 42',
                              b'"x": NaN', b'"x": "\\ud800"', b'"x": {"a": 1, "a": 2}', b'"x": ' + b"[" * 16 + b"]" * 16, b'"x": ' + b"[" * 15 + b"]" * 15])
        text = text[:-1] + b", " + more + b"}"
    elif how == 5:
        text = text[:-1] + b', "x": "' + b"x" * (chance.choice([1 << 20, (1 << 20) + 1]) - len(text) - 9) + b'"}'
    elif how == 6:
        text = json.dumps(dict(reversed(app.items())), indent=3).encode() + b"\n\n"
    case.notes["app.json"] = len(text)
    case.notes["app.json text"] = text[:300]

    def files(table):
        table["app.json"] = text
        if how == 7:
            del table["app.json"]
    case.parts["files"] = files


# ---- the container -------------------------------------------------------------------------------------------


@mutation("whole", "PKG-1 PKG-2 PKG-3 PKG-4 PKG-5 LIM-1 LIM-2")
def container(chance, case):
    def change(data):
        c, h = struct.unpack("<II", data[12:20])
        return chance.choice([
            lambda: data[:chance.randrange(len(data))], lambda: data + b"x", lambda: data[:chance.randrange(24)], lambda: b"",
            lambda: bytes([data[0] ^ 1]) + data[1:], lambda: data[:8] + struct.pack("<I", chance.choice([0, 2, 256, 1 << 31])) + data[12:],
            lambda: data[:12] + struct.pack("<II", chance.choice([0, c - 1, c + 1, 65536, 65537, 2**32 - 1]), h) + data[20:],
            lambda: data[:16] + struct.pack("<I", chance.choice([0, h - 1, h + 1, 4 << 20, (4 << 20) + 1, 2**32 - 1])) + data[20:],
            lambda: data[:20 + c + h] + data[20 + c + h:-512], lambda: data[:20] + data[20 + c:20 + c + h] + data[20:20 + c] + data[20 + c + h:],
        ])()
    case.parts["whole"] = change


@mutation("damage", "PAY-1 PAY-2 PKG-5")
def damaged_payload(chance, case):
    case.parts["damage"] = chance.choice([lambda payload: payload[:chance.randrange(len(payload))], lambda payload: payload + b"x" * chance.randint(1, 600),
                                          lambda payload: bytes([payload[0] ^ 1]) + payload[1:], lambda payload: payload[:-1] + b"\1"])


# ---- differences of the reference ----------------------------------------------------------------------------


def newer_unicode(case):
    """A code point that Python's tables do not know, though version 15.0 has it."""
    if unicodedata.unidata_version >= "15":
        return False
    text = case.notes.get("text", "") + b"".join(case.notes.get("paths", [])).decode("utf-8", "replace")
    return any(unicodedata.category(c) == "Cn" for c in text)


def has(*names):
    return lambda case: bool(set(names) & set(case.names))


def huge_window(case):
    """A window descriptor for more than libzstd can represent: 2 GiB."""
    return case.notes.get("window") is not None and 10 + (case.notes["window"] >> 3) > 31


def large_app_json(case):
    """app.json has more than 1 MiB, or its headers say so."""
    return case.notes.get("app.json", 0) > 1 << 20 or bool({"size_field", "pax_header", "header_byte"} & set(case.names))


def pax_fields(case):
    return case.notes.get("pax fields", False)


AHEAD = "the reference decodes and reads on before it judges what it has"
# (condition, the tool's code, codes of the reference, rule, why). Each is also in testvectors/reference-differences.json.
EXPLANATIONS = [
    (large_app_json, "limitExceeded", ["accepted", "manifestMismatch", "payloadCorrupt"], "LIM-9", "the reference has no limit for app.json, and adds up the sizes first"),
    (huge_window, "limitExceeded", ["payloadCorrupt"], "LIM-10", "the reference sees its library's error for windows that the library cannot represent"),
    (pax_fields, "unsafeMember", ["accepted", "payloadCorrupt", "manifestMismatch", "unsafePath"], "TAR-5, TAR-6",
     "the reference looks at link name and device numbers of regular files only"),
    (pax_fields, "payloadCorrupt", ["accepted", "manifestMismatch", "unsafePath", "unsafeMember"], "TAR-7",
     "the reference looks at the name fields of regular files only"),
    (has("size_field", "archive_order"), "manifestMismatch", ["payloadCorrupt"], "SUM-7, SUM-14", f"a digest is judged before the padding; {AHEAD}"),
    *((has("archive_order", "archive_end", "frame_bytes", "frame", "damaged_payload"), code, ["payloadCorrupt", "truncated"], "POL-13",
       f"what stands before the damage is judged first; {AHEAD}")
      for code in ("manifestMismatch", "contentNotCertified", "unsafeMember", "limitExceeded")),
    (has("header_byte"), "manifestMismatch", ["payloadCorrupt"], "SUM-7", f"a size that is too small: the digest is judged before the padding; {AHEAD}"),
    (has("archive_end"), "payloadCorrupt", ["truncated"], "POL-13", f"the bytes behind the end mark come before the cut; {AHEAD}"),
    (newer_unicode, "accepted", ["malformed", "unsafePath"], "TXT-4", "the reference takes Python's tables, which are older than version 15.0"),
    (lambda case: any(path.startswith(b"SHA256SUMS/") or path.partition(b"/")[0].lower() == b"sha256sums" for path in case.notes.get("paths", [])),
     "unsafePath", ["accepted", "contentNotCertified", "manifestMismatch", "payloadCorrupt"], "PTH-9, PTH-10", "the reference does not compare SHA256SUMS with directories"),
    (lambda case: b'"build": -0' in case.notes.get("app.json text", b""), "manifestMismatch", ["accepted"], "SUM-9", "the reference reads -0 as 0"),
]


def explain(case, tool, theirs):
    for condition, ours, reference, rule, why in EXPLANATIONS:
        if tool == ours and theirs in reference and condition(case):
            return f"{rule}: {why}"
    return None


# ---- running -------------------------------------------------------------------------------------------------


def make(number) -> Case:
    chance = random.Random(f"{SEED} {number}")
    case, taken = Case(number), set()
    # Every fault in turn, so that each rule is reached; further ones by chance.
    wanted = [MUTATIONS[number % len(MUTATIONS)]] + chance.choices(MUTATIONS, k=chance.choices([0, 1, 2], [14, 4, 1])[0])
    answers = []
    for name, rules, steps, function in wanted:
        if steps & taken:
            continue
        taken |= steps
        answers.append(function(chance, case))
        case.names.append(name)
        case.rules += rules
    case.expected = answers[0] if len(answers) == 1 else None
    return case


def judge_all(files, root, checks):
    """The tool's code for each file, several files a run; a run that fails as a whole is repeated file by file."""
    codes, slowest, peak = {}, 0.0, 0
    for start in range(0, len(files), BATCH):
        batch = files[start:start + BATCH]
        options = ["--json", "--root", root, "--at", p.NOW]
        answer = common.run("verify", *batch, *options, seconds=60)
        slowest, peak = max(slowest, answer.seconds), max(peak, answer.peak)
        try:
            rows = answer.rows()
        except ValueError:
            rows = []
        if [r.get("file") for r in rows] != [str(f) for f in batch] or answer.status not in (0, 1):
            rows = []
            for file in batch:
                alone = common.run("verify", file, *options, seconds=60)
                checks.check(file.name, *common.form(alone))
                rows.append(alone.object() or {"code": alone.brief()})
        elif common.CONTROL.search((answer.out + answer.err).decode("utf-8", "replace")):
            checks.check(f"{batch[0].name} to {batch[-1].name}", "a raw control character in the output")
        for file, row in zip(batch, rows):
            codes[file] = row.get("code") or row.get("verdict"), row.get("digest"), row.get("message", "")
    return codes, slowest, peak


def main():
    common.needs_tool()
    common.needs_shared()
    checks, reference = common.Checks(), common.reference()
    space = common.scratch("hostile", memory=True)
    root = common.write_key(space / "root.pub", p.ROOT1.public)
    cases, files = [make(number) for number in range(CASES)], []
    begun = time.monotonic()
    for case in cases:
        case.built = case.build()
        files.append(space / f"{case.number:05}-{'-'.join(case.names)}.nshpkg")
        files[-1].write_bytes(case.built.data)
    made = time.monotonic() - begun
    base = common.run("--version").peak
    codes, slowest, peak = judge_all(files, root, checks)
    explained, by_rule, by_code, differing = collections.Counter(), collections.defaultdict(collections.Counter), collections.Counter(), 0
    for case, file in zip(cases, files):
        ours, digest, message = codes[file]
        theirs = common.reference_code(reference, case.built.data, [p.ROOT1.public], p.NOW)
        fault = None
        if ours != theirs:
            why = explain(case, ours, theirs)
            differing += 1
            explained[why] += 1
            fault = None if why else f"the tool says {ours} ({message}), the reference {theirs}; {case.notes}"
        right = None if case.expected in (None, ours) else f"{ours}, but alone this fault is {case.expected}"
        ours in ("accepted",) and digest != case.built.digest and checks.check(file.name, f"digest {digest}")
        checks.check(file.name, fault, right)
        by_code[ours] += 1
        for rule in case.rules:
            by_rule[rule][ours] += 1
    checks.check("memory", f"{peak / common.MIB:.1f} MiB" if peak > base + MEMORY else None)
    checks.check("time", f"{slowest:.1f} s for {BATCH} packages" if slowest > SECONDS else None)
    print(f"\n{len(cases)} packages from {len(MUTATIONS)} kinds of fault, seed {SEED}: " + ", ".join(f"{n} {c}" for c, n in by_code.most_common()))
    print(f"made in {made:.1f} s; the slowest run of {BATCH} took {slowest:.2f} s; peak memory {peak / common.MIB:.1f} MiB "
          f"({(peak - base) / common.MIB:.1f} over --version's)")
    print(f"{differing} answers differ from the reference's:")
    for why, count in explained.most_common():
        print(f"  {count:5} {why or 'UNEXPLAINED'}")
    print("packages whose faults aim at a rule, and what they got:")
    for rule, counts in sorted(by_rule.items(), key=lambda i: (i[0].split("-")[0], int(i[0].split("-")[1]))):
        print(f"  {rule:7} {sum(counts.values()):5}  " + ", ".join(f"{c} {n}" for c, n in counts.most_common(5)))
    checks.finish()


if __name__ == "__main__":
    main()

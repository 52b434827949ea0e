"""The container: magic, version, lengths, and where a file may end."""
import struct

from .. import packages as p
from .. import wire
from ..packages import package


def prefix_sizes(data: bytes):
    return struct.unpack("<II", data[12:20])


def patched(at: int, value: bytes):
    return lambda data: data[:at] + value + data[at + len(value):]


def sizes(c=None, h=None):
    def change(data):
        now_c, now_h = prefix_sizes(data)
        return data[:12] + struct.pack("<II", now_c if c is None else c, now_h if h is None else h) + data[20:]
    return change


def cut(at):
    """Ends the file at an offset, from its end if negative."""
    return lambda data: data[:at]


def cut_behind_header(extra: int):
    def change(data):
        c, h = prefix_sizes(data)
        return data[:20 + c + h + extra]
    return change


def filled(size: int):
    """White space behind an envelope, up to a size: legal JSON, so only the size can be wrong."""
    return lambda data: data + b" " * (size - len(data))


def add(book):
    refused = lambda name, title, rules, code, whole: book.package(name, title, rules, code, package(whole=whole))
    book.package("good", "A package that is right in every way.", "PKG-1 PKG-2 PKG-4 PKG-5 PKG-6 PKG-7 PKG-11 PKG-12 PKG-13 POL-1 POL-2 POL-3 "
                 "POL-4 POL-5 POL-6 POL-7 POL-9 POL-13 CRT-1 CRT-4 CRT-5 APP-1 ENV-1 ENV-9 SUM-1 SUM-2 SUM-3 SUM-13 TAR-1 TAR-4 TAR-14")
    refused("file-empty", "A file without a byte could still become a package.", "PKG-1", "truncated", cut(0))
    refused("magic-cut", "Seven bytes that agree with the magic.", "PKG-1", "truncated", cut(7))
    refused("magic-short-other", "Three bytes that do not agree with the magic.", "PKG-1", "unsupportedFormat", lambda d: b"PK\x03")
    refused("magic-other", "The first byte of the magic without its high bit.", "PKG-1", "unsupportedFormat", patched(0, b"\x09"))
    refused("magic-text-mode", "The line feed of the magic became a carriage return and a line feed.", "PKG-1", "unsupportedFormat",
            lambda d: d[:7] + b"\r\n" + d[8:])
    refused("magic-not-first", "A good package behind a line of text.", "PKG-1", "unsupportedFormat", lambda d: b"#!/bin/sh\n" + d)
    refused("version-0", "Container version 0.", "PKG-2", "unsupportedFormat", patched(8, struct.pack("<I", 0)))
    refused("version-2", "Container version 2.", "PKG-2", "unsupportedFormat", patched(8, struct.pack("<I", 2)))
    refused("version-big-endian", "Container version 1 in big-endian order.", "PKG-2", "unsupportedFormat", patched(8, struct.pack(">I", 1)))
    refused("version-2-cut", "Container version 2, and the file ends there.", "PKG-2 PKG-4", "unsupportedFormat",
            lambda d: patched(8, struct.pack("<I", 2))(d)[:12])
    refused("version-cut", "The file ends within the version.", "PKG-4", "truncated", cut(10))
    refused("prefix-only-version", "The file ends behind the version.", "PKG-4", "truncated", cut(12))
    refused("prefix-cut", "The file ends one byte before the prefix does.", "PKG-4", "truncated", cut(19))
    refused("prefix-cut-behind-zero-length", "The certificate's length is zero, but the prefix is not complete.", "PKG-4", "truncated",
            lambda d: sizes(c=0)(d)[:16])
    refused("prefix-only", "The file ends where the certificate should begin.", "PKG-4", "truncated", cut(20))
    refused("certificate-length-0", "A certificate envelope of no bytes.", "PKG-3", "malformed", sizes(c=0))
    refused("header-length-0", "A header envelope of no bytes.", "PKG-3", "malformed", sizes(h=0))
    refused("certificate-length-0-cut", "A certificate envelope of no bytes in a file that ends behind the prefix.", "PKG-3 PKG-4 POL-14",
            "malformed", lambda d: sizes(c=0)(d)[:20])
    refused("length-0-and-over-limit", "A certificate of no bytes and a header over its limit.", "PKG-4 POL-14", "malformed",
            sizes(c=0, h=(4 << 20) + 1))
    refused("certificate-length-over-limit-cut", "A certificate length over the limit in a file that ends behind the prefix.", "LIM-1 PKG-4",
            "limitExceeded", lambda d: sizes(c=65537)(d)[:20])
    refused("header-length-over-limit", "A header length of one more than 4 MiB.", "LIM-2 PKG-4", "limitExceeded", sizes(h=(4 << 20) + 1))
    refused("header-length-at-limit-cut", "A header length of 4 MiB in a file that is shorter.", "LIM-2 PKG-4", "truncated", sizes(h=4 << 20))
    refused("header-length-huge", "A header length of 4294967295.", "LIM-2", "limitExceeded", sizes(h=2**32 - 1))
    book.package("certificate-at-limit", "A certificate envelope of exactly 64 KiB.", "LIM-1 JSN-2", None,
                 package(cert=p.certificate(env_text=filled(65536))))
    book.package("certificate-over-limit", "A certificate envelope of 64 KiB and one byte.", "LIM-1", "limitExceeded",
                 package(cert=p.certificate(env_text=filled(65537))))
    good = package()
    c, h = prefix_sizes(good.data)
    book.package("certificate-at-set-limit", "A limit for certificates that this one just keeps.", "LIM-1", None, good,
                 limits={"certificateEnvelopeBytes": c})
    book.package("certificate-over-set-limit", "A limit for certificates that this one exceeds by a byte.", "LIM-1", "limitExceeded", good,
                 limits={"certificateEnvelopeBytes": c - 1})
    book.package("header-at-set-limit", "A limit for headers that this one just keeps.", "LIM-2", None, good, limits={"headerEnvelopeBytes": h})
    book.package("header-over-set-limit", "A limit for headers that this one exceeds by a byte.", "LIM-2", "limitExceeded", good,
                 limits={"headerEnvelopeBytes": h - 1})
    refused("certificate-cut", "The file ends within the certificate.", "PKG-4", "truncated", cut(20 + c - 1))
    refused("header-cut", "The file ends within the header.", "PKG-4", "truncated", cut(20 + c + h - 1))
    refused("certificate-length-one-more", "The certificate's length takes in the first byte of the header.", "PKG-4 ENV-1 JSN-2", "malformed",
            sizes(c=c + 1, h=h - 1))
    refused("certificate-length-one-less", "The certificate's length leaves out its last byte.", "PKG-4 ENV-1", "malformed",
            sizes(c=c - 1, h=h + 1))
    refused("header-length-one-more", "The header's length takes in the first byte of the payload.", "PKG-4 JSN-2", "malformed", sizes(h=h + 1))
    refused("byte-between-envelopes", "A line feed between the envelopes, counted to neither.", "PKG-4", "malformed",
            lambda d: d[:20 + c] + b"\n" + d[20 + c:])
    refused("payload-missing", "The file ends behind the header.", "PKG-5 PAY-2", "truncated", cut_behind_header(0))
    refused("payload-cut-by-one", "The last byte of the payload is missing.", "PKG-5 PAY-2", "truncated", cut(-1))
    refused("payload-one-more", "One byte behind the payload.", "PKG-5", "trailingData", lambda d: d + b"\0")
    refused("payload-twice", "The payload stands there twice.", "PKG-5", "trailingData", lambda d: d + d[20 + c + h:])
    refused("package-behind-package", "Another good package behind the payload.", "PKG-5", "trailingData", lambda d: d + d)

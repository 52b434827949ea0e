"""The narrow tar."""
from .. import packages as p
from .. import wire
from ..packages import package
from ..wire import END, Member, pax, record

LONG = "assets/" + "/".join(["directory-with-a-long-name"] * 4) + "/file.txt"  # more than 100 bytes
PREFIXED = "assets/images/" + "n" * 95  # the name does not fit with its directories, but the prefix takes them


def at(index: int, **changes):
    """Changes members of one archive member: 0 is SHA256SUMS, 1 app.json, 2 assets/logo.svg, 3 bundle.js."""
    def change(members):
        for name, value in changes.items():
            setattr(members[index], name, value)
    return change


def field(index: int, offset: int, value: bytes):
    return lambda members: members[index].fields.update({offset: value})


def before(index: int, *extra):
    def change(members):
        members[index:index] = list(extra)
    return change


def added(path: str, data: bytes = b"data\n"):
    return lambda files: files.update({path: data})


def add(book):
    case = lambda name, title, rules, code=None, **hooks: book.package(name, title, rules, code, package(**hooks))
    member = lambda name, title, rules, code, change: case(name, title, rules, code, members=change)

    # checksum, magic, numbers
    good = Member(b"app.json", p.app_json(p.APP)).block()
    total = int(good[148:154], 8)
    member("tar-checksum-one-more", "A checksum that is one too large.", "TAR-1", "payloadCorrupt", at(1, checksum=b"%06o\0 " % (total + 1)))
    member("tar-checksum-leading-spaces", "A checksum with spaces in front and a NUL behind it.", "TAR-3", None, at(1, checksum=b"  %05o\0" % total))
    member("tar-checksum-blank", "A checksum field of spaces.", "TAR-3 TAR-1", "payloadCorrupt", at(1, checksum=b" " * 8))
    member("tar-checksum-decimal", "A checksum in decimal.", "TAR-3 TAR-1", "payloadCorrupt", at(1, checksum=b"%06d\0 " % total))

    def signed(members):
        members[2].name = members[2].name
        members[2].checksum = b"%06o\0 " % (wire.signed_sum(members[2].block()) & 0o777777)
    case("tar-checksum-of-signed-bytes", "A checksum of signed bytes, for a name outside ASCII.", "TAR-1", "payloadCorrupt",
         files=added("assets/b\u00e9.txt"), members=signed)
    member("tar-magic-gnu", "The magic of GNU tar.", "TAR-2", "payloadCorrupt", field(1, 257, b"ustar  \0"))
    member("tar-magic-none", "A header block of the time before ustar.", "TAR-2", "payloadCorrupt", field(1, 257, bytes(8)))
    member("tar-version-other", "A version other than 00.", "TAR-2", "payloadCorrupt", field(1, 263, b"01"))
    size = len(p.app_json(p.APP))
    for name, value, code, title in (
            ("spaces-first", b"%11o " % size, None, "A size with spaces around it."), ("12-digits", b"%012o" % size, None, "A size of twelve digits."),
            ("binary", b"\x80" + size.to_bytes(11, "big"), "payloadCorrupt", "A binary size."), ("empty", bytes(12), "payloadCorrupt", "A size field of NULs."),
            ("digit-8", b"00000000080\0", "payloadCorrupt", "The digit 8 in a size."), ("hole", b"0000 %06o\0" % size, "payloadCorrupt", "A space within a size."),
            ("digit-behind-nul", b"%07o\0" % size + b"0001", "payloadCorrupt", "Digits behind the NUL of a size."), ("minus", b"-%010o\0" % size, "payloadCorrupt", "A negative size.")):
        member(f"tar-size-{name}", title, "TAR-3", code, field(1, 124, value))

    # types
    for kind, name, title in (
            (b"\0", "nul", "The NUL type of old archives."), (b"1", "hard-link", "A hard link without a target."), (b"2", "symbolic-link", "A symbolic link without a target."),
            (b"3", "character-device", "A character device."), (b"4", "block-device", "A block device."), (b"5", "directory", "A directory."),
            (b"6", "fifo", "A FIFO."), (b"7", "contiguous", "A contiguous file."), (b"g", "global-pax", "A global pax header."), (b"L", "gnu-long-name", "A long name of GNU tar."),
            (b"S", "gnu-sparse", "A sparse file of GNU tar."), (b"D", "gnu-directory", "A directory listing of GNU tar."), (b"X", "solaris-pax", "A pax header of Solaris."),
            (b"V", "gnu-volume", "A volume label of GNU tar.")):
        member(f"tar-type-{name}", title, "TAR-4", "unsafeMember", at(2, kind=kind))
    member("tar-directory-extra", "A directory member, as other tools write it, before its file.", "TAR-4", "unsafeMember",
           before(2, Member(b"assets/", kind=b"5")))
    member("tar-type-of-first-member", "SHA256SUMS is a symbolic link.", "TAR-4 SUM-1", "unsafeMember", at(0, kind=b"2", fields={157: b"x"}))
    member("tar-link-name", "A regular file with a link name.", "TAR-5", "unsafeMember", field(2, 157, b"bundle.js"))
    member("tar-link-name-behind-nul", "Bytes behind the NUL of an empty link name.", "TAR-7 TAR-17", "payloadCorrupt", field(2, 158, b"bundle.js"))
    member("tar-device-major", "A regular file with a device number.", "TAR-6", "unsafeMember", field(2, 329, b"0000010\0"))
    member("tar-device-minor", "A regular file with a minor device number.", "TAR-6", "unsafeMember", field(2, 337, b"0000001\0"))
    member("tar-device-empty", "Device number fields of NULs and of spaces.", "TAR-6", None, lambda m: m[2].fields.update({329: bytes(8), 337: b" " * 8}))
    member("tar-name-behind-nul", "Bytes behind the NUL of a name.", "TAR-7", "payloadCorrupt", field(2, 20, b"hidden"))
    member("tar-prefix-behind-nul", "Bytes behind the NUL of an empty prefix.", "TAR-7", "payloadCorrupt", field(2, 350, b"hidden"))
    member("tar-metadata", "Mode, owner, group, their names, and time hold what is no number.", "TAR-16", None,
           lambda m: m[2].fields.update({100: b"4777777\0", 108: b"\x80" + b"\xff" * 7, 116: b"zzzzzzz\0", 136: b"-1         \0", 265: b"root\0\xff", 297: b"wheel"}))

    # paths in the block and in pax headers
    split = lambda m: [setattr(x, "prefix", b"assets") or setattr(x, "name", b"logo.svg") for x in m if x.name == b"assets/logo.svg"] and None
    member("tar-prefix", "A path divided into prefix and name.", "TAR-12", None, split)
    case("tar-name-of-100-bytes", "A name that fills its field, without a NUL.", "TAR-12 TAR-7", files=added("assets/" + "n" * 93))
    def prefixed(members):
        i = next(i for i, m in enumerate(members) if m.kind == b"x")
        members[i:i + 2] = [Member(b"n" * 95, members[i + 1].data, prefix=b"assets/images")]
    case("tar-prefix-needed", "A path of more than 100 bytes in prefix and name.", "TAR-12", files=added(PREFIXED), members=prefixed)
    member("tar-prefix-slash", "A prefix that ends with a slash doubles it.", "TAR-12 PTH-1", "unsafePath", at(2, prefix=b"assets/", name=b"logo.svg"))
    case("pax-path", "A path of more than 100 bytes in a pax header.", "TAR-9 TAR-12", files=added(LONG))
    member("pax-path-first-member", "SHA256SUMS is named by a pax header.", "TAR-12 SUM-1", None,
           lambda m: [m[0].__setattr__("name", b"whatever"), m.insert(0, pax(record(b"path", b"SHA256SUMS")))] and None)
    member("pax-path-wins", "The name in the block is another than the pax path, and does not count.", "TAR-12", None,
           lambda m: [m[2].__setattr__("name", b"../../etc/passwd"), m.insert(2, pax(record(b"path", b"assets/logo.svg")))] and None)
    member("pax-empty", "A pax header without a record.", "TAR-9", None, before(2, pax()))
    member("pax-twice", "Two pax headers before one file.", "TAR-8", "payloadCorrupt",
           before(2, pax(record(b"path", b"assets/logo.svg")), pax(record(b"path", b"assets/logo.svg"))))
    member("pax-at-end", "A pax header before the end of the archive.", "TAR-8", "payloadCorrupt", lambda m: m.append(pax(record(b"path", b"x"))))
    member("pax-for-next-only", "A pax path does not hold for the file behind the next one.", "TAR-8 SUM-6", "manifestMismatch",
           lambda m: [m[3].__setattr__("name", b"other.js"), m.insert(2, pax(record(b"path", b"assets/logo.svg")))] and None)
    for name, data, rules, title in (
            ("unknown-keyword", record(b"mtime", b"1764470000.5"), "TAR-10", "A pax time."), ("comment", record(b"comment", b"hello"), "TAR-10", "A pax comment."),
            ("sparse", record(b"GNU.sparse.major", b"1"), "TAR-10", "A sparse file in the pax form of GNU tar."),
            ("link-path", record(b"linkpath", b"bundle.js"), "TAR-10", "A pax link path."),
            ("path-twice", record(b"path", b"assets/logo.svg") * 2, "TAR-10", "A pax path twice."),
            ("length-short", b"23 path=assets/logo.svg\n", "TAR-9", "A record length that is one too small."),
            ("length-long", b"26 path=assets/logo.svg\n", "TAR-9", "A record length beyond the data."),
            ("length-leading-zero", b"025 path=assets/logo.svg\n", "TAR-9", "A record length with a leading zero."),
            ("length-missing", b" path=assets/logo.svg\n", "TAR-9", "A record without a length."),
            ("length-sign", b"+25 path=assets/logo.svg\n", "TAR-9", "A record length with a sign."),
            ("no-line-feed", b"24 path=assets/logo.svg ", "TAR-9", "A record without its line feed."),
            ("no-equals", b"24 path assets/logo.svg\n", "TAR-9", "A record without an equals sign."),
            ("behind-records", record(b"path", b"assets/logo.svg") + b"\0", "TAR-9", "A NUL behind the records.")):
        member(f"pax-{name}", title, rules, "payloadCorrupt", before(2, pax(data)))
    member("pax-path-nul", "A NUL within a pax path.", "PTH-3 TAR-12", "unsafePath", before(2, pax(record(b"path", b"assets/logo.svg\0.txt"))))
    member("pax-path-line-feed", "A line feed within a pax path.", "PTH-3 TAR-9", "unsafePath", before(2, pax(record(b"path", b"assets/\nlogo.svg"))))
    member("pax-path-empty", "An empty pax path.", "PTH-1 TAR-12", "unsafePath", before(2, pax(record(b"path", b""))))
    member("pax-size-8-GiB", "A pax size of 8 GiB is well formed, and more than all files together.", "TAR-11 SUM-8", "manifestMismatch",
           before(2, pax(record(b"size", b"8589934592"))))
    member("pax-size-below-8-GiB", "A pax size of one byte less than 8 GiB.", "TAR-11", "payloadCorrupt", before(2, pax(record(b"size", b"8589934591"))))
    member("pax-size-as-in-block", "A pax size that repeats the size of the block.", "TAR-11", "payloadCorrupt", before(2, pax(record(b"size", b"7"))))
    member("pax-size-leading-zero", "A pax size with a leading zero.", "TAR-11", "payloadCorrupt", before(2, pax(record(b"size", b"08589934592"))))
    member("pax-size-17-digits", "A pax size of 17 digits.", "TAR-11", "payloadCorrupt", before(2, pax(record(b"size", b"10000000000000000"))))
    member("pax-size-twice", "A pax size twice.", "TAR-10", "payloadCorrupt", before(2, pax(record(b"size", b"8589934592") * 2)))
    huge = package(members=before(2, pax(record(b"size", b"8589934592"))), payload_fields=lambda f: f.update(unpackedSize=f["unpackedSize"] - 7 + (8 << 30)))
    book.package("pax-size-ends-early", "A file of 8 GiB by its pax header, within a raised limit, and the archive ends in it.", "TAR-15 TAR-11", "payloadCorrupt",
                 huge, limits={"unpackedBytes": 16 << 30})
    # 2,048 bytes of data: a record of 2,048 bytes in all; 1,024 bytes of path is another limit, so the path breaks that one
    exact = lambda total: record(b"path", b"a" * (total - len(b"2048 path=\n")))
    member("pax-2048-bytes", "2,048 bytes of pax data are read: their path is too long.", "LIM-11 LIM-21", "unsafePath", before(2, pax(exact(2048))))
    member("pax-2049-bytes", "2,049 bytes of pax data.", "LIM-11", "payloadCorrupt", before(2, pax(exact(2049))))
    member("pax-link-name", "A pax header block with a link name.", "TAR-5", "unsafeMember",
           before(2, pax(record(b"path", b"assets/logo.svg"), fields={157: b"bundle.js"})))
    member("pax-device", "A pax header block with a device number.", "TAR-6", "unsafeMember",
           before(2, pax(record(b"path", b"assets/logo.svg"), fields={329: b"0000010\0"})))
    member("pax-name-behind-nul", "A pax header block with bytes behind the NUL of its name.", "TAR-7", "payloadCorrupt",
           before(2, pax(record(b"path", b"assets/logo.svg"), fields={40: b"hidden"})))
    member("pax-name-is-no-path", "The name of a pax header block is nobody's path.", "TAR-12", None,
           before(2, Member(b"../PaxHeaders.0/x", record(b"path", b"assets/logo.svg"), kind=b"x")))
    member("pax-padding", "A byte in the padding of a pax header.", "TAR-13", "payloadCorrupt",
           before(2, pax(record(b"path", b"assets/logo.svg"), padding=bytes(487) + b"x")))

    # padding and end
    member("tar-padding", "A byte in the padding of a file.", "TAR-13", "payloadCorrupt", lambda m: setattr(m[2], "padding", bytes(504) + b"x"))
    member("tar-padding-of-sums", "A byte in the padding of SHA256SUMS.", "TAR-13", "payloadCorrupt",
           lambda m: setattr(m[0], "padding", b"x" + bytes(-len(m[0].data) % 512 - 1)))
    case("tar-end-one-block", "One block of zeros at the end.", "TAR-14 TAR-15", "payloadCorrupt", end=bytes(512))
    case("tar-end-none", "No block of zeros at the end.", "TAR-15", "payloadCorrupt", end=b"")
    case("tar-end-block-then-other", "One block of zeros, then one that holds a byte.", "TAR-14", "payloadCorrupt", end=bytes(512) + bytes(511) + b"x")
    case("tar-end-padded", "The end is padded to ten kibibytes, as tar does.", "TAR-14", end=bytes(10240))
    case("tar-end-odd", "A few zeros behind the end, less than a block.", "TAR-14", end=bytes(1024 + 7))
    case("tar-end-other-bytes", "A byte that is not zero behind the end.", "TAR-14", "payloadCorrupt", end=bytes(1024) + bytes(1000) + b"x")
    case("tar-end-second-archive", "A second archive behind the end.", "TAR-14", "payloadCorrupt", end=bytes(1024) + Member(b"x.js", b"x").encode() + bytes(1024))
    case("tar-end-1-MiB", "1 MiB of zeros behind the end.", "LIM-12", end=bytes(1024 + (1 << 20)), pack=wire.stored)
    case("tar-end-1-MiB-1", "1 MiB and one byte of zeros behind the end.", "LIM-12", "payloadCorrupt", end=bytes(1024 + (1 << 20) + 1), pack=wire.stored)
    case("tar-ends-in-header", "The archive ends within a header block.", "TAR-15", "payloadCorrupt", stream=lambda s: s[:-1024 - 1024 + 100])
    case("tar-ends-in-data", "The archive ends within a file.", "TAR-15", "payloadCorrupt", stream=lambda s: s[:-1024 - 500])
    case("tar-ends-in-padding", "The archive ends within padding.", "TAR-15", "payloadCorrupt", stream=lambda s: s[:-1024 - 1])
    case("tar-empty", "An archive without a member.", "SUM-1 SUM-6", "manifestMismatch", stream=lambda s: bytes(1024))
    member("tar-link-and-bad-size", "A symbolic link whose size is no number.", "TAR-17", "payloadCorrupt",
           lambda m: [setattr(m[2], "kind", b"2"), m[2].fields.update({124: b"zz\0"})] and None)
    member("tar-link-and-bad-name", "A symbolic link with bytes behind the NUL of its name.", "TAR-17", "unsafeMember",
           lambda m: [setattr(m[2], "kind", b"2"), m[2].fields.update({20: b"hidden"})] and None)
    member("tar-link-and-bad-path", "A symbolic link with a path that climbs.", "TAR-17", "unsafeMember",
           lambda m: [setattr(m[2], "kind", b"2"), setattr(m[2], "name", b"../x")] and None)
    member("tar-bad-path-and-bad-place", "A path that climbs, where another file belongs.", "TAR-17 PTH-1", "unsafePath", at(2, name=b"../x"))
    member("tar-bad-place-and-bad-size", "Another file than the next one, and larger than all together.", "TAR-17 SUM-6", "manifestMismatch",
           at(2, name=b"other", size=1 << 20))

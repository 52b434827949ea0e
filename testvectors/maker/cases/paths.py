"""Paths: what is safe on every system. Each is listed in SHA256SUMS and is a member, unless the title says otherwise."""
from .. import wire
from ..packages import package


def listed(*paths):
    """Files under these paths, with data that differ."""
    return lambda files: files.update({path: b"%d\n" % i for i, path in enumerate(paths)})


def add(book):
    def case(name, title, rules, code, *paths, **hooks):
        book.package(f"path-{name}", title, rules, code, package(files=listed(*paths), **hooks))
    bad = lambda name, title, rules, *paths: case(name, title, rules, "unsafePath", *paths)
    good = lambda name, title, rules, *paths: case(name, title, rules, None, *paths)

    bad("absolute", "An absolute path.", "PTH-1", "/etc/passwd")
    bad("climbs", "A path that climbs at once.", "PTH-1", "../x")
    bad("climbs-inside", "A path that climbs and stays inside.", "PTH-1", "assets/../x")
    bad("climbs-last", "A path that ends with two dots.", "PTH-1", "assets/..")
    bad("dot", "A component that is a dot.", "PTH-1", "assets/./x")
    bad("dot-first", "A dot and a slash in front.", "PTH-1", "./x")
    bad("double-slash", "An empty component.", "PTH-1", "assets//x")
    bad("slash-last", "A slash at the end.", "PTH-1", "assets/x/")
    bad("slash-only", "A slash.", "PTH-1", "/")
    good("dots", "Dots in front and within.", "PTH-1", "assets/.hidden", "assets/a..b", "assets/..a")
    book.package("path-not-utf8-in-list", "A listed path that is not UTF-8 is no line.", "SUM-3 PTH-1", "manifestMismatch", package(files=listed(b"assets/\xff")))
    book.package("path-not-utf8-member", "A member's path that is not UTF-8.", "PTH-1", "unsafePath",
                 package(members=lambda m: setattr(m[2], "name", b"assets/\xc0\xaf.svg")))
    bad("not-nfc", "An accent as a combining mark.", "PTH-2", "assets/cafe\u0301")
    bad("not-nfc-singleton", "The sign for kelvin, which normalises to a letter.", "PTH-2", "assets/\u212a")
    bad("not-nfc-order", "Two combining marks in the wrong order.", "PTH-2", "assets/q\u0307\u0323")
    good("nfc", "Letters of many scripts.", "PTH-2", "assets/caf\u00e9", "assets/\u65e5\u672c", "assets/\u05e9\u05dc\u05d5\u05dd", "assets/\uff21")
    good("compatible", "Compatibility characters stay what they are.", "PTH-2 PTH-9", "assets/\ufb01", "assets/fj", "assets/\uff0e\uff0e/x")
    bad("control", "A control character.", "PTH-3", "assets/a\x01b")
    bad("delete", "The delete character.", "PTH-3", "assets/a\x7fb")
    bad("carriage-return", "A carriage return at the end, as from a list with two line ends.", "PTH-3 SUM-3", "assets/x\r")
    bad("zero-width-space", "A zero-width space.", "PTH-3", "assets/a\u200bb")
    bad("joiner", "A zero-width joiner: allowed in texts, not in paths.", "PTH-3 TXT-3", "assets/\u0915\u094d\u200d\u0937")
    bad("right-to-left", "A right-to-left override.", "PTH-3", "assets/\u202egpj.exe")
    bad("line-separator", "A line separator.", "PTH-3", "assets/a\u2028b")
    bad("private-use", "A private-use character.", "PTH-3", "assets/\ue000")
    bad("unassigned", "An unassigned code point.", "PTH-3", "assets/\u0378")
    bad("unicode-15.1", "A character that Unicode 15.1 added.", "PTH-3 TXT-4", "assets/\u2ffc")
    good("unicode-15.0", "A character that Unicode 15.0 added.", "PTH-3 TXT-4", "assets/\U0001fae8")
    for character, name in (("\\", "backslash"), (":", "colon"), ("<", "less"), (">", "greater"), ('"', "quote"), ("|", "bar"), ("?", "question"), ("*", "star")):
        bad(name, f"The character {character}", "PTH-4", f"assets/a{character}b")
    good("punctuation", "Punctuation that is allowed.", "PTH-4", "assets/!#$%&'()+,;=@[]^`{}~ -x", "-x", "assets/-")
    bad("dot-end", "A dot at the end.", "PTH-5", "assets/x.")
    bad("space-end", "A space at the end.", "PTH-5", "assets/x ")
    bad("directory-dot-end", "A directory with a dot at the end.", "PTH-5", "assets/d./x")
    good("space-inside", "Spaces within and in front.", "PTH-5", "assets/a b", "assets/ c")
    bad("apple-double", "A component that begins with a dot and an underscore.", "PTH-6", "assets/._x")
    bad("apple-double-directory", "A directory that begins with a dot and an underscore.", "PTH-6", "._d/x")
    good("underscores", "Underscores, and a dot and an underscore within.", "PTH-6", "assets/_.x", "assets/x._y")
    for name in ("con", "CON.txt", "prn", "Aux.js", "nul.tar.gz", "com1", "LPT9.log", "com0", "lpt0.x", "com\u00b9", "LPT\u00b3.x", "conin$", "CONOUT$.txt"):
        bad("windows-" + name.lower().replace("\u00b9", "superscript-1").replace("\u00b3", "superscript-3").replace("$", "-dollar").replace(".", "-"),
            f"The name {name}, reserved on Windows.", "PTH-7", f"assets/{name}")
    bad("windows-directory", "A directory with a name reserved on Windows.", "PTH-7", "nul/x")
    good("windows-near", "Names that Windows does not reserve.", "PTH-7", "assets/com10.js", "assets/console", "assets/xnul", "assets/com", "assets/lpt",
         "assets/com\u2074", "assets/con\u017f", "assets/aux-1.js", "assets/con .txt", "assets/conin")
    bad("hyphen", "A path that is a hyphen.", "PTH-8", "-")
    bad("case", "Two paths that differ in case.", "PTH-9", "assets/Logo.txt", "assets/logo.txt")
    bad("case-full", "Two paths that full case folding makes equal.", "PTH-9", "assets/stra\u00dfe", "assets/strasse")
    bad("case-sigma", "A sigma and a final sigma.", "PTH-9", "assets/\u03c3", "assets/\u03c2")
    bad("case-dotted-i", "A capital I with a dot, and its folding.", "PTH-9", "assets/\u0130", "assets/i\u0307")
    bad("case-ligature", "A ligature, and its letters.", "PTH-9", "assets/\ufb01", "assets/fi")
    bad("case-then-nfc", "Two paths that are equal only when folding is followed by normal form C.", "PTH-9", "assets/\u01f0", "assets/J\u030c")
    bad("case-cherokee", "A small Cherokee letter, which folds to the capital.", "PTH-9", "assets/\uab70", "assets/\u13a0")
    good("case-turkish", "A dotless i is no i, in every language.", "PTH-9", "assets/\u0131", "assets/i")
    bad("case-directory", "Directories that differ in case.", "PTH-9", "Assets/a.txt")
    bad("case-directory-and-file", "A file and a directory that differ in case.", "PTH-9", "assets/d/x", "assets/D")
    bad("sums-twice", "SHA256SUMS lists itself.", "PTH-9", "SHA256SUMS")
    bad("sums-case", "A file whose name differs from SHA256SUMS in case.", "PTH-9", "sha256sums")
    bad("sums-directory-case", "A directory whose name differs from SHA256SUMS in case.", "PTH-9", "Sha256Sums/x")
    bad("sums-directory", "SHA256SUMS as a directory.", "PTH-10", "SHA256SUMS/x")
    bad("file-and-directory", "A file that is also a directory.", "PTH-10", "assets/d", "assets/d/x")
    bad("file-and-directory-apart", "A file that is also a directory, with another path sorted between.", "PTH-10", "assets/d", "assets/d-1", "assets/d/x/y")
    bad("file-is-bundle-directory", "The bundle as a directory.", "PTH-10", "bundle.js/x")
    good("component-255", "A component of 255 bytes.", "LIM-22", "assets/" + "\u00e9" * 127 + "x")
    bad("component-256", "A component of 256 bytes in 128 characters.", "LIM-22", "assets/" + "\u00e9" * 128)
    good("components-32", "A path of 32 components.", "LIM-23", "/".join(["d"] * 31 + ["x"]))
    bad("components-33", "A path of 33 components.", "LIM-23", "/".join(["d"] * 32 + ["x"]))
    deep = "/".join(["d" * 200] * 5)  # 1,004 bytes
    good("1024", "A path of 1024 bytes.", "LIM-21", deep + "/" + "x" * 19)
    bad("1025", "A path of 1025 bytes.", "LIM-21", deep + "/" + "x" * 20)

    book.package("path-member-only", "The list is right, the member's path climbs.", "PTH-1 TAR-17", "unsafePath",
                 package(members=lambda m: setattr(m[2], "name", b"../logo.svg")))
    book.package("path-member-case", "The member's path differs from the listed one in case.", "SUM-6 JSN-8", "manifestMismatch",
                 package(members=lambda m: setattr(m[2], "name", b"assets/LOGO.svg")))
    book.package("path-member-not-nfc", "The member's path is the listed one in another normal form.", "PTH-2", "unsafePath",
                 package(files=listed("assets/caf\u00e9"), members=lambda m: [
                     setattr(x, "name", "assets/cafe\u0301".encode()) for x in m if x.name == "assets/caf\u00e9".encode()] and None))
    book.package("path-member-slash", "The member's path has a slash at the end.", "PTH-1", "unsafePath",
                 package(members=lambda m: setattr(m[2], "name", b"assets/logo.svg/")))

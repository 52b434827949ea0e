#!/usr/bin/env python3
"""Hostile archives and names, validly signed: what stands in a package must meet the reader's rules, whoever signed it.

Four uses of the shared corpora, each with the code that docs/package-format.md gives, derived by hand in the tables below:

  behind   a tar behind our own required members, where the list of files knows nothing of it
  listed   the same with its first members listed, so that the reader gets as far as the interesting one
  whole    an archive of another kind as the whole payload, stored and as if it were zstd
  asset    each archive as a file of a good package: data are data
  names    the names of paths.txt, listed in SHA256SUMS and present
  strays   each of these names as a member that is not listed

verify, open (with a new state directory) and extract answer alike and within a second; a refusal leaves no tree behind,
an acceptance leaves exactly the files that were signed. The reference judges what it can.
"""
import bz2
import concurrent.futures
import pathlib
import shutil
import subprocess
import time

import common
from maker import packages as p
from maker import wire

SECONDS = 1.0
ARCHIVES = common.SHARED / "corpora" / "archives"
NAMES = common.SHARED / "corpora" / "paths.txt"

# A tar behind the members app.json and bundle.js, which is all that SHA256SUMS lists. What decides is its first header
# block that breaks a rule; an ordinary member that nobody listed breaks SUM-6.
BEHIND = {
    "cpython__recursion.tar": ("payloadCorrupt", "TAR-2: the magic is empty (the type g comes later)"),
    "go-tar__gnu-multi-hdrs.tar": ("payloadCorrupt", "TAR-2: the magic of GNU tar"),
    "go-tar__hardlink.tar": ("manifestMismatch", "SUM-6: file.txt is not listed"),
    "go-tar__issue11169.tar": ("payloadCorrupt", "TAR-1: the checksum does not fit"),
    "go-tar__pax-bad-hdr-large.tar.bz2": ("payloadCorrupt", "LIM-11: a pax header of 1 MiB"),
    "go-tar__pax-global-records.tar": ("unsafeMember", "TAR-4: type g"),
    "go-tar__pax-nul-path.tar": ("unsafePath", "PTH-3: a NUL within the pax path"),
    "go-tar__pax-nul-xattrs.tar": ("payloadCorrupt", "TAR-10: keyword SCHILY.xattr"),
    "go-tar__pax-sparse-big.tar": ("payloadCorrupt", "TAR-10: keyword GNU.sparse"),
    "go-tar__ustar-file-devs.tar": ("unsafeMember", "TAR-6: device numbers 1, 1"),
    "libarchive__test_leading_slash.tar": ("unsafePath", "PTH-1: /foo/file"),
    "libarchive__test_pax_filename_encoding.tar": ("payloadCorrupt", "TAR-10: keyword ctime, before the path is looked at"),
    "libarchive__test_read_format_gtar_sparse_length.tar.Z": ("payloadCorrupt", "TAR-10: keyword GNU.sparse"),
    "libarchive__test_read_format_tar_V_negative_size.tar": ("payloadCorrupt", "TAR-1: the checksum does not fit"),
    "libarchive__test_read_format_tar_acl_oob_read.tar": ("payloadCorrupt", "TAR-10: keyword SCHILY.acl"),
    "libarchive__test_read_format_tar_invalid_pax_size.tar": ("payloadCorrupt", "TAR-2: the magic is utsar"),
    "libarchive__test_read_pax_xattr_rht_security_selinux.tar": ("payloadCorrupt", "TAR-10: keyword mtime"),
    "node-tar__bad-cksum.tar": ("manifestMismatch", "SUM-6: one-byte.txt is not listed"),
    "node-tar__excessively-deep.tar": ("payloadCorrupt", "LIM-11: a pax header of 434 KiB"),
    "node-tar__long-paths.tar": ("manifestMismatch", "SUM-6: its first file is not listed"),
    "node-tar__path-missing.tar": ("unsafePath", "PTH-1: the empty name"),
    "node-tar__utf8.tar": ("payloadCorrupt", "TAR-10: keyword ctime"),
    "own__absolute2.tar": ("unsafePath", "PTH-1: //tmp/moo"),
    "own__dirsymlink2b.tar": ("unsafeMember", "TAR-4: type 2"),
    "own__relative2.tar": ("unsafePath", "PTH-1: tmp/../../moo"),
    "safearchive__case-insensitive.tar": ("payloadCorrupt", "TAR-2: the magic of GNU tar"),
    "safearchive__specialfiles.tar": ("payloadCorrupt", "TAR-2: the magic of GNU tar"),
    "safearchive__traverse-slash-at-the-end.tar": ("payloadCorrupt", "TAR-2: the magic of GNU tar"),
    "safearchive__traverse-via-links.tar": ("payloadCorrupt", "TAR-2: the magic of GNU tar"),
    "safearchive__winshort.tar": ("payloadCorrupt", "TAR-2: the magic of GNU tar"),
    "tar-rs__duplicate_dirs.tar": ("unsafeMember", "TAR-4: type 5"),
    "tokio-tar__diff-014-unterminated-pax.tar": ("payloadCorrupt", "TAR-9: a record of 13 bytes in 12"),
    "tokio-tar__diff-024-pending-pax-boundary.tar": ("payloadCorrupt", "TAR-8: a pax header for the end of the archive"),
    "tokio-tar__pax-header-precedence.tar": ("manifestMismatch", "SUM-6: normal.txt is not listed"),
    "tokio-tar__pax-overrides-extension-header.tar": ("payloadCorrupt", "TAR-2: behind the pax header the magic of GNU tar"),
}

# The same archives where more is to be seen behind their first member: that one is listed, as (offset of its data, size),
# and the archive stands where the order of the names wants it.
LISTED = {
    "go-tar__hardlink.tar": (b"file.txt", 512, 15, "unsafeMember", "TAR-4: type 1"),
    "node-tar__bad-cksum.tar": (b"one-byte.txt", 512, 1, "payloadCorrupt", "TAR-1: the second checksum does not fit"),
    "node-tar__long-paths.tar": (None, 512, 100, "payloadCorrupt", "TAR-10: keyword ctime in the pax header behind the first file"),
    "tokio-tar__pax-header-precedence.tar": (b"normal.txt", 512, 6, "payloadCorrupt", "TAR-11: a pax size of 1024"),
    "go-tar__ustar-file-devs.tar": (b"file", 512, 0, "unsafeMember", "TAR-6: listed or not, device numbers 1, 1"),
    "libarchive__test_leading_slash.tar": (b"/foo/file", 512, 4, "unsafePath", "PTH-1: a list with that name is refused before its member"),
}

# The names of paths.txt, listed and present. Those that the corpus calls refused are unsafePath (section 11), those that it
# calls accepted are accepted; here is what differs, and what the corpus leaves to the reader.
UNLISTABLE = {"P013", "P092", "P093", "P094"}  # SUM-3: not UTF-8, so no line of a list
NAMED = {
    **{name: ("manifestMismatch", "SUM-3: no UTF-8, so no line of the list") for name in UNLISTABLE},
    "P020": ("manifestMismatch", "SUM-3: a line without a path"),
    "P043": ("manifestMismatch", "SUM-3: a line feed within the path makes two lines"),
    "P014": ("accepted", "full-width dots are no dots, and compatibility forms are not folded"),
    "P015": ("accepted", "percent signs are never decoded"),
    "P023": ("unsafePath", "PTH-1: a component ."),
    "P040": ("accepted", "a tilde is a plain character"),
    "P063": ("accepted", "no rule against short names of FAT"),
    "P095": ("accepted", "U+2215 is no separator"),
    "g3": ("manifestMismatch", "SUM-4: the paths rise strictly"),
    "g8": ("unsafePath", "PTH-9: U+FB01 folds to fi"),
}
# The same names as members that are not listed: right ones break SUM-6, wrong ones section 11, and these something else.
STRAY = {
    "P041": ("payloadCorrupt", "TAR-7: bytes behind the NUL of the name field"),
    "P042": ("payloadCorrupt", "TAR-7: bytes behind the NUL of the name field"),
    "P101": ("payloadCorrupt", "LIM-11: a pax header of 5 KiB"),
}


class Case:
    """A package to judge: what is expected and why, and the files that an acceptance must bring."""

    def __init__(self, name, code, why, built, files=None):
        self.name, self.code, self.why, self.data, self.files = name, code, why, built.data, files


def build(files: dict, payload=None, compression="none", listed=None):
    """A signed package of `files` (path bytes -> data), its sums right, and any bytes as payload."""
    pairs = p.in_order(files)
    sums = p.sums_of(pairs) if listed is None else listed
    body = wire.Member(b"SHA256SUMS", sums).encode() + b"".join(m.encode() for path, data in pairs for m in wire.file_members(path, data))
    raw = body + wire.END if payload is None else payload(body) if callable(payload) else payload

    def fields(own):
        own.update(files=sums.count(b"\n"), manifest=wire.sha256(sums), unpackedSize=len(sums) + sum(len(d) for _, d in pairs))
    return p.package(payload=lambda _: raw, payload_fields=fields, compression=compression)


def required() -> dict:
    return {b"app.json": p.app_json(p.APP), b"bundle.js": p.BUNDLE}


def unpacked(file: pathlib.Path) -> bytes:
    data = file.read_bytes()
    if file.suffix == ".bz2":
        return bz2.decompress(data)
    return subprocess.run(["gzip", "-dc"], input=data, stdout=subprocess.PIPE, check=True).stdout if file.suffix == ".Z" else data


def archive_cases():
    for file in sorted(ARCHIVES.iterdir()):
        yield Case(f"{file.name} as an asset", "accepted", "data are data", build({**required(), b"assets/a.bin": file.read_bytes()}),
                   {**required(), b"assets/a.bin": file.read_bytes()})
        if ".tar" not in file.name:
            for compression in ("none", "zstd"):
                yield Case(f"{file.name} whole, {compression}", "payloadCorrupt", "TAR-1, TAR-15 or PAY-3",
                           build(required(), payload=file.read_bytes(), compression=compression))
            continue
        code, why = BEHIND[file.name]
        raw = unpacked(file)
        yield Case(f"{file.name} behind", code, why, build(required(), payload=lambda body: body + raw))
        if file.name in LISTED:
            name, at, size, code, why = LISTED[file.name]
            name = raw[:100] if name is None else name
            files = {**required(), name: raw[at:at + size]}
            sums = p.sums_of(p.in_order(files))
            before = [wire.Member(path, data).encode() for path, data in p.in_order(required()) if path < name]
            stream = wire.Member(b"SHA256SUMS", sums).encode() + b"".join(before) + raw
            yield Case(f"{file.name} listed", code, why, build(files, payload=stream))


def names():
    """Rows of paths.txt: (group or id, [(id, kind, verdict, name)])."""
    groups = {}
    for line in NAMES.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            ident, kind, group, verdict, _, name = line.split("\t")[:6]
            groups.setdefault(ident if group == "-" else group, []).append((ident, kind, verdict, bytes.fromhex(name)))
    return groups.items()


def name_cases():
    for group, rows in names():
        refused = any(verdict == "refuse" for _, _, verdict, _ in rows)
        code, why = NAMED.get(group, ("unsafePath" if refused else "accepted", "section 11"))
        if any(verdict == "policy" for _, _, verdict, _ in rows) and group not in NAMED:
            raise SystemExit(f"paths.txt leaves {group} to the reader, and the table here does not say what is right")
        if rows[0][1] == "d":
            continue
        files = dict(required())
        files.update((name, ident.encode()) for ident, _, _, name in rows)
        listed = None
        if len({name for *_, name in rows}) < len(rows):
            lines = p.sums_of(p.in_order(files)).splitlines(keepends=True)
            listed = b"".join(line * (2 if line.endswith(b"  " + rows[0][3] + b"\n") else 1) for line in lines)
        yield Case(f"{group} listed", code, why, build(files, listed=listed), files)


def stray_cases():
    for group, rows in names():
        for ident, kind, verdict, name in rows:
            fault = verdict == "refuse" and len(rows) == 1 or NAMED.get(ident, "?")[0] == "unsafePath" or ident in ("P074", "P078")
            code, why = ("unsafePath", "section 11") if fault else ("manifestMismatch", "SUM-6")
            if kind == "d":
                code, why = "unsafeMember", "TAR-4: no directory members"
            code, why = STRAY.get(ident, (code, why))
            members = [wire.Member(name, b"", kind=b"5")] if kind == "d" else wire.file_members(name, b"x")
            stray = b"".join(m.encode() for m in members) + wire.END
            yield Case(f"{ident} as a stray", code, why, build(required(), payload=lambda body: body + stray))


class Judge:
    """Runs the three verbs on a case and looks at what they leave behind."""

    def __init__(self, root: pathlib.Path, space: pathlib.Path):
        self.root, self.space = root, space

    def faults(self, number: int, case: Case) -> tuple:
        here = self.space / str(number)
        here.mkdir()
        file = here / "a.nshpkg"
        file.write_bytes(case.data)
        shared_options = ["--json", "--root", self.root]
        state, target = here / "state", here / "target"
        faults, slowest = [], 0.0
        for verb, more in (("verify", [file]), ("open", [file, "--state", state]), ("extract", [file, target])):
            # What a store accepts it accepts now, and these certificates may have ended.
            time = ["--at-signing"] if verb == "open" else ["--at", p.NOW]
            answer = common.run(verb, *more, *shared_options, *time)
            slowest = max(slowest, answer.seconds)
            code = common.code_of(answer)
            if code != case.code:
                faults.append(f"{verb} says {code}, not {case.code} ({case.why}): {(answer.object() or {}).get('message')}")
            faults += [f"{verb}: {fault}" for fault in common.form(answer)]
            if answer.seconds > SECONDS:
                faults.append(f"{verb} took {answer.seconds:.2f} s")
            if verb == "open" and code == "accepted":
                faults.append(self.difference("open", pathlib.Path(answer.object()["directory"]), case.files))
        left = [str(f.relative_to(state)) for f in state.rglob("*")] if state.exists() else []
        trees = [f for f in left if f.startswith(("apps/", "staging/"))]
        if case.code == "accepted":
            faults.append(self.difference("extract", target, case.files))
            trees = [f for f in trees if not f.startswith("apps/")]
        elif target.exists() or "apps" in left:
            faults.append("a refusal left a directory behind")
        if trees:
            faults.append(f"left behind: {trees[:5]}")
        if strange := {f.name for f in here.iterdir()} - {"a.nshpkg", "state", "target"}:
            faults.append(f"left beside the package: {sorted(strange)}")
        shutil.rmtree(here)
        return [f for f in faults if f], slowest

    def difference(self, verb, directory: pathlib.Path, files: dict):
        """What a directory has else than the signed files and their list, or None."""
        if not directory.is_dir():
            return f"{verb} made no directory"
        expected = {path.decode(): data for path, data in files.items()}
        expected["SHA256SUMS"] = p.sums_of(p.in_order(files))
        found = {str(f.relative_to(directory)): f.read_bytes() for f in directory.rglob("*") if f.is_file() and not f.is_symlink()}
        links = [str(f) for f in directory.rglob("*") if f.is_symlink() or not (f.is_file() or f.is_dir())]
        strange = set(found) - set(expected)
        modes = sorted(str(f.relative_to(directory)) for f in directory.rglob("*") if f.stat().st_mode & 0o7777 != (0o755 if f.is_dir() else 0o644))
        wrong = [name for name in expected if found.get(name) != expected[name]]
        if strange or links or wrong or modes:
            return f"{verb} left strangers {sorted(strange)}, links {links}, wrong or missing {wrong}, other modes {modes}"
        return None


def reference_fault(reference, case: Case):
    code = common.reference_code(reference, case.data, [p.ROOT1.public], p.NOW)
    return None if code == case.code else f"the reference answers {code}, expected {case.code} ({case.why})"


def main():
    common.needs_tool()
    common.needs_shared("corpora/archives")
    checks = common.Checks()
    present = {f.name for f in ARCHIVES.iterdir()}
    tars = {name for name in present if ".tar" in name}
    checks.check("the table has every tar of the corpus", f"differing: {sorted(tars ^ set(BEHIND))}" if tars != set(BEHIND) else None)
    reference = common.reference()
    space = common.scratch("archives", memory=True)
    judge = Judge(common.write_key(space / "root.pub", p.ROOT1.public), space)
    cases = [*archive_cases(), *name_cases(), *stray_cases()]
    begun = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(2) as workers:
        running = [workers.submit(judge.faults, number, case) for number, case in enumerate(cases)]
        theirs = [reference_fault(reference, case) for case in cases]
        results = [r.result() for r in running]
    counts = {}
    for case, (faults, _), their in zip(cases, results, theirs):
        checks.check(case.name, *faults, their)
        counts[case.code] = counts.get(case.code, 0) + 1
    print(f"{len(cases)} packages, each by verify, open and extract: " + ", ".join(f"{n} {c}" for c, n in sorted(counts.items()))
          + f"; {time.monotonic() - begun:.1f} s, the slowest run {1000 * max(s for _, s in results):.0f} ms")
    checks.finish()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Memory does not depend on the size of a package, and opening it again reads no payload.

Packages of 2, 20 and 200 MB, stored and compressed, half of each incompressible: publish, verify and open must need for the
largest at most 4 MiB more than for the middle one, and 8 MiB more than for the smallest, which when compressed is one chunk,
has neither threads nor their buffers and does not fill the window of zstd. The second open of the largest takes milliseconds;
the system calls show that the package's bytes behind its envelopes are not read.
"""
import pathlib
import random
import re
import shutil
import struct

import common

GROWTH = {"2 MB": 8 * common.MIB, "20 MB": 4 * common.MIB}  # of the largest over these
AGAIN_SECONDS = 0.25  # a debug tool on a busy machine; the figure is printed
SIZES = {"2 MB": 2_000_000, "20 MB": 20_000_000, "200 MB": 200_000_000}
LARGEST = "200 MB"
FILES = 40


def make_tree(path: pathlib.Path, size: int, build: int):
    """An app of about so many bytes in 40 files, every other one of noise."""
    noise = random.Random(size)
    (path / "assets").mkdir(parents=True)
    (path / "bundle.js").write_text('import { App } from "nsh";\nApp.run();\n')
    (path / "app.json").write_text('{"id":"com.example.large","name":"Large","version":"1.0","build":%d}\n' % build)
    each = size // FILES
    for number in range(FILES):
        line = b"".join(b'{"row": %d, "of": "a table that compresses well"}\n' % n for n in range(number, number + 2000))
        data = noise.randbytes(each) if number % 2 else (line * (each // len(line) + 1))[:each]
        (path / "assets" / f"{number:02}.bin").write_bytes(data)


def keys(space: pathlib.Path) -> list:
    """Makes keys and a certificate with the tool; returns what is wrong."""
    faults = []
    for arguments in (["keygen", "root", "--no-password"], ["keygen", "release", "--no-password"],
                      ["certify", "--root", "root.secret", "--key", "release.pub", "--publisher", "Example Ltd", "--apps", "com.example.*",
                       "--days", "365", "-o", "release.cert"]):
        answer = common.run(*arguments, directory=space)
        faults += [] if answer.status == 0 else [f"{arguments[0]}: {answer.brief()}"]
    return faults


def read_ranges(trace: str, path: pathlib.Path) -> list:
    """The ranges of a file that a trace shows as read: (first byte, byte behind the last)."""
    ranges, positions = [], {}
    for line in trace.splitlines():
        found = re.search(r"(p?read(?:64)?|p?readv2?|mmap|sendfile|copy_file_range|splice)\((.*)\)\s+= (-?\w+)", line)
        if not found or f"<{path}>" not in found[2]:
            continue
        call, count = found[1], int(found[3], 0)
        if call in ("read", "readv"):
            number = found[2].split("<")[0]
            begin = positions.get(number, 0)
            positions[number] = begin + max(count, 0)
        elif call == "pread64":
            begin = int(found[2].rsplit(", ", 1)[1])
        else:
            ranges.append((0, path.stat().st_size))  # whatever else reads a file counts as having read it all
            continue
        if count > 0:
            ranges.append((begin, begin + count))
    return ranges


def traced(space: pathlib.Path, *arguments):
    log = space / "trace"
    calls = "trace=read,pread64,readv,preadv,preadv2,mmap,sendfile,copy_file_range,splice"
    answer = common.run(*arguments, tool=[shutil.which("strace"), "-f", "-y", "-s", "0", "-e", calls, "-o", str(log), common.TOOL], directory=space)
    return answer, log.read_text(errors="replace")


def reopening(checks, space, file, open_again):
    """The second open of an installed package, by the clock and by the system calls."""
    again = min((common.run(*open_again, directory=space) for _ in range(3)), key=lambda a: a.seconds)
    checks.check(f"{file.name}: opened again", None if again.status == 0 else again.brief(),
                 f"took {again.seconds * 1000:.0f} ms" if again.seconds > AGAIN_SECONDS else None)
    if not shutil.which("strace") or common.run(tool=[shutil.which("strace"), "-o", "/dev/null", "/bin/true"]).status != 0:
        checks.skip(1, "no strace, or it may not trace")
        return again
    with open(file, "rb") as package:
        _, certificate, header = struct.unpack("<III", package.read(20)[8:])
    end, size = 20 + certificate + header, file.stat().st_size
    answer, trace = traced(space, *open_again)
    ranges = read_ranges(trace, file)
    last = max((e for _, e in ranges), default=0)
    print(f"{file.name}: opened again in {again.seconds * 1000:.1f} ms; bytes up to {last} read of {size}, envelopes end at {end}")
    checks.check(f"{file.name}: opening again reads no payload", None if answer.status == 0 else answer.brief(),
                 None if 0 < last <= end else f"read up to {last}, the envelopes end at {end}")
    answer, trace = traced(space, "verify", file.name, "--root", "root.pub")
    last = max((e for _, e in read_ranges(trace, file)), default=0)
    checks.check(f"{file.name}: and the trace shows a payload that is read", None if last == size else f"verify read up to {last} of {size}")
    return again


def main():
    common.needs_tool()
    checks = common.Checks()
    space = common.scratch("memory", memory=True)
    if not checks.check("keys and a certificate", *keys(space)):
        checks.finish()
    peaks, rows = {}, []
    for build, (size, count) in enumerate(SIZES.items(), 1):
        make_tree(space / size, count, build)
        for compression in ("none", "zstd"):
            file = space / f"{size.replace(' ', '')}-{compression}.nshpkg"
            options = ["--json", "--root", "root.pub"]
            opening = ["open", file.name, "--state", f"state-{compression}", *options]
            verbs = {
                "publish": ["publish", size, "--key", "release.secret", "--certificate", "release.cert", "--compression", compression, "-o", file.name],
                "verify": ["verify", file.name, *options],
                "open": opening,
            }
            for verb, arguments in verbs.items():
                # The others twice: what they need varies by some pages, and they are what the largest is held against.
                repeat = 2 if size != LARGEST and verb != "open" else 1
                answers = [common.run(*arguments, directory=space, seconds=300) for _ in range(repeat)]
                checks.check(f"{verb} {size} {compression}", *(None if a.status == 0 else a.brief() for a in answers))
                peaks[verb, compression, size] = max(a.peak for a in answers)
                rows.append((verb, compression, size, peaks[verb, compression, size], answers[-1].seconds))
            if size == LARGEST:
                reopening(checks, space, file, opening)
            file.unlink(missing_ok=True)
        shutil.rmtree(space / size)
    print(f"\n{'verb':8} {'stored':6} {'size':>7} {'peak MiB':>9} {'seconds':>8}")
    for verb, compression, size, peak, seconds in rows:
        print(f"{verb:8} {compression:6} {size:>7} {peak / common.MIB:9.1f} {seconds:8.2f}")
    for verb, compression in {(v, c): None for v, c, *_ in rows}:
        growths = {size: peaks[verb, compression, LARGEST] - peaks[verb, compression, size] for size in GROWTH}
        checks.check(f"{verb} {compression}: memory does not grow with the package",
                     *(f"{growth / common.MIB:.1f} MiB more for {LARGEST} than for {size}" if growth > GROWTH[size] else None
                       for size, growth in growths.items()))
    checks.finish()


if __name__ == "__main__":
    main()

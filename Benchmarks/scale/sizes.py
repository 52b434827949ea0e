"""Packages of 1 MB to 4 GB and of ten to 100,000 files: verified and opened, time and memory."""

import json
import os
import random
import shutil

from common_daemon import tool
from host import fits, say

BYTES = (1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 4_000_000_000)
FILES = (10, 100, 1_000, 10_000, 100_000)
PART = 100_000_000


def package(host, folder, app, files):
    """Signs an app of files given as (path, size), uncompressed; the source is gone afterwards."""
    source, path = folder / "source", folder / f"{app}.nshpkg"
    source.mkdir()
    (source / "app.json").write_text(json.dumps({"id": f"com.example.{app}", "name": app, "version": "1", "build": 1}))
    (source / "bundle.js").write_text("1\n")
    noise = random.Random("nsh-bench scale").randbytes(1 << 20)
    for name, size in files:
        file = source / name
        file.parent.mkdir(parents=True, exist_ok=True)
        with open(file, "wb") as out:
            for start in range(0, size, len(noise)):
                out.write(noise[: min(len(noise), size - start)])
    tool(
        "publish",
        source,
        "-q",
        "--compression",
        "none",
        "--key",
        host.publisher / "release.secret",
        "--certificate",
        host.publisher / "release.cert",
        "-o",
        path,
        seconds=600,
    )
    shutil.rmtree(source)
    return path


def judged(host, folder, path, rounds):
    """Verifies and opens a package so often, each time into a new store."""
    state = folder / "state"
    verify = host.time(host.tool("verify", path), rounds, warm=rounds > 2)
    opened = host.time(
        host.tool("open", path, "--state", state), rounds, lambda: shutil.rmtree(state, ignore_errors=True), warm=rounds > 2
    )
    return {
        "verifyMilliseconds": verify["milliseconds"],
        "openMilliseconds": opened["milliseconds"],
        "verifyPeakMiB": verify["peakMiB"],
        "openPeakMiB": opened["peakMiB"],
    }


def by_bytes(host):
    """A row for each size in bytes; files of 100 MB at most."""
    for size in BYTES[:3] if host.quick else BYTES:
        if not fits(size * 21 // 10):
            print(f"bytes: {size:,} do not fit into memory", flush=True)
            continue
        folder = host.folder("bytes")
        path = package(
            host,
            folder,
            "bytes",
            [(f"data/{index:04}", min(PART, size - start)) for index, start in enumerate(range(0, size, PART))],
        )
        rounds = 3 if host.quick else 7 if size <= 100_000_000 else 2
        yield say("bytes", {"size": size, **judged(host, folder, path, rounds)})
        shutil.rmtree(folder)


def by_files(host):
    """A row for each number of files, app.json and bundle.js among them, of 100 bytes each and 100 a directory."""
    for size in FILES[:4] if host.quick else FILES:
        folder = host.folder("files")
        path = package(host, folder, "files", [(f"data/{index // 100:04}/{index:06}", 100) for index in range(size - 2)])
        yield say("files", {"size": size, **judged(host, folder, path, 3 if host.quick or size > 10_000 else 7)})
        os.unlink(path)
        shutil.rmtree(folder)

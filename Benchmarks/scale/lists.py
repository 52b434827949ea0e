"""Revocation lists of a thousand to a million keys: applied, and what they cost afterwards."""

import hashlib
import json
import shutil
import time

from host import say

SIZES = (1_000, 10_000, 100_000, 1_000_000)


def make(host, path, size):
    """Writes a list that revokes so many keys that nobody has."""
    issuer = host.publisher.key_hash("root")
    keys = [hashlib.sha256(b"key %d" % number).hexdigest() for number in range(size)]
    payload = {
        "certificates": [],
        "issuedAt": int(time.time()) - 100,
        "issuer": issuer,
        "keys": keys,
        "minimumBuilds": {},
        "packages": [],
        "revokesIssuer": False,
        "sequence": 1,
    }
    path.write_text(json.dumps(host.envelope(json.dumps(payload).encode())))
    return path.stat().st_size


def measure(host):
    """A row for each size. The store holds one app; each round applies the list to a fresh copy of it."""
    package = host.publisher.package(1, app="listed")
    for size in SIZES[:3] if host.quick else SIZES:
        folder = host.folder("lists")
        path, plain, store = folder / "list.json", folder / "plain", folder / "store"
        bytes_ = make(host, path, size)
        host.time(host.tool("open", package, "--state", plain), 1, warm=False)

        def fresh():
            shutil.rmtree(store, ignore_errors=True)
            shutil.copytree(plain, store)

        applied = host.time(
            host.tool("update-revocations", path, "--state", store), 1 if host.quick else 3, fresh, warm=size < 1_000_000
        )
        verified = host.time(host.tool("verify", package, "--state", store), 5 if host.quick else 15)
        opened = host.time(host.tool("open", package, "--state", store), 5 if host.quick else 15)
        daemon = host.daemon(store, "listed")
        began = time.monotonic()
        with daemon.start():
            started = time.monotonic() - began
            checks = host.load(daemon, [("check", {"digest": host.digest(package)})], 8, 0.3 if host.quick else 1.0)
        yield say(
            "lists",
            {
                "size": size,
                "listMB": round(bytes_ / 1e6, 1),
                "applySeconds": round(applied["milliseconds"] / 1000, 4),
                "applyPeakMiB": applied["peakMiB"],
                "verifyMilliseconds": verified["milliseconds"],
                "verifyPeakMiB": verified["peakMiB"],
                "openAgainMilliseconds": opened["milliseconds"],
                "daemonStartSeconds": round(started, 3),
                "checksPerSecond": checks["rate"],
                "daemonPeakMiB": checks["serverPeakMiB"],
            },
        )
        shutil.rmtree(folder)

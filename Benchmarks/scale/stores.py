"""Stores of ten to a million apps: open, check and list.

Opening a million packages would take an hour, so a store is made from one that the tool made: the records of its one app
are repeated under other ids, builds and digests, as SQL in one transaction. Certificate, identity, capabilities and roots are the
signed ones of the real package, and restore; what these apps lack is their trees, at which none of the questions asked here looks.
"""

import pathlib
import shutil
import sqlite3
import time

from host import fits, say

SIZES = (10, 100, 1_000, 10_000, 100_000, 1_000_000)
BYTES_PER_APP = 1_500
NEW_APPS = 5


def fill(state, count):
    """Adds apps to a store until it has so many; the digests of some of them."""
    base = sqlite3.connect(pathlib.Path(state) / "trust.sqlite")
    names = [column[0] for column in base.execute("SELECT * FROM packages LIMIT 0").description]
    new = {
        "digest": "new.digest",
        "app": "new.app",
        "manifest": "new.manifest",
        "tree": "'apps/' || new.app || '/' || packages.build || '-' || lower(substr(hex(new.digest), 1, 16))",
    }
    base.executescript(f"""
        PRAGMA synchronous = OFF;
        PRAGMA cache_size = -500000;
        CREATE TEMP TABLE given AS SELECT * FROM packages;
        CREATE TEMP TABLE new AS
            WITH RECURSIVE numbers(number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < {count - 1})
            SELECT printf('com.example.a%07d', number) AS app, randomblob(32) AS digest, randomblob(32) AS manifest FROM numbers ORDER BY 2;
        BEGIN;
        INSERT INTO packages SELECT {", ".join(new.get(name, f"packages.{name}") for name in names)} FROM new, given AS packages;
        INSERT INTO accepted (digest, app, build, accepted_at) SELECT new.digest, new.app, given.build, given.accepted_at FROM new, given;
        INSERT INTO apps (app, build, publisher, identity, digest, accepted_at)
            SELECT new.app, apps.build, apps.publisher, apps.identity, new.digest, apps.accepted_at FROM new, (SELECT * FROM apps LIMIT 1) AS apps ORDER BY 1;
        COMMIT;
        """)
    digests = [digest.hex() for digest, in base.execute("SELECT digest FROM new ORDER BY app LIMIT 50")]
    base.close()
    return digests


def measure(host):
    """A row for each size."""
    package = host.publisher.package(1, app="stored")
    # Each is opened into each store once, so that it is a first open.
    new = [host.publisher.package(1, app=f"new{number}") for number in range(NEW_APPS)]
    for size in SIZES[:4] if host.quick else SIZES:
        if not fits(size * BYTES_PER_APP * 2):
            print(f"apps: {size:,} do not fit into memory", flush=True)
            continue
        folder = host.folder("stores")
        state = folder / "state"
        host.time(host.tool("open", package, "--state", state), 1, warm=False)
        began = time.monotonic()
        digests = fill(state, size)
        made = time.monotonic() - began
        waiting = list(new)
        opened = sorted(
            host.time(host.tool("open", waiting.pop(), "--state", state), 1, warm=False)["milliseconds"] for _ in new
        )
        again = host.time(host.tool("open", package, "--state", state), 5 if host.quick else 15)
        listed = host.time(
            [*host.tool("store apps", "--state", state)[:3], "--state", str(state)], 1 if size > 10_000 else 3, warm=False
        )
        status = host.time([*host.tool("store status")[:3], "--state", str(state)], 1 if size > 10_000 else 3, warm=False)
        daemon = host.daemon(state, "stored")
        with daemon.start():
            seconds = 0.3 if host.quick else 1.0
            one = host.load(daemon, [("check", {"digest": host.digest(package)})], 8, seconds)
            many = host.load(daemon, [("check", {"digest": digest}) for digest in digests], 8, seconds)
            pages = []
            for _ in range(20):
                began = time.monotonic()
                daemon.get("/v1/apps?limit=100&after=com.example.a")
                pages.append(time.monotonic() - began)
        yield say(
            "apps",
            {
                "size": size,
                "madeSeconds": round(made, 1),
                "databaseMB": round((state / "trust.sqlite").stat().st_size / 1e6, 1),
                "openMilliseconds": opened[len(opened) // 2],
                "openAgainMilliseconds": again["milliseconds"],
                "listMilliseconds": listed["milliseconds"],
                "listPeakMiB": listed["peakMiB"],
                "statusMilliseconds": status["milliseconds"],
                "checksPerSecond": one["rate"],
                "checksOfManyPerSecond": many["rate"],
                "pageMilliseconds": round(sorted(pages)[10] * 1000, 2),
                "daemonPeakMiB": many["serverPeakMiB"],
            },
        )
        shutil.rmtree(folder)

#!/usr/bin/env python3
"""The examples do what they say: the distribution backend in Python, the same in curl, and the commands of docs/daemon-api.md."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading

from common_daemon import IS_ROOT, OTHER, PROJECT, Checks, digest, needs_programs, scratch, within, world

checks = Checks()
equal, true = checks.equal, checks.true
BACKEND = PROJECT / "Examples" / "backend" / "backend.py"


def backend(daemon, published, *uploads, user=None):
    """(exit status, the lines of JSON)."""
    become = (lambda: (os.setgroups([]), os.setresgid(user[1], user[1], user[1]), os.setresuid(user[0], user[0], user[0]))) if user else None
    done = subprocess.run([sys.executable, "-S", str(BACKEND), "--socket", str(daemon.socket), "--published", str(published), *map(str, uploads)],
                          capture_output=True, text=True, timeout=120, check=False, preexec_fn=become, cwd="/")
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def python():
    publisher, daemon = world(["--socket-mode", "0666"])
    published = daemon.directory / "published"
    published.mkdir()
    user = None
    if IS_ROOT:
        os.chown(published, *OTHER)  # it needs no permission but to connect
        user = OTHER
    with daemon:
        five, six, four = (publisher.package(build) for build in (5, 6, 4))
        status, rows, errors = backend(daemon, published, five, six, four, user=user)
        equal("two are published, the older one is refused", (status, [set(row) - {"upload"} for row in rows], errors),
              (1, [{"published"}, {"published"}, {"refused", "reason"}], ""))
        equal("with the reason", rows[2]["refused"], "rolledBack")
        target = pathlib.Path(rows[1]["published"])
        equal("what is published is what was uploaded", (target.read_bytes(), target.name), (six.read_bytes(), f"6-{digest(six)}.nshpkg"))
        equal("the same again is published already", backend(daemon, published, six, user=user)[0], 0)
        status, rows, _ = backend(daemon, published, publisher.package(6, name="other-6.nshpkg"), user=user)
        equal("another package with the same build", (status, rows[0].get("refused")), (1, "buildConflict"))
        (publisher / "noise").write_bytes(os.urandom(5000))
        status, rows, _ = backend(daemon, published, publisher / "noise", user=user)
        equal("what is no package", (status, bool(rows[0].get("refused"))), (1, True))
        seven = publisher.package(7)
        daemon.apply(publisher.list("--package", seven))
        equal("what is revoked", backend(daemon, published, seven, user=user)[1][0].get("refused"), "packageRevoked")
        daemon.open(publisher.package(9))
        equal("what is below the build that this machine accepted", backend(daemon, published, publisher.package(8), user=user)[1][0].get("refused"), "rolledBack")
        equal("what is not there", backend(daemon, published, publisher / "nothing", user=user)[0], 3)
        # Many at once: of one app only rising builds may appear.
        packages = [publisher.package(build, app="many") for build in range(1, 9)]
        threads = [threading.Thread(target=backend, args=(daemon, published, path), kwargs={"user": user}) for path in reversed(packages)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        times = sorted((path.stat().st_ino, path.stat().st_ctime_ns, int(path.name.partition("-")[0])) for path in (published / "com.example.many").glob("*.nshpkg"))
        builds = [build for _, _, build in sorted(times, key=lambda row: row[1])]
        true("uploads at the same time", builds and builds == sorted(builds) and builds[-1] == 8, builds)
        equal("no copy is left", list(published.glob(".upload-*")), [])
        equal("the daemon's store took no part", [app["id"] for app in daemon.get("/v1/apps").json["apps"]], ["com.example.orders"])
        daemon.stop()
    status, rows, _ = backend(daemon, published, six, user=user)
    equal("without a daemon it cannot be decided", (status, list(rows[0])), (3, ["upload", "undecided"]))


def commands():
    """Every block of docs/daemon-api.md that begins with `# run`, in one shell, against a daemon."""
    if not shutil.which("curl"):
        checks.skip(1, "curl is not there")
        return
    text = (PROJECT / "docs" / "daemon-api.md").read_text()
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    blocks = [block for block in blocks if "curl" in block and "follow=true" not in block]
    true("the document has commands", len(blocks) >= 15, len(blocks))
    publisher, daemon = world()
    directory = scratch()
    for build in (5, 6):
        shutil.copy(publisher.package(build), directory / f"orders-{build}.nshpkg")
    shutil.copy(publisher.list("--min-build", "com.example.none=2"), directory / "list-2.json")
    with daemon:
        digest_six = digest(directory / "orders-6.nshpkg")
        for block in blocks:
            script = "set -e\nS=%s\nDIGEST=%s\nP=%s\n%s" % (daemon.socket, digest_six, directory, block)
            done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=60, check=False, cwd=directory)
            shown = block.strip().replace("\n", " ")[:70]
            checks.check(f"docs: {shown}", done.returncode and f"exit status {done.returncode}: {done.stderr[-300:]}",
                         done.stdout.startswith('{"type":"about:blank"') and re.search('"(badRequest|notFound|unsupportedMediaType)"', done.stdout)
                         and done.stdout[:300])
            if "published" in block:
                equal("docs: the backend in curl publishes", [path.name for path in (directory / "published").rglob("*.nshpkg")], [f"6-{digest_six}.nshpkg"])
        true("the daemon lives", within(1, daemon.alive))


def main():
    needs_programs()
    with checks.part("backend"):
        python()
    with checks.part("commands of the document"):
        commands()
    checks.finish()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""A distribution backend in small: takes uploads, asks nsh-trustd for a verdict, and publishes or refuses them.

    backend.py --socket /run/nsh-trust/trustd.sock --published DIR UPLOAD...

Each upload is answered with one line of JSON. Exit status: 0 all published, 1 at least one refused, 3 it could not be
decided. Nothing but the standard library is needed, and no permission but that to connect to the socket.
"""
import argparse
import contextlib
import fcntl
import http.client
import json
import os
import pathlib
import shutil
import socket
import sys
import tempfile
import time

PACKAGE = "application/vnd.nsh.package"


class Undecided(Exception):
    """The daemon could not decide; the same upload may be accepted later."""


class Refused(Exception):
    """A rule says no: `code` is stable, the text is for people."""

    def __init__(self, code, reason):
        super().__init__(reason)
        self.code = code


class Daemon(http.client.HTTPConnection):
    """nsh-trustd over its Unix socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=600)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)

    def ask(self, method, target, body=None, headers=None):
        """The status and the document of an answer; asks again for as long as the daemon says that it is busy."""
        for _ in range(10):
            if body is not None:
                body.seek(0)
            try:
                # What the daemon will not read to its end it answers all the same.
                with contextlib.suppress(BrokenPipeError):
                    self.request(method, target, body, headers or {})
                answer = self.getresponse()
                found = json.loads(answer.read())
            except (OSError, ValueError, http.client.HTTPException) as error:
                self.close()
                raise Undecided(f"no answer from {self.path}: {error}") from error
            if answer.status != 503 or found.get("code") == "noTrustedRoots":
                return answer.status, found
            time.sleep(int(answer.headers.get("Retry-After", "1")))
        raise Undecided(found["detail"])

    def verify(self, package):
        """What is established of a package that the rules accept."""
        length = os.fstat(package.fileno()).st_size
        status, found = self.ask("POST", "/v1/packages/verify", package, {"Content-Type": PACKAGE, "Content-Length": str(length)})
        if status != 200:
            raise Undecided(f"{found['code']}: {found['detail']}")
        if found["verdict"] != "accepted":
            raise Refused(found["code"], found["message"])
        return found

    def highest_build(self, app):
        """The highest build of an app that was accepted on this machine; 0 for none."""
        status, found = self.ask("GET", f"/v1/apps/{app}")
        if status == 404:
            return 0
        if status != 200:
            raise Undecided(f"{found['code']}: {found['detail']}")
        return found["build"]


def highest_published(directory):
    """The highest build in an app's directory of what is published; 0 for none."""
    return max((int(path.name.partition("-")[0]) for path in directory.glob("*-*.nshpkg")), default=0)


def publish(daemon, upload, published):
    """Publishes an upload; the path of what was published.

    The upload is copied first: what the daemon judges is what is published, whatever its owner does to it meanwhile.
    """
    with tempfile.NamedTemporaryFile(dir=published, prefix=".upload-") as copy, open(upload, "rb") as source:
        shutil.copyfileobj(source, copy, 1 << 20)
        copy.flush()
        os.fsync(copy.fileno())
        found = daemon.verify(copy)
        app, build, digest = found["app"]["id"], found["app"]["build"], found["digest"]
        directory = published / app
        directory.mkdir(exist_ok=True)
        # One at a time for each app, so that of two uploads the lower build cannot come second.
        with open(directory / ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            highest = max(highest_published(directory), daemon.highest_build(app))
            target = directory / f"{build}-{digest}.nshpkg"
            if target.exists():
                return target
            if build <= highest:
                raise Refused("rolledBack" if build < highest else "buildConflict",
                              f"build {build} of {app} is not above build {highest}, which is published or accepted already")
            os.chmod(copy.name, 0o644)
            os.link(copy.name, target)
            sync(directory)
        return target


def sync(directory):
    """Makes a directory's new name last."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def main():
    options = argparse.ArgumentParser(description="Publish the packages that nsh-trustd accepts.")
    options.add_argument("--socket", default=os.environ.get("NSH_TRUST_SOCKET", "/run/nsh-trust/trustd.sock"))
    options.add_argument("--published", type=pathlib.Path, required=True)
    options.add_argument("upload", nargs="+")
    asked = options.parse_args()
    worst = 0
    with contextlib.closing(Daemon(asked.socket)) as daemon:
        for upload in asked.upload:
            try:
                answer, status = {"published": str(publish(daemon, upload, asked.published))}, 0
            except Refused as refusal:
                answer, status = {"refused": refusal.code, "reason": str(refusal)}, 1
            except (Undecided, OSError) as error:
                answer, status = {"undecided": str(error)}, 3
            print(json.dumps({"upload": upload, **answer}), flush=True)
            worst = max(worst, status)
    return worst


if __name__ == "__main__":
    sys.exit(main())

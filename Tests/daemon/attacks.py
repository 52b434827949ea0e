#!/usr/bin/env python3
"""Attacks on other daemons, played against this one: who the caller is, what is done to its directories, a busy store.

    .venv/bin/python Tests/daemon/attacks.py

Each check begins with the id of docs/known-attacks.md. With NSH_LONG=1 the store is held for longer than the daemon waits.
"""
import contextlib
import ctypes
import os
import shutil
import socket
import sqlite3
import stat
import threading
import time

from common_daemon import (ADMIN, ADMIN_NAME, ENGINE, ENGINE_NAME, IS_ROOT, LONG, OTHER, PACKAGE, Checks, as_user, ask, head, needs_programs,
                           within, world)

checks = Checks()
CLONE_NEWUSER, PR_SET_DUMPABLE = 0x10000000, 4
OPTIONS = ("--socket-mode", "0666", "--admin", ADMIN_NAME, "--engine", ENGINE_NAME)
PRUNE = head("POST", "/v1/store/prune", "Content-Type: application/json", "Content-Length: 2") + b"{}"


def status_of(sock, request):
    """The status of the answer to these bytes; None when the connection ends without one."""
    sock.settimeout(20)
    sock.sendall(request)
    start = b""
    while b"\r\n" not in start and (piece := sock.recv(4096)):
        start += piece
    return int(start.split(b" ")[1]) if start.startswith(b"HTTP/1.1 ") else None


def named(path, place):
    """Asks for what an administrator may from sockets whose own names claim to be root's."""
    statuses = []
    for name in (";uid=0;", "uid=0 gid=0 pid=1", "root"):
        with socket.socket(socket.AF_UNIX) as sock, contextlib.suppress(FileNotFoundError):
            os.makedirs(place, exist_ok=True)
            sock.bind(f"{place}/{name}")
            sock.connect(str(path))
            statuses.append(status_of(sock, PRUNE))
            os.unlink(f"{place}/{name}")
    return statuses


def names_and_namespaces(daemon, directory):
    place = directory / "names"
    place.mkdir()
    place.chmod(0o777)
    checks.equal("L1: the name of the caller's socket makes nobody root", as_user(*OTHER, [], named, daemon.socket, place), [403] * 3)

    def in_namespace():
        """As root of a user namespace of one's own; None where the system allows none."""
        uid, gid = os.getuid(), os.getgid()
        libc = ctypes.CDLL(None)
        libc.prctl(PR_SET_DUMPABLE, 1)  # or the maps would belong to root, who this process was
        if libc.unshare(CLONE_NEWUSER):
            return None
        for name, text in (("setgroups", b"deny"), ("uid_map", b"0 %d 1" % uid), ("gid_map", b"0 %d 1" % gid)):
            file = os.open(f"/proc/self/{name}", os.O_WRONLY)
            os.write(file, text)
            os.close(file)
        return os.getuid(), [ask(daemon.socket, "POST", "/v1/store/prune", {}).status, ask(daemon.socket, "GET", "/v1/health").status]

    found = as_user(*OTHER, [], in_namespace)
    if found is None:
        checks.skip(1, "no user namespaces here")
    else:
        checks.equal("L2: root of a namespace of its own is who it is outside", found, (0, [403, 200]))
    with socket.socket(socket.AF_UNIX) as sock:
        for name in (f"\0{daemon.socket}", "\0nsh-trustd"):
            with contextlib.suppress(ConnectionRefusedError):
                sock.connect(name)
                checks.true("L2: no abstract socket", False, name)
                break
        else:
            checks.true("L2: no abstract socket", stat.S_ISSOCK(os.stat(daemon.socket).st_mode))


def gone(daemon):
    """A process of another user connects and ends; who inherited the connection asks in its stead."""
    for user, expected in ((OTHER, 403), (ADMIN, 200)):
        with socket.socket(socket.AF_UNIX) as sock:
            pid = as_user(*user, [], lambda: (sock.connect(str(daemon.socket)), os.getpid())[1])
            checks.true("L3: the process that connected has ended", not os.path.exists(f"/proc/{pid}"))
            checks.equal("L3: a connection stays its maker's", status_of(sock, PRUNE), expected)


def directories(publisher, daemon, directory):
    """The private directories are removed, made again by others, or led elsewhere while the daemon runs."""
    outside = directory / "outside"
    outside.mkdir()
    package = (publisher / "b-5.nshpkg").read_bytes()
    opened = lambda: ask(daemon.socket, "POST", "/v1/packages/open", package, {"Content-Type": PACKAGE})
    staging, apps = daemon.state / "staging", daemon.state / "apps"
    for name, place in (("staging", staging), ("apps", apps)):
        aside = directory / f"{name}.aside"
        if place.exists():
            place.rename(aside)
        place.symlink_to(outside)
        answer = opened()
        checks.equal(f"L20: {name} that leads elsewhere is not followed", (answer.code, os.listdir(outside)), ("storeUnsafe", []))
        place.unlink()
        place.mkdir(mode=0o777)
        place.chmod(0o777)
        answer = opened()
        checks.equal(f"L20: {name} that others may write is not used", (answer.code, os.listdir(place)), ("storeUnsafe", []))
        if IS_ROOT:
            place.chmod(0o700)
            os.chown(place, *OTHER)
            answer = opened()
            checks.equal(f"L20: {name} of another user is not used", (answer.code, os.listdir(place)), ("storeUnsafe", []))
        place.rmdir()
        if aside.exists():
            aside.rename(place)
    checks.equal("L20: nothing was accepted meanwhile", ask(daemon.socket, "GET", "/v1/apps").json["apps"], [])
    answer = opened()
    checks.equal("L20: without them in the way it goes on", answer.status, 200)
    shutil.rmtree(staging, ignore_errors=True)
    checks.equal("L20: and makes a directory again that was removed", (opened().status, ask(daemon.socket, "GET", "/v1/health").status), (200, 200))


def busy(publisher, daemon):
    """Another process holds the write lock of the store."""
    def held(seconds):
        store = sqlite3.connect(daemon.state / "trust.sqlite", isolation_level=None)
        store.execute("BEGIN IMMEDIATE")
        answers = []
        asking = threading.Thread(target=lambda: answers.append(
            ask(daemon.socket, "POST", "/v1/packages/open", (publisher / f"b-{6 if seconds < 9 else 7}.nshpkg").read_bytes(),
                {"Content-Type": PACKAGE}, timeout=60)))
        asking.start()
        time.sleep(0.3)
        health = ask(daemon.socket, "GET", "/v1/apps").status
        time.sleep(seconds - 0.3)
        store.execute("ROLLBACK")
        store.close()
        asking.join(60)
        return health, answers[0]

    health, answer = held(2)
    checks.equal("K17: while the store is busy others are answered", health, 200)
    checks.equal("K17: who has to wait is answered afterwards", answer.status, 200)
    if not LONG:
        checks.skip(2, "a store that is busy for longer than the daemon waits (NSH_LONG=1)")
        return
    health, answer = held(13)
    checks.equal("K17: who waited too long is told to come back", (answer.status, answer.code), (503, "storeBusy"))
    checks.true("K17: and when", answer.headers.get("retry-after", "").isdigit(), answer.headers)


def main():
    needs_programs()
    publisher, daemon = world(OPTIONS)
    for build in (5, 6, 7):
        publisher.package(build, name=f"b-{build}.nshpkg")
    with daemon:
        with checks.part("directories"):
            directories(publisher, daemon, daemon.directory)
        if IS_ROOT:
            with checks.part("names and namespaces"):
                names_and_namespaces(daemon, daemon.directory)
            with checks.part("gone"):
                gone(daemon)
        else:
            checks.skip(7, "processes of other users need root")
        with checks.part("busy"):
            busy(publisher, daemon)
        checks.true("it is still there", within(10, daemon.is_there))
    checks.finish()


if __name__ == "__main__":
    main()

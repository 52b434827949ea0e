#!/usr/bin/env python3
"""Who may do what: every route, asked by real processes of every kind of user; and that files stay what they are to them."""
import json
import os
import shutil
import socket

from common_daemon import (ADMIN, ADMIN_GROUP, ADMIN_GROUP_NAME, ADMIN_NAME, ENGINE, ENGINE_GROUP, ENGINE_GROUP_NAME, ENGINE_NAME, JSON,
                           DAEMON, OTHER, PACKAGE, Checks, Daemon, Follower, Publisher, as_user, ask, digest, needs_programs, needs_root,
                           scratch, world)

checks = Checks()
NOBODY = (65534, 65534)

#: Who asks: name -> (uid, gid, supplementary groups). The daemon runs with --admin backup --admin @staff --engine games --engine @video.
ASKERS = {
    "root": (0, 0, [0]),
    "admin": (*ADMIN, []),
    "admin by supplementary group": (*OTHER, [100, ADMIN_GROUP]),
    "engine": (*ENGINE, []),
    "engine by supplementary group": (*OTHER, [ENGINE_GROUP, 100]),
    "engine by primary group": (OTHER[0], ENGINE_GROUP, []),
    "other": (*OTHER, [100]),
    "unmapped": (*NOBODY, []),
    "unmapped, in every group": (*NOBODY, [ADMIN_GROUP, ENGINE_GROUP, 0]),
}

# What each of them is answered, by hand. A: admin, AG: admin by supplementary group, E, EG, EP: engine by user, supplementary and
# primary group, O: other, U: unmapped, UG: unmapped in every group.
#                                                                      root A    AG   E    EG   EP   O    U    UG
TABLE = [
    ("GET", "/v1/health", None,                                       "200  200  200  200  200  200  200  403  403"),
    ("GET", "/v1/status", None,                                       "200  200  200  200  200  200  200  403  403"),
    ("GET", "/metrics", None,                                         "200  200  200  200  200  200  200  403  403"),
    ("GET", "/v1/openapi.json", None,                                 "200  200  200  200  200  200  200  403  403"),
    ("POST", "/v1/packages/verify", {"path": "PACKAGE"},              "200  200  200  200  200  200  200  403  403"),
    ("POST", "/v1/packages/verify", b"BYTES",                         "200  200  200  200  200  200  200  403  403"),
    ("POST", "/v1/packages/open", {"path": "PACKAGE"},                "200  200  200  200  200  200  403  403  403"),
    ("POST", "/v1/packages/open", b"BYTES",                           "200  200  200  200  200  200  403  403  403"),
    ("POST", "/v1/packages/check", {"digest": "DIGEST"},              "200  200  200  200  200  200  403  403  403"),
    ("GET", "/v1/apps", None,                                         "200  200  200  200  200  200  200  403  403"),
    ("GET", "/v1/apps/com.example.orders", None,                      "200  200  200  200  200  200  200  403  403"),
    ("GET", "/v1/revocations", None,                                  "200  200  200  200  200  200  200  403  403"),
    ("POST", "/v1/revocations", b"LIST",                              "200  200  200  403  403  403  403  403  403"),
    ("POST", "/v1/revocations?dryRun=true", b"LIST",                  "200  200  200  403  403  403  403  403  403"),
    ("GET", "/v1/events?after=0", None,                               "200  200  200  200  200  200  200  403  403"),
    ("GET", "/v1/events?after=0&follow=true", "FOLLOW",               "200  200  200  200  200  200  200  403  403"),
    ("POST", "/v1/store/check", {},                                   "200  200  200  403  403  403  403  403  403"),
    ("POST", "/v1/store/prune", {"keep": 1000, "dryRun": True},       "200  200  200  403  403  403  403  403  403"),
    ("POST", "/v1/store/remove", {"app": "com.example.none"},         "404  404  404  403  403  403  403  403  403"),
    ("POST", "/v1/store/forget-root", {"key": "0" * 64},              "404  404  404  403  403  403  403  403  403"),
    ("GET", "/v1/store/export", None,                                 "200  200  200  403  403  403  403  403  403"),
    ("POST", "/v1/store/import", b"EXPORT",                           "200  200  200  403  403  403  403  403  403"),
]
# What is not in the table, or not as it should be: whom it concerns is decided before the rest is looked at.
ODDITIES = [
    ("GET", "/v1/none", None,                                         "404  404  404  404  404  404  404  403  403"),
    ("DELETE", "/v1/store/export", None,                              "405  405  405  405  405  405  405  403  403"),
    ("POST", "/v1/store/prune?x=1", {},                               "400  400  400  403  403  403  403  403  403"),
    ("POST", "/v1/store/prune", b"TEXT",                              "415  415  415  403  403  403  403  403  403"),
    ("POST", "/v1/store/prune", {"keep": "x"},                        "400  400  400  403  403  403  403  403  403"),
    ("POST", "/v1/packages/check", {"digest": "x"},                   "400  400  400  400  400  400  403  403  403"),
    ("POST", "/v1/packages/check", {"digest": "0" * 64},              "404  404  404  404  404  404  403  403  403"),
    ("POST", "/v1/packages/open", {"path": "/none"},                  "404  404  404  404  404  404  403  403  403"),
    ("GET", "/v1/store/export?x=1", None,                             "400  400  400  403  403  403  403  403  403"),
    ("GET", "/v1//store/export", None,                                "404  404  404  404  404  404  404  403  403"),
    ("GET", "/v1/store%2fexport", None,                               "404  404  404  404  404  404  404  403  403"),
    ("GET", "/v1/health/../store/export", None,                       "404  404  404  404  404  404  404  403  403"),
]
CODES = {403: {"forbidden"}, 404: {"notFound", "notInstalled", "noSuchFile"}, 405: {"methodNotAllowed"}, 415: {"unsupportedMediaType"},
         400: {"badRequest"}}


def put(value, known):
    """A body with its placeholders filled in, and its media type."""
    if value == b"BYTES":
        return known["BYTES"], {"Content-Type": PACKAGE}
    if value == b"TEXT":
        return b"{}", {"Content-Type": "text/plain"}
    if isinstance(value, bytes):
        return known[value.decode()], {"Content-Type": JSON}
    if isinstance(value, dict):
        return {name: known.get(text, text) if isinstance(text, str) else text for name, text in value.items()}, {}
    return None, {}


def ask_all(path, rows, known):
    """Every row, asked by this process: [(status, code)]."""
    found = []
    for method, target, body, _ in rows:
        if body == "FOLLOW":
            follower = Follower(path)
            found.append((follower.status, None if follower.status == 200 else json.loads(follower.answer.read()).get("code")))
            follower.close()
            continue
        body, headers = put(body, known)
        answer = ask(path, method, target, body, headers)
        found.append((answer.status, answer.code if answer.status >= 400 else None))
    return found


def table(daemon, known):
    rows = TABLE + ODDITIES
    for column, (who, (uid, gid, groups)) in enumerate(ASKERS.items()):
        found = as_user(uid, gid, groups, ask_all, daemon.socket, rows, known)
        for (method, target, body, expected), (status, code) in zip(rows, found):
            wanted = int(expected.split()[column])
            checks.check(f"{who}: {method} {target} {'with ' + str(body)[:30] if body else ''}", status != wanted and f"{status} {code}, expected {wanted}",
                         status == wanted and wanted in CODES and code not in CODES[wanted] and f"code {code}")
    served = {(method.upper(), path) for path, item in daemon.get("/v1/openapi.json").json["paths"].items()
              for method in item if method in ("get", "post", "put", "delete", "patch", "head", "options", "trace")}
    ours = {(method, target.partition("?")[0].replace("com.example.orders", "{id}")) for method, target, _, _ in TABLE}
    checks.equal("the table has every route of the served document, and no other", ours, served)


def files(daemon, publisher, directory):
    """What a user cannot read, the daemon does not read for them, nor does it tell whether it is there."""
    good = publisher / "orders-5.nshpkg"
    area = directory / "area"
    area.mkdir(mode=0o755)
    place = lambda name, mode, group=0, source=good: (shutil.copy(source, area / name), os.chown(area / name, 0, group), os.chmod(area / name, mode))
    place("readable", 0o644)
    place("secret", 0o600)
    place("group", 0o640, ADMIN_GROUP)
    (area / "hidden").mkdir(mode=0o700)
    shutil.copy(good, area / "hidden" / "package")
    os.chmod(area / "hidden" / "package", 0o644)
    (area / "team").mkdir()
    shutil.copy(good, area / "team" / "package")
    os.chown(area / "team", 0, ADMIN_GROUP)
    os.chmod(area / "team", 0o750)
    os.symlink(area / "secret", area / "link-to-secret")
    os.symlink(area / "hidden" / "package", area / "link-to-hidden")
    os.symlink(area / "nothing", area / "link-to-nothing")
    os.symlink(area / "loop", area / "loop")
    os.symlink(area / "readable", area / "link")
    hidden = {
        "missing": area / "nothing", "unreadable": area / "secret", "in a directory that is closed": area / "hidden" / "package",
        "missing in a directory that is closed": area / "hidden" / "nothing", "a link to an unreadable file": area / "link-to-secret",
        "a link into a directory that is closed": area / "link-to-hidden", "a link to nothing": area / "link-to-nothing",
        "a loop": area / "loop", "below a file": area / "readable" / "x", "a name that is too long": area / ("x" * 300),
        "the store's database": daemon.state / "trust.sqlite", "its journal": daemon.state / "trust.sqlite-journal", "a list of root's": "/etc/shadow",
        "a magic link": "/proc/self/fd/0", "the daemon's own descriptors": f"/proc/{daemon.pid}/fd/3", "the daemon's memory": "/proc/self/mem",
        "its environment": f"/proc/{daemon.pid}/environ", "through a magic link to the root directory": "/proc/self/root" + str(area / "readable"),
        "through one to the working directory": "/proc/self/cwd/etc/passwd", "its executable": "/proc/self/exe", "this thread's": "/proc/thread-self/fd/0",
    }
    paths = [str(path) for path in hidden.values()]

    def judge(route, paths):
        found = []
        for path in paths:
            answer = ask(daemon.socket, "POST", f"/v1/packages/{route}", {"path": path}, timeout=15)
            found.append((answer.status, answer.code, answer.body, {name: value for name, value in answer.headers.items() if name != "date"}))
        return found

    for who, route, user in (("other", "verify", (*OTHER, [])), ("an engine", "open", (*ENGINE, [])), ("an admin", "verify", (*ADMIN, []))):
        found = as_user(*user, judge, route, paths)
        for name, answer in zip(hidden, found):
            checks.check(f"{who}, {route}, {name}", answer[:2] != (404, "noSuchFile") and f"{answer[0]} {answer[1]}",
                         answer != found[0] and f"not the same answer as for a missing file: {answer[2]!r}")
    mine = {"the store's database": daemon.state / "trust.sqlite", "a magic link": "/proc/self/fd/0",
            "through a magic link to the root directory": "/proc/self/root" + str(area / "readable"), "missing": area / "nothing"}
    for name, answer in zip(mine, as_user(0, 0, [], judge, "open", [str(path) for path in mine.values()])):
        checks.equal(f"root, {name}", answer[:2], (404, "noSuchFile"))
    linked = directory / "state-link"
    os.symlink(daemon.state, linked)
    for name, answer in zip(("through a link", "with .."), as_user(0, 0, [], judge, "verify", [
            str(linked / "trust.sqlite"), str(daemon.state / "apps" / ".." / "trust.sqlite")])):
        checks.equal(f"root, the store's database {name}", answer[:2], (404, "noSuchFile"))

    os.mkfifo(area / "fifo")
    os.chmod(area / "fifo", 0o666)
    plain = {"a FIFO": area / "fifo", "a device": "/dev/null", "an endless device": "/dev/zero", "a directory": area}
    for name, answer in zip(plain, as_user(*OTHER, [], judge, "verify", [str(path) for path in plain.values()])):
        checks.equal(f"other, {name}", answer[:2], (400, "notARegularFile"))
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(area / "socket"))
    os.chmod(area / "socket", 0o666)
    found = as_user(*OTHER, [], judge, "verify", [str(area / "socket")])[0]
    checks.true("other, a socket", found[:2] in ((400, "notARegularFile"), (404, "noSuchFile")), found[:2])
    listener.close()

    rows = [("readable", (*OTHER, []), 200), ("link", (*OTHER, []), 200), ("group", (*OTHER, [ADMIN_GROUP]), 200), ("group", (*OTHER, [ADMIN_GROUP + 1]), 404),
            ("group", (OTHER[0], ADMIN_GROUP, []), 200), ("team/package", (*OTHER, [100, ADMIN_GROUP]), 200), ("team/package", (*OTHER, [100]), 404),
            ("secret", (*OTHER, [0]), 404), ("secret", (0, 0, []), 200), ("hidden/package", (0, 0, []), 200)]
    for name, user, status in rows:
        checks.equal(f"user {user}, {name}", as_user(*user, judge, "verify", [str(area / name)])[0][0], status)
    # The rights of one request are gone with it, whichever thread the next one gets.
    for _ in range(20):
        found = [as_user(*user, judge, "verify", [str(area / "secret")])[0][0] for user in ((0, 0, []), (*OTHER, []))]
        if found != [200, 404]:
            checks.check("rights of one request at another", found)
            break
    else:
        checks.passed += 1


def events(daemon, publisher):
    """The log names who asked; only administrators see that."""
    package = publisher.package(6)

    def engine():
        answer = ask(daemon.socket, "POST", "/v1/packages/open", {"path": str(package)})
        return os.getpid(), answer.status

    def look(after):
        page = ask(daemon.socket, "GET", f"/v1/events?after={after}").json["events"]
        follower = Follower(daemon.socket, after=after)
        followed = [data for _, _, _, data in follower.wait(len(page))]
        follower.close()
        return page, followed

    after = daemon.get("/v1/status").json["newestEvent"]
    pid, status = as_user(*ENGINE, [], engine)
    checks.equal("an engine opens", status, 200)
    for who, user, sees in (("root", (0, 0, []), True), ("an admin", (*ADMIN, []), True), ("admin by group", (*OTHER, [ADMIN_GROUP]), True),
                            ("an engine", (*ENGINE, []), False), ("other", (*OTHER, []), False)):
        page, followed = as_user(*user, look, after)
        checks.equal(f"{who}: the page and the stream say the same", page, followed)
        found = [(event.get("uid"), event.get("pid")) for event in page if event["kind"] == "opened"]
        checks.equal(f"{who}: uid and pid of who asked", found, [(ENGINE[0], pid)] if sees else [(None, None)])


def own_user(directory):
    """A daemon that is not root opens paths for its own user only; everybody else sends the bytes."""
    place = directory / "plain"
    place.mkdir(mode=0o755)
    publisher = Publisher(place / "p")
    daemon = Daemon(place, ["--socket-mode", "0666", "--admin", "root", "--engine", f"@{ENGINE_GROUP_NAME}"], wait=None)
    daemon.trust(publisher / "root.pub")
    package = publisher.package(1)

    def become():
        os.setgroups([])
        os.setresgid(ADMIN[1], ADMIN[1], ADMIN[1])
        os.setresuid(ADMIN[0], ADMIN[0], ADMIN[0])

    os.chown(place, *ADMIN)
    os.chown(daemon.lists, *ADMIN)
    daemon.log_path.touch()
    daemon.limits = become
    if as_user(*ADMIN, [], os.access, DAEMON, os.X_OK) is False:
        checks.skip(6, "the daemon's program cannot be reached by other users")
        return
    with daemon.start():
        by_path = lambda: (lambda answer: (answer.status, answer.code))(ask(daemon.socket, "POST", "/v1/packages/open", {"path": str(package)}))
        by_bytes = lambda: ask(daemon.socket, "POST", "/v1/packages/open", package.read_bytes(), {"Content-Type": PACKAGE}).status
        checks.equal("its own user, by path", as_user(*ADMIN, [], by_path), (200, None))
        for who, user in (("root", (0, 0, [])), ("an engine", (*OTHER, [ENGINE_GROUP]))):
            checks.equal(f"{who}, by path", as_user(*user, by_path), (404, "noSuchFile"))
            checks.equal(f"{who}, by bytes", as_user(*user, by_bytes), 200)
        checks.equal("other, by bytes", as_user(*OTHER, [], by_bytes), 403)
        checks.equal("its own user is an admin", as_user(*ADMIN, [], lambda: ask(daemon.socket, "GET", "/v1/store/export").status), 200)


def modes(daemon):
    """What of the state directory others may read, and that they may not write."""
    found = {}
    for path in [daemon.state, *daemon.state.rglob("*")]:
        mode = path.lstat().st_mode & 0o7777
        relative = path.relative_to(daemon.state).parts
        if not relative or relative[0] == "apps" and len(relative) <= 2:
            wanted = 0o711
        elif relative[0] == "apps":
            wanted = 0o755 if path.is_dir() else 0o644
        else:
            wanted = 0o700 if path.is_dir() else 0o600
        if mode != wanted:
            found["/".join(relative)] = f"{mode:o}, expected {wanted:o}"
    checks.check("modes of the state directory", found)


def main():
    needs_programs()
    needs_root(100)
    publisher, daemon = world(["--admin", ADMIN_NAME, "--admin", f"@{ADMIN_GROUP_NAME}", "--engine", ENGINE_NAME, "--engine", f"@{ENGINE_GROUP_NAME}",
                               "--socket-mode", "0666"])
    with daemon:
        package = publisher.package(5)
        checks.equal("a package opens", daemon.open(package).status, 200)
        listed = publisher.list("--min-build", "com.example.orders=1")
        daemon.apply(listed)
        known = {"PACKAGE": str(package), "BYTES": package.read_bytes(), "DIGEST": digest(package), "LIST": listed.read_bytes(),
                 "EXPORT": daemon.get("/v1/store/export").body}
        with checks.part("table"):
            table(daemon, known)
        with checks.part("files"):
            files(daemon, publisher, daemon.directory)
        with checks.part("events"):
            events(daemon, publisher)
        with checks.part("modes"):
            modes(daemon)
    with checks.part("own user"):
        own_user(scratch())
    checks.finish()


if __name__ == "__main__":
    main()

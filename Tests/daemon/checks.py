#!/usr/bin/env python3
"""`check` repeats the rules: what made an installed package unfit since it was opened stops it, whichever way it came."""
import os
import shutil
import signal
import time

from common_daemon import Checks, Follower, digest, key_hash, needs_programs, tool, within, world

checks = Checks()
equal, true = checks.equal, checks.true


def verdict(daemon, name):
    """(verdict, code) of check."""
    found = daemon.check(name).json
    return found.get("verdict"), found.get("code")


ACCEPTED = ("accepted", None)


def refusals():
    """Each rule that can turn a package that was opened, by a list that is posted."""
    publisher, daemon = world()
    with daemon:
        for app in ("key", "certificate", "package", "minimum", "older"):
            publisher.key(f"{app}-key")
            publisher.certify(f"{app}.cert", key=f"{app}-key")
        packages = {app: publisher.package(3, app=app, key=f"{app}-key", certificate=f"{app}.cert")
                    for app in ("key", "certificate", "package", "minimum", "older")}
        names = {app: daemon.open(path).json["digest"] for app, path in packages.items()}
        for app, name in names.items():
            equal(f"{app}: accepted before", verdict(daemon, name), ACCEPTED)
        before = {app: ACCEPTED for app in names}

        def turned(app, code):
            before[app] = ("refused", code)
            equal(f"{app}: refused as {code}, the others as before", {one: verdict(daemon, name) for one, name in names.items()}, before)
            found = daemon.check(names[app]).json
            equal(f"{app}: the answer says what it is about", (found["app"]["id"], found["digest"], bool(found["message"])),
                  (f"com.example.{app}", names[app], True))

        for app, option, value, code in (("key", "--key", publisher / "key-key.pub", "keyRevoked"),
                                         ("certificate", "--certificate", publisher / "certificate.cert", "certificateRevoked"),
                                         ("package", "--package", packages["package"], "packageRevoked"),
                                         ("minimum", "--min-build", "com.example.minimum=4", "belowMinimumBuild")):
            found = daemon.apply(publisher.list(option, value)).json
            equal(f"{app}: the list says what it stops", found.get("stoppedApps"), [f"com.example.{app}"])
            turned(app, code)
        equal("older: a newer build opens", daemon.open(publisher.package(4, app="older", key="older-key", certificate="older.cert")).status, 200)
        turned("older", "rolledBack")
        equal("older: the newer one may run", verdict(daemon, digest(publisher / "older-4.nshpkg")), ACCEPTED)
        found = daemon.apply(publisher.list("--restore", "minimumBuilds:com.example.minimum")).json
        before["minimum"] = ACCEPTED
        equal("minimum: accepted again when the entry is taken off", {one: verdict(daemon, name) for one, name in names.items()}, before)

    publisher, daemon = world()
    with daemon:
        name = daemon.open(publisher.package(1)).json["digest"]
        equal("accepted before the root is withdrawn", verdict(daemon, name), ACCEPTED)
        answer = daemon.apply(publisher.list("--withdraw-root"))
        equal("a list that withdraws its own root applies", answer.status, 200)
        equal("rootWithdrawn", verdict(daemon, name), ("refused", "rootWithdrawn"))
        roots = daemon.get("/v1/status").json["roots"]
        equal("status says so", [(root["key"], root["withdrawn"]) for root in roots], [(key_hash(publisher / "root.pub"), True)])
        equal("open says so", daemon.open(publisher / "orders-1.nshpkg").code, "rootWithdrawn")
        daemon.stop()
        daemon.start()
        # The only root there is is passed over from now on: nothing can be judged.
        answer = daemon.check(name)
        equal("after a restart it does not start either", (answer.status, answer.code), (503, "noTrustedRoots"))
        equal("and health says why", (daemon.get("/v1/health").status, daemon.get("/v1/health").code), (503, "noTrustedRoots"))


def stale():
    """A list that has run out stops everything of its root, without a request or a file that changes."""
    publisher, daemon = world()
    with daemon:
        name = daemon.open(publisher.package(1)).json["digest"]
        end = int(time.time()) + 3
        equal("a list that soon expires", daemon.apply(publisher.list("--expires", end)).status, 200)
        equal("accepted while it counts", verdict(daemon, name), ACCEPTED)
        true("status warns", any("list" in warning for warning in daemon.get("/v1/status").json["warnings"]))
        true("revocationsStale when it has run out", within(end - time.time() + 3, lambda: verdict(daemon, name) == ("refused", "revocationsStale"), 0.1))
        true("not before", time.time() > end)
        equal("open says so", daemon.open(publisher / "orders-1.nshpkg").code, "revocationsStale")
        equal("a newer list mends it", daemon.apply(publisher.list("--expires", "never")).status, 200)
        equal("accepted again", verdict(daemon, name), ACCEPTED)

    publisher, daemon = world(["--max-list-age", "2s"])
    with daemon:
        equal("without a list of an age, nothing opens", daemon.open(publisher.package(1)).code, "revocationsStale")
        daemon.apply(publisher.list())
        name = daemon.open(publisher / "orders-1.nshpkg").json.get("digest")
        true("with one it does", name)
        true("until that one is too old", within(6, lambda: name and verdict(daemon, name) == ("refused", "revocationsStale"), 0.1))


def expires():
    """A certificate that runs out between open and check."""
    publisher, daemon = world()
    with daemon:
        publisher.key("short-key")
        end = int(time.time()) + 4
        tool("certify", "--quiet", "--root", publisher / "root.secret", "--key", publisher / "short-key.pub", "--publisher", "Example Ltd", "--apps",
             "com.example.*", "--not-after", end, "-o", publisher / "short.cert")
        name = daemon.open(publisher.package(1, key="short-key", certificate="short.cert")).json.get("digest")
        other = publisher.package(1, app="late", key="short-key", certificate="short.cert")
        equal("accepted while the certificate counts", verdict(daemon, name), ACCEPTED)
        true("a package that comes when it has run out is refused",
             within(end - time.time() + 4, lambda: daemon.post("/v1/packages/verify", {"path": str(other)}).code == "certificateExpired", 0.1))
        # Rule 8 asks this of a package only as long as the store has not accepted it.
        equal("what was accepted before may go on", verdict(daemon, name), ACCEPTED)


def roots():
    """Root files that come and go, with SIGHUP and without."""
    publisher, daemon = world()
    publisher.key("root2")
    publisher.key("release2")
    publisher.certify("release2.cert", root="root2", key="release2")
    with daemon:
        name = daemon.open(publisher.package(1)).json["digest"]
        second = publisher.package(1, app="second", key="release2", certificate="release2.cert")
        equal("a package of a root that is not there", daemon.open(second).code, "untrustedRoot")
        daemon.trust(publisher / "root2.pub")
        true("a root that is dropped in counts without a signal", within(5, lambda: daemon.open(second).status == 200, 0.1))
        equal("check of its package", verdict(daemon, digest(second)), ACCEPTED)
        (daemon.roots / "root.pub").unlink()
        daemon.signal(signal.SIGHUP)
        true("a root file that was removed, and SIGHUP: untrustedRoot", within(5, lambda: verdict(daemon, name) == ("refused", "untrustedRoot")),
             verdict(daemon, name))
        equal("the other root still counts", verdict(daemon, digest(second)), ACCEPTED)
        equal("health stays well", daemon.get("/v1/health").status, 200)
        (daemon.roots / "root2.pub").unlink()
        true("removed without a signal, too", within(5, lambda: verdict(daemon, digest(second)) == (None, "noTrustedRoots")), verdict(daemon, digest(second)))
        equal("without any root it cannot decide", (daemon.get("/v1/health").status, daemon.get("/v1/health").code), (503, "noTrustedRoots"))
        daemon.trust(publisher / "root.pub")
        true("a root that comes back", within(5, lambda: daemon.get("/v1/health").status == 200 and verdict(daemon, name) == ACCEPTED))

        bad = {"empty.pub": b"", "noise.pub": os.urandom(100), "secret.pub": (publisher / "root.secret").read_bytes(), "large.pub": b"x" * (2 << 20)}
        for file, content in bad.items():
            (daemon.roots / file).write_bytes(content)
        (daemon.roots / "directory.pub").mkdir()
        os.symlink("/nothing", daemon.roots / "link.pub")
        os.mkfifo(daemon.roots / "fifo.pub")
        (daemon.roots / "readme.txt").write_text("not looked at")
        daemon.trust(publisher / "root2.pub")
        daemon.signal(signal.SIGHUP)
        named = lambda: {os.path.basename(row["file"]) for row in daemon.get("/v1/status").json["badRoots"]}
        true("bad files are named", within(5, lambda: named() == {*bad, "directory.pub", "link.pub", "fifo.pub"}), named())
        equal("each with a reason", [row for row in daemon.get("/v1/status").json["badRoots"] if not row["message"]], [])
        equal("and passed over: the good ones count", ({os.path.basename(root["file"]) for root in daemon.get("/v1/status").json["roots"]},
                                                       verdict(daemon, name), verdict(daemon, digest(second))), ({"root.pub", "root2.pub"}, ACCEPTED, ACCEPTED))
        for file in ("empty.pub", "noise.pub", "secret.pub", "large.pub", "link.pub", "fifo.pub"):
            (daemon.roots / file).unlink()
        (daemon.roots / "directory.pub").rmdir()
        true("when they are gone they are forgotten", within(5, lambda: named() == set()), named())
        true("none of a secret is in the log", (publisher / "root.secret").read_bytes().strip() not in daemon.log_path.read_bytes())


def lists():
    """Lists that are dropped into their directory."""
    publisher, daemon = world()
    with daemon:
        package = publisher.package(1)
        name = daemon.open(package).json["digest"]
        follower = Follower(daemon.socket)
        listed = publisher.list("--package", package)
        shutil.copy(listed, daemon.lists / "new.json.part")
        os.rename(daemon.lists / "new.json.part", daemon.lists / "new.json")
        true("a list that is dropped in is applied", within(5, lambda: verdict(daemon, name) == ("refused", "packageRevoked")), verdict(daemon, name))
        equal("and told to who follows", [kind for _, _, kind, _ in follower.wait(1)], ["revocations"])
        follower.close()
        (daemon.lists / "noise.json").write_bytes(b"{}")
        publisher.key("stranger")
        shutil.copy(publisher.list("--package", package, root="stranger"), daemon.lists / "stranger.list")
        named = lambda: {os.path.basename(row["file"]) for row in daemon.get("/v1/status").json["badLists"]}
        true("bad lists are named and passed over", within(5, lambda: named() == {"noise.json", "stranger.list"}), named())
        newer = publisher.list("--restore", digest(package))
        shutil.copy(newer, daemon.lists / "newer.json")
        true("a good one beside them counts", within(5, lambda: verdict(daemon, name) == ACCEPTED), verdict(daemon, name))
        true("a list of before may stay", within(3, lambda: named() == {"noise.json", "stranger.list"}), named())
        daemon.stop()
    publisher.list("--package", package)
    shutil.copy(publisher.lists["root"], daemon.lists / "newest.json")
    with daemon.start():
        equal("a list that lay there when it started", verdict(daemon, name), ("refused", "packageRevoked"))


def others():
    """What another process does to the same store."""
    publisher, daemon = world()
    with daemon:
        package = publisher.package(1)
        name = daemon.open(package).json["digest"]
        equal("accepted before", verdict(daemon, name), ACCEPTED)
        tool("update-revocations", publisher.list("--package", package), "--state", daemon.state, "--root", publisher / "root.pub")
        true("a list that the tool applied counts at once", within(0.1, lambda: verdict(daemon, name) == ("refused", "packageRevoked")), verdict(daemon, name))
        tool("open", publisher.package(1, app="other"), "--state", daemon.state, "--root", publisher / "root.pub")
        opened = digest(publisher / "other-1.nshpkg")
        true("a package that the tool opened", within(0.1, lambda: verdict(daemon, opened) == ACCEPTED), verdict(daemon, opened))
        tool("open", publisher.package(2, app="other"), "--state", daemon.state, "--root", publisher / "root.pub")
        true("a newer build that the tool opened", within(0.1, lambda: verdict(daemon, opened) == ("refused", "rolledBack")), verdict(daemon, opened))
        tool("store", "remove", "com.example.other", "--state", daemon.state)
        removed = digest(publisher / "other-2.nshpkg")
        true("a tree that the tool removed", within(0.1, lambda: daemon.check(removed).code == "notInstalled"), verdict(daemon, removed))


def main():
    needs_programs()
    for part in (refusals, stale, expires, roots, lists, others):
        with checks.part(part.__name__):
            part()
    checks.finish()


if __name__ == "__main__":
    main()

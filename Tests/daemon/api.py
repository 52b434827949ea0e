#!/usr/bin/env python3
"""Every request of the daemon's table from outside: answers, statuses, media types, and what it does not put up with."""
import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import threading
import time

from common_daemon import (ENGINE, ENGINE_GROUP, ENGINE_GROUP_NAME, IS_ROOT, JSON, LONG, MIB, PACKAGE, PROBLEM, Checks, Follower,
                           UnixConnection, as_user, ask, connect, digest, head, key_hash, needs_programs, raw, scratch, tool,
                           tool_json, within, world)

checks = Checks()
equal, true = checks.equal, checks.true
HEX64 = "0" * 64
PACKAGE_MEMBERS = {"verdict", "code", "message", "app", "publisher", "digest", "signedAt", "key", "certificate", "roots", "files",
                   "unpackedSize"}


def problem(name, answer, status, code, **members):
    """A problem document with exactly this status and code."""
    if answer is None:
        return checks.check(name, "no answer")
    faults = [answer.status != status and f"status {answer.status}, expected {status}: {answer.body[:200]!r}",
              answer.type != PROBLEM and f"type {answer.type}"]
    try:
        found = answer.json
    except ValueError:
        return checks.check(name, f"no JSON: {answer!r}", *faults)
    faults += [f"without {member}" for member in ("type", "title", "status", "detail", "code") if member not in found]
    faults += [found.get("code") != code and f"code {found.get('code')}, expected {code}",
               found.get("status") != answer.status and f"the document says {found.get('status')}",
               found.get("type") != "about:blank" and f"type {found.get('type')!r}"]
    faults += [found.get(member) != value and f"{member} {found.get(member)!r}, expected {value!r}"
               for member, value in members.items()]
    if status == 503:
        faults.append(not answer.headers.get("retry-after", "").isdigit() and "no Retry-After")
    return checks.check(name, *faults)


def document(name, answer, members, optional=()):
    """200 and JSON with exactly these members; the document."""
    faults = [answer.status != 200 and f"status {answer.status}: {answer.body[:300]!r}", answer.type != JSON and f"type {answer.type}"]
    try:
        found = answer.json
    except ValueError:
        checks.check(name, f"no JSON: {answer!r}", *faults)
        return {}
    missing, odd = set(members) - set(found), set(found) - set(members) - set(optional)
    checks.check(name, *faults, missing and f"without {sorted(missing)}", odd and f"unexpected {sorted(odd)}")
    return found


def curl(daemon, *arguments):
    """The real curl: (status, content type, body)."""
    done = subprocess.run(
        ["curl", "--silent", "--show-error", "--max-time", "60", "--unix-socket", str(daemon.socket), "-w", "\n%{http_code} %{content_type}",
         *arguments], capture_output=True, timeout=90, check=False)
    if done.returncode:
        raise AssertionError(f"curl: {done.stderr.decode()}")
    body, _, last = done.stdout.decode().rpartition("\n")
    status, _, kind = last.partition(" ")
    return int(status), kind, json.loads(body)


def story():
    """What the API is for, as its users would do it."""
    publisher, daemon = world()
    with daemon:
        old, new = publisher.package(5), publisher.package(6)
        follower = Follower(daemon.socket)
        equal("a follower is answered at once", (follower.status, follower.headers.get("content-type", "").partition(";")[0]),
              (200, "text/event-stream"))
        url = "http://localhost/v1/packages/"
        status, kind, found = curl(daemon, url + "open", "--json", json.dumps({"path": str(new)}))
        equal("curl --json opens a package", (status, kind, found.get("verdict"), found.get("app", {}).get("build")),
              (200, JSON, "accepted", 6))
        true("its files lie where the answer says", (pathlib.Path(found["directory"]) / "bundle.js").is_file(), found["directory"])
        true("the lease is a file in the tree", found["lease"].startswith(found["directory"] + "/") and os.path.isfile(found["lease"]))
        status, kind, refused = curl(daemon, url + "open", "--json", json.dumps({"path": str(old)}))
        equal("an older build is refused with a problem document", (status, kind, refused.get("code")), (403, PROBLEM, "rolledBack"))
        equal("which says what was established", (refused.get("app", {}).get("build"), refused.get("publisher")), (5, "Example Ltd"))
        name = found["digest"]
        status, kind, found = curl(daemon, url + "check", "--json", json.dumps({"digest": name}))
        equal("check answers for its digest", (status, kind, found["verdict"], found["digest"]), (200, JSON, "accepted", name))
        listed = publisher.list("--package", new)
        status, kind, found = curl(daemon, "http://localhost/v1/revocations", "-H", f"Content-Type: {JSON}", "--data-binary", f"@{listed}")
        equal("a list is posted", (status, found["verdict"], found["changed"], found["stoppedApps"]), (200, "accepted", True, ["com.example.orders"]))
        status, kind, found = curl(daemon, url + "check", "--json", json.dumps({"digest": name}))
        equal("and turns the answer", (status, found["verdict"], found["code"]), (200, "refused", "packageRevoked"))
        kinds = [kind for _, _, kind, _ in follower.wait(3)]
        equal("the events arrived on the following connection", kinds[:3], ["opened", "refused", "revocations"])
        numbers = [number for _, number, _, _ in follower.events]
        true("their ids are their sequences, rising", numbers == sorted(set(numbers)) and
             all(number == data["sequence"] for _, number, _, data in follower.events), numbers)
        follower.close()


def requests(daemon, publisher):
    """Each request, with what belongs into its answer."""
    new = publisher / "orders-6.nshpkg"
    found = document("health", daemon.get("/v1/health"), {"status"})
    equal("health says ok", found.get("status"), "ok")

    before = document("verify by path", daemon.post("/v1/packages/verify", {"path": str(new)}), PACKAGE_MEMBERS,
                      {"manifest", "capabilities", "publicKey", "rootKeys", "minimumRuntime", "annotations", "certificateAnnotations"})
    equal("verify accepts", (before.get("verdict"), before.get("code")), ("accepted", None))
    equal("and changes nothing", daemon.get("/v1/apps").json, {"apps": []})
    for kind in (PACKAGE, "application/octet-stream", PACKAGE.upper(), PACKAGE + "; charset=binary"):
        answer = daemon.post("/v1/packages/verify", new.read_bytes(), {"Content-Type": kind})
        equal(f"verify of the bytes as {kind}", (answer.status, answer.json.get("digest")), (200, before.get("digest")))
    chunked = UnixConnection(daemon.socket)
    chunked.request("POST", "/v1/packages/verify", body=iter([new.read_bytes()[:1000], new.read_bytes()[1000:]]),
                    headers={"Content-Type": PACKAGE}, encode_chunked=True)
    answer = chunked.getresponse()
    equal("verify of a body in chunks", (answer.status, json.loads(answer.read()).get("verdict")), (200, "accepted"))
    chunked.close()
    damaged = bytearray(new.read_bytes())
    damaged[-5] ^= 1
    answer = daemon.post("/v1/packages/verify", bytes(damaged), {"Content-Type": PACKAGE})
    equal("verify of damaged bytes", (answer.status, answer.json.get("verdict")), (200, "refused"))
    for size in (0, 1, 11, len(damaged) - 1):
        answer = daemon.post("/v1/packages/verify", bytes(damaged[:size]), {"Content-Type": PACKAGE})
        equal(f"verify of the first {size} bytes", (answer.status, answer.json.get("verdict")), (200, "refused"))
    answer = daemon.post("/v1/packages/verify", new.read_bytes() + b"x", {"Content-Type": PACKAGE})
    equal("verify of a package with a byte too many", (answer.status, answer.json.get("verdict")), (200, "refused"))
    answer = daemon.post("/v1/packages/open", bytes(damaged), {"Content-Type": PACKAGE})
    equal("open of damaged bytes", (answer.status, answer.type), (403, PROBLEM))

    opened = document("open by path", daemon.open(new), PACKAGE_MEMBERS | {"directory", "lease"},
                      {"manifest", "capabilities", "publicKey", "rootKeys", "minimumRuntime", "annotations", "certificateAnnotations"})
    equal("open and verify say the same", {name: opened.get(name) for name in before}, before)
    answer = daemon.post("/v1/packages/open", new.read_bytes(), {"Content-Type": PACKAGE})
    equal("open again, of the bytes", (answer.status, answer.json.get("directory")), (200, opened.get("directory")))
    name = opened["digest"]
    found = document("check", daemon.check(name), {"verdict", "code", "message", "app", "publisher", "digest", "directory", "lease"})
    equal("check repeats what open said", [found.get(member) for member in ("verdict", "code", "app", "digest", "directory", "lease")],
          ["accepted", None, opened["app"], name, opened["directory"], opened["lease"]])
    problem("check of a digest never opened here", daemon.check(HEX64), 404, "notInstalled")
    problem("open of a file that is not there", daemon.open(publisher / "nothing.nshpkg"), 404, "noSuchFile")
    problem("open of a directory", daemon.open(publisher.directory), 400, "notARegularFile")

    found = document("status", daemon.get("/v1/status"),
                     {"version", "uptime", "pid", "apps", "installed", "unpackedSize", "threshold", "newestEvent", "oldestEvent",
                      "roots", "badRoots", "lists", "badLists", "warnings"}, {"state", "rootsSeen"})
    equal("status counts", (found["apps"], found["installed"], found["pid"], found["threshold"], found["lists"], found["badRoots"]),
          (1, 1, daemon.pid, 1, [], []))
    equal("status names the root", [(root["key"], root["withdrawn"]) for root in found["roots"]],
          [(key_hash(publisher / "root.pub"), False)])

    page = document("apps", daemon.get("/v1/apps"), {"apps"}, {"next"})
    app = page["apps"][0]
    equal("an app", set(app), {"id", "build", "publisher", "digest", "acceptedAt", "installed"})
    equal("what of it is installed", [set(one) for one in app["installed"]],
          [{"build", "version", "digest", "directory", "files", "unpackedSize"}])
    equal("an app by its id", daemon.get("/v1/apps/com.example.orders").json, app)
    problem("an app that is not there", daemon.get("/v1/apps/com.example.none"), 404, "unknownApp")
    true("an id that is none", daemon.get("/v1/apps/no%20id").status in (400, 404))
    for build in range(3):
        daemon.open(publisher.package(1, app=f"app{build}"))
    ids, after = [], None
    for _ in range(10):
        page = daemon.get("/v1/apps?limit=2" + (f"&after={after}" if after else "")).json
        ids += [app["id"] for app in page["apps"]]
        after = page.get("next")
        if not after:
            break
    equal("apps by pages of two", ids, ["com.example.app0", "com.example.app1", "com.example.app2", "com.example.orders"])

    equal("no list in force", document("revocations", daemon.get("/v1/revocations"), {"lists"}), {"lists": []})
    listed = publisher.list("--min-build", "com.example.orders=2")
    members = {"verdict", "code", "message", "issuer", "sequence", "changed", "dryRun", "stoppedApps", "warnings"}
    found = document("a list, as a rehearsal", daemon.apply(listed, "?dryRun=true"), members)
    equal("the rehearsal says so", (found["dryRun"], found["changed"]), (True, True))
    equal("and applies nothing", daemon.get("/v1/revocations").json, {"lists": []})
    found = document("a list", daemon.apply(listed, "?dryRun=false"), members)
    equal("is applied", (found["dryRun"], found["changed"], found["sequence"]), (False, True, 1))
    equal("and, again, changes nothing", daemon.apply(listed).json["changed"], False)
    lists = daemon.get("/v1/revocations").json["lists"]
    equal("it is in force", [(one["issuer"], one["sequence"], one["entries"].get("minimumBuilds")) for one in lists],
          [(key_hash(publisher / "root.pub"), 1, 1)])
    equal("status says the same", daemon.get("/v1/status").json["lists"], lists)
    publisher.list("--min-build", "com.example.orders=3")
    daemon.apply(publisher.lists["root"])
    problem("an older list", daemon.apply(listed), 403, "revocationsOlder")
    answer = daemon.post("/v1/revocations", b'{"payloadType":"x"}', {"Content-Type": JSON})
    true("a list that is none", answer.status in (400, 403) and answer.type == PROBLEM, answer)
    publisher.key("stranger")
    problem("a list of somebody else", daemon.apply(publisher.list("--min-build", "com.example.orders=2", root="stranger")), 403,
            "untrustedRoot")

    found = document("events", daemon.get("/v1/events"), {"events", "next"})
    required, optional = {"sequence", "time", "kind", "message", "count"}, {"app", "build", "digest", "code", "uid", "pid"}
    checks.check("each event's members", *[f"{event}" for event in found["events"] if required - set(event) or set(event) - required - optional])
    every = [event["sequence"] for event in found["events"]]
    numbers, after = [], 0
    for _ in range(100):
        page = daemon.get(f"/v1/events?after={after}&limit=2").json
        if not page["events"]:
            break
        numbers += [event["sequence"] for event in page["events"]]
        after = page["next"]
    equal("events by pages of two", numbers, every)
    equal("nothing after the newest", daemon.get(f"/v1/events?after={every[-1]}").json, {"events": [], "next": every[-1]})

    metrics = daemon.get("/metrics")
    equal("metrics", (metrics.status, metrics.headers.get("content-type", "").replace(" ", "")), (200, "text/plain;version=0.0.4;charset=utf-8"))
    true("they count decisions", b'nsh' in metrics.body and b"\n# TYPE " in metrics.body)

    found = document("store check", daemon.post("/v1/store/check"), {"verdict", "code", "message", "problems", "packages"})
    equal("the store is whole", (found["verdict"], found["code"], found["problems"], found["packages"]), ("accepted", None, [], 4))
    exported = daemon.get("/v1/store/export")
    equal("export", (exported.status, exported.type), (200, JSON))
    found = document("import of the same", daemon.post("/v1/store/import", exported.body, {"Content-Type": JSON}),
                     {"builds", "lists", "applied", "warnings"}, {"notes"})
    document("prune, as a rehearsal", daemon.post("/v1/store/prune", {"keep": 1, "dryRun": True}), {"removed", "inUse", "setAside"})
    problem("remove of an app that is not there", daemon.post("/v1/store/remove", {"app": "com.example.none"}), 404, "notInstalled")
    problem("forget-root of a root without lists", daemon.post("/v1/store/forget-root", {"key": HEX64}), 404, "notInstalled")
    root = key_hash(publisher / "root.pub")
    equal("forget-root", document("forget-root answers", daemon.post("/v1/store/forget-root", {"key": root}), {"key"}), {"key": root})
    equal("takes the root's lists out of force", daemon.get("/v1/revocations").json, {"lists": []})
    daemon.apply(publisher.lists["root"])


def other_store(daemon, publisher):
    """An export carries floors and lists to a new machine; none is lowered there."""
    exported = daemon.get("/v1/store/export").body
    from common_daemon import Daemon
    with Daemon(scratch(), wait=None) as second:
        second.trust(publisher / "root.pub")
        second.start()
        answer = second.post("/v1/store/import", exported, {"Content-Type": JSON})
        equal("import into a new store", (answer.status, answer.json.get("builds", 0) >= 4), (200, True))
        stricter = {**json.loads(exported), "rootThreshold": 2}
        problem("an import that would make the store unusable here", second.post("/v1/store/import", stricter), 403, "forbidden")
        equal("and nothing of it is taken over", second.get("/v1/status").json["threshold"], 1)
        problem("an older build is refused there, too", second.open(publisher / "orders-5.nshpkg"), 403, "rolledBack")


def strictness(daemon, publisher):
    """Bodies and parameters that are not exactly what the table says."""
    bodies = {
        "/v1/packages/open": [
            ({}, "path"), ({"path": 1}, "path"), ({"path": None}, "path"), ({"path": "relative.nshpkg"}, "path"), ({"path": ""}, "path"),
            ({"path": "/x", "also": 1}, "also"), (b'{"path":"/x","path":"/x"}', "path"), (b'{"path":"/a\\u0000b"}', "path"),
            ({"path": ["/x"]}, "path"), ([], None), (b"null", None), (b'"/x"', None), (b"{", None), (b"", None), (b'{"path":"/x"} x', None),
            (b'{"path":"\xff"}', "path"), (b'{"path":"\\ud800"}', "path"), (b"\xef\xbb\xbf{}", None), (b"[" * 10000, None),
            (b'{"path":{"path":"/x"}}', "path"), (b"{'path':'/x'}", None), (b'{"Path":"/x"}', "Path"),
        ],
        "/v1/packages/check": [
            ({}, "digest"), ({"digest": "0" * 63}, "digest"), ({"digest": "G" * 64}, "digest"), ({"digest": "A" * 64}, "digest"),
            ({"digest": 5}, "digest"), ({"digest": HEX64, "x": 1}, "x"), (b'{"digest":"%s","digest":"%s"}' % ((b"0" * 64,) * 2), "digest"),
        ],
        "/v1/store/check": [({"x": 1}, "x"), (b"", None), (b"[]", None)],
        "/v1/store/prune": [({"keep": "1"}, "keep"), ({"keep": -1}, "keep"), ({"keep": 1.5}, "keep"), ({"dryRun": 1}, "dryRun"),
                            ({"keep": 10**30}, "keep"), ({"keep": True}, "keep"), ({"dryrun": True}, "dryrun")],
        "/v1/store/remove": [({}, "app"), ({"app": "no id"}, "app"), ({"app": 1}, "app"), ({"app": "com.example.x", "y": 0}, "y")],
        "/v1/store/forget-root": [({}, "key"), ({"key": "00"}, "key"), ({"key": None}, "key")],
    }
    bodies["/v1/packages/verify"] = bodies["/v1/packages/open"]
    for route, rows in bodies.items():
        for body, member in rows:
            answer = daemon.post(route, body, {"Content-Type": JSON})
            problem(f"POST {route} {str(body)[:60]}", answer, 400, "badRequest", **({"member": member} if member else {}))
    for target, member in [
            ("/v1/apps?limit=0", "limit"), ("/v1/apps?limit=1001", "limit"), ("/v1/apps?limit=1&limit=2", "limit"), ("/v1/apps?x=1", "x"),
            ("/v1/apps?limit=", "limit"), ("/v1/apps?limit=+1", "limit"), ("/v1/apps?limit=0x10", "limit"), ("/v1/apps?limit=1e2", "limit"),
            ("/v1/apps?after=no%20id", "after"), ("/v1/events?after=-1", "after"), ("/v1/events?after=x", "after"),
            ("/v1/events?limit=100000", "limit"), ("/v1/events?follow=yes", "follow"), ("/v1/events?follow=true&follow=true", "follow"),
            ("/v1/events?after=99999999999999999999999", "after"), ("/v1/health?x", "x"), ("/v1/status?pretty=1", "pretty"),
            ("/metrics?name=x", "name"), ("/v1/revocations?dryRun=true", "dryRun"), ("/v1/health?%ff=1", None), ("/v1/apps?LIMIT=1", "LIMIT")]:
        problem(f"GET {target}", daemon.get(target), 400, "badRequest", **({"member": member} if member else {}))
    problem("dryRun=1", daemon.apply(publisher.lists["root"], "?dryRun=1"), 400, "badRequest", member="dryRun")

    for method, target, allowed in [
            ("POST", "/v1/health", {"GET"}), ("DELETE", "/v1/apps", {"GET"}), ("PUT", "/v1/packages/open", {"POST"}),
            ("GET", "/v1/packages/open", {"POST"}), ("GET", "/v1/store/prune", {"POST"}), ("DELETE", "/v1/revocations", {"GET", "POST"}),
            ("PATCH", "/v1/events", {"GET"}), ("POST", "/v1/apps/com.example.orders", {"GET"}), ("OPTIONS", "/v1/health", {"GET"}),
            ("TRACE", "/v1/status", {"GET"}), ("BREW", "/metrics", {"GET"}), ("get", "/v1/health", {"GET"})]:
        answer = raw(daemon.socket, head(method, target, "Content-Length: 0"))
        problem(f"{method} {target}", answer, 405, "methodNotAllowed")
        found = set(answer.headers.get("allow", "").replace(" ", "").split(",")) if answer else set()
        equal(f"{method} {target} says what is allowed", found - {"HEAD"}, allowed)
    answer = raw(daemon.socket, head("HEAD", "/v1/health"))
    true("HEAD has no body", answer is not None and answer.status in (200, 405) and not answer.body, answer)

    for route in ("/v1/packages/open", "/v1/packages/verify", "/v1/packages/check", "/v1/store/prune", "/v1/revocations"):
        for kind in ("application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x", "application/jsonp", "", "application/xml"):
            problem(f"POST {route} as {kind or 'nothing'}", raw(daemon.socket, head(
                "POST", route, *([f"Content-Type: {kind}"] if kind else []), "Content-Length: 2") + b"{}"), 415, "unsupportedMediaType")
    problem("a package where a document is due", daemon.post("/v1/packages/check", b"x", {"Content-Type": PACKAGE}), 415, "unsupportedMediaType")
    true("application/json with a charset", daemon.post("/v1/packages/check", json.dumps({"digest": HEX64}).encode(),
                                                       {"Content-Type": "application/json; charset=utf-8"}).status == 404)

    big = json.dumps({"path": "/" + "x" * (1 << 20)}).encode()
    for route in ("/v1/packages/open", "/v1/packages/check", "/v1/store/prune"):
        problem(f"POST {route} with a megabyte of JSON", raw(daemon.socket, head(
            "POST", route, f"Content-Type: {JSON}", f"Content-Length: {len(big)}") + big), 413, "tooLarge")
    answer = raw(daemon.socket, head("POST", "/v1/packages/check", f"Content-Type: {JSON}", "Content-Length: 999999999999"))
    problem("a body that is announced as too large is refused before it comes", answer, 413, "tooLarge")
    chunk = b"%x\r\n" % 65536 + b" " * 65536 + b"\r\n"
    problem("a body in chunks that grows too large", raw(daemon.socket, head(
        "POST", "/v1/packages/check", f"Content-Type: {JSON}", "Transfer-Encoding: chunked") + chunk * 20), 413, "tooLarge")


def targets(daemon):
    """Paths that are not exactly those of the table, and heads that are not what clients send."""
    for target in ("/", "/v1", "/v1/", "/v2/health", "/v1/health/", "//v1/health", "/v1//health", "/v1/./health", "/v1/x/../health",
                   "/v1%2fhealth", "/v1/%2e%2e/v1/health", "/V1/health", "/v1/health%00", "/v1/health;x", "/v1/packages", "/v1/apps/",
                   "/v1/store", "/v1/packages/open/", "//v1/store/prune", "/v1/store/../store/export", "/v1/store%2Fexport",
                   "/v1/apps/com.example.orders/x", "/openapi.json", "/metrics/", "/%ff", "/v1/health%"):
        answer = raw(daemon.socket, head("GET", target))
        true(f"GET {target}", answer is not None and (answer.status, answer.code) in ((404, "notFound"), (400, "badRequest")), answer)
    equal("a path may be percent-encoded", raw(daemon.socket, head("GET", "/v1/%68ealth")).status, 200)
    for target in ("http://localhost/v1/health", "http://evil.example/v1/health", "*", "v1/health", "localhost:80", "http:///v1/health"):
        answer = raw(daemon.socket, head("GET", target))
        true(f"GET {target}: no other path, no other host", answer is None or answer.status in (400, 403, 404)
             or target == "http://localhost/v1/health" and answer.status == 200, answer)
    for host in ("evil.example", "localhost.evil.example", "127.0.0.1", "localhost:80", "[::1]", "xlocalhost", "localhost, evil.example"):
        problem(f"Host: {host}", raw(daemon.socket, head("GET", "/v1/health", host=host)), 403, "forbidden")
    for host in ("localhost", "LOCALHOST", ""):
        equal(f"Host: {host!r}", getattr(raw(daemon.socket, head("GET", "/v1/health", host=host)), "status", None), 200)
    for header in ("Origin: http://localhost", "Origin: null", "Origin:", "origin: https://evil.example", "Sec-Fetch-Mode: cors", "Sec-Fetch-Site: none",
                   "SEC-FETCH-DEST: empty", "Sec-Fetch-Anything: 1"):
        problem(f"GET with {header}", raw(daemon.socket, head("GET", "/v1/health", header)), 403, "forbidden")
    problem("a browser's request is refused before its path is looked at", raw(daemon.socket, head("GET", "/none", "Origin: null")), 403, "forbidden")
    true("no answer lets another origin read it", "access-control-allow-origin" not in daemon.get("/v1/health").headers)
    for name, data in {
            "two lengths": head("POST", "/v1/packages/check", f"Content-Type: {JSON}", "Content-Length: 2", "Content-Length: 3") + b"{} ",
            "a length that is none": head("POST", "/v1/packages/check", f"Content-Type: {JSON}", "Content-Length: x") + b"{}",
            "a negative length": head("POST", "/v1/packages/check", f"Content-Type: {JSON}", "Content-Length: -1") + b"{}",
            "a length of 2^64": head("POST", "/v1/packages/check", f"Content-Type: {JSON}", "Content-Length: 18446744073709551616") + b"{}",
            "a length and chunks": head("POST", "/v1/packages/check", f"Content-Type: {JSON}", "Content-Length: 2", "Transfer-Encoding: chunked") + b"0\r\n\r\n",
            "an unknown coding": head("POST", "/v1/packages/check", f"Content-Type: {JSON}", "Transfer-Encoding: gzip, chunked") + b"0\r\n\r\n",
            "a bad chunk": head("POST", "/v1/packages/check", f"Content-Type: {JSON}", "Transfer-Encoding: chunked") + b"zz\r\n{}\r\n0\r\n\r\n",
            "two hosts": head("GET", "/v1/health", "Host: localhost"),
            "a head of 2 MB": head("GET", "/v1/health", "X: " + "x" * (2 * MIB)),
            "50,000 headers": head("GET", "/v1/health", *[f"X-{number}: y" for number in range(50_000)]),
            "a target of 100 KB": head("GET", "/v1/apps?after=" + "x" * 100_000),
            "no HTTP": b"hello\r\n\r\n", "no version": b"GET /v1/health\r\nHost: localhost\r\n\r\n",
            "another version": b"GET /v1/health HTTP/9.9\r\nHost: localhost\r\n\r\n",
            "NUL in the version": b"GET /v1/health HTTP/1.1\0x\r\nHost: localhost\r\n\r\n",
            "NUL in a name": head("GET", "/v1/health", "X\0Y: z"),
            "NUL in the head": b"GET /v1/health HTTP/1.1\r\nHost: local\0host\r\n\r\n",
            "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 200,
            "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"}.items():
        # What is not HTTP may be waited for until its time is over; that is tried in load.py.
        try:
            answer = raw(daemon.socket, data, timeout=2)
        except TimeoutError:
            answer = None
        true(name, answer is None or 400 <= answer.status <= 505 and answer.status != 500, answer)
        true(f"after {name}: it serves", daemon.get("/v1/health").status == 200)
    for name, data in {
            "a carriage return in a value": head("POST", "/v1/packages/check", f"Content-Type: {JSON}", "X: a\rContent-Length: 2") + b"{}",
            "a control character in a value": head("GET", "/v1/health", "X: a\x01"),
            "a folded coding": head("POST", "/v1/packages/check", f"Content-Type: {JSON}", "Transfer-Encoding:\r\n chunked") + head("GET", "/v1/health"),
            "a folded length": head("POST", "/v1/packages/check", f"Content-Type: {JSON}", "Content-Length:\r\n 2") + b"{}",
            "a folded host": b"GET /v1/health HTTP/1.1\r\nHost:\r\n evil\r\n\r\n",
            "a host that goes on": b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n evil\r\n\r\n",
            "a folded origin": head("GET", "/v1/health", "Origin: x\r\n y"),
            "a fold by a tab before another header": head("GET", "/v1/health", "X: a\r\n\tb", "Y: c"),
            "NUL in the target": head("GET", "/v1/health\0xyz"),
            "NUL in the method": b"GET\0X /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "NUL in the last value": b"GET /v1/health HTTP/1.1\r\nHost: localhost\0evil\r\n\r\n",
            "NUL in a coding": head("POST", "/v1/packages/check", f"Content-Type: {JSON}", "Transfer-Encoding: chunked\0, identity") + b"0\r\n\r\n",
            "NUL in a length": head("POST", "/v1/packages/check", f"Content-Type: {JSON}", "Content-Length: 2\0000") + b"{}",
            "lines that end with a line feed alone": b"GET /v1/health HTTP/1.1\nHost: localhost\n\n",
            "two spaces in the request line": b"GET  /v1/health  HTTP/1.1\r\nHost: localhost\r\n\r\n"}.items():
        problem(name, raw(daemon.socket, data), 400, "badRequest")
    equal("an empty header", raw(daemon.socket, head("GET", "/v1/health", "X:", "Y: \t ", "Z: a\tb")).status, 200)
    answer = raw(daemon.socket, head("GET", "/v1/health", host=None))
    true("HTTP/1.1 without Host", answer is None or answer.status in (200, 400, 403), answer)
    for header in ("Range: bytes=0-1", "Expect: 100-continue", "traceparent: 00-" + "x" * 999, "Accept: text/html", "If-None-Match: *",
                   "Upgrade: h2c", "Authorization: Basic " + "x" * 999, "X-Forwarded-For: 1.2.3.4", "Cookie: a=b", "Accept-Encoding: gzip"):
        answer = raw(daemon.socket, head("GET", "/v1/health", header))
        true(f"GET with {header[:40]}", answer is not None and answer.status in (200, 400, 417), answer)

    sock = connect(daemon.socket)
    sock.sendall(head("GET", "/v1/health") * 20 + head("GET", "/v1/health", "Connection: close"))
    data = b""
    while piece := sock.recv(65536):
        data += piece
    equal("21 requests sent at once are answered in order", (data.count(b"HTTP/1.1 200"), data.count(b'{"status":"ok"}')), (21, 21))
    sock.close()
    answer = raw(daemon.socket, b"GET /v1/health HTTP/1.0\r\n\r\n")
    true("HTTP/1.0", answer is not None and answer.status == 200, answer)
    connection = UnixConnection(daemon.socket)
    for number in range(3):
        ask(None, "POST", "/v1/packages/check", {"digest": 5}, connection=connection)
        equal(f"the connection goes on after a bad request ({number})", ask(None, "GET", "/v1/health", connection=connection).status, 200)
    connection.close()


def sizes():
    """--max-package, by path and by body."""
    publisher, daemon = world(["--max-package", str(MIB)])
    with daemon:
        large = publisher.package(1, size=2 * MIB)
        problem("a package over --max-package, by path", daemon.open(large), 413, "tooLarge")
        answer = raw(daemon.socket, head("POST", "/v1/packages/open", f"Content-Type: {PACKAGE}", f"Content-Length: {large.stat().st_size}")
                     + large.read_bytes())
        problem("by its length, before it comes", answer, 413, "tooLarge")
        answer = raw(daemon.socket, head("POST", "/v1/packages/verify", f"Content-Type: {PACKAGE}", "Transfer-Encoding: chunked")
                     + b"".join(b"10000\r\n" + bytes(65536) + b"\r\n" for _ in range(40)) + b"0\r\n\r\n")
        true("in chunks, while it comes", answer is not None and (answer.status == 413 or answer.status == 200 and answer.json["verdict"] == "refused"),
             answer)
        equal("a small one passes", daemon.open(publisher.package(2)).status, 200)


def large():
    """A streamed body is judged while it comes: the daemon's memory does not grow with it."""
    size = (1 << 30) if LONG else 200 * MIB
    shm = "/dev/shm" if os.path.isdir("/dev/shm") and shutil.disk_usage("/dev/shm").free > 3 * size else None
    publisher, daemon = world(base=shm)
    with daemon:
        small = publisher.package(1, app="small", size=8 * MIB)
        package = publisher.package(1, size=size)

        def verify(path):
            connection = UnixConnection(daemon.socket, timeout=300)
            with open(path, "rb") as file:
                connection.request("POST", "/v1/packages/verify", body=file,
                                   headers={"Content-Type": PACKAGE, "Content-Length": str(path.stat().st_size)})
                answer = connection.getresponse()
                found = json.loads(answer.read())
            connection.close()
            return answer.status, found["verdict"], found.get("unpackedSize", 0)

        verify(small)
        daemon.reset_peak()
        before = daemon.status("VmHWM")
        started = time.monotonic()
        status, verdict, unpacked = verify(package)
        seconds = time.monotonic() - started
        after = daemon.status("VmHWM")
        equal(f"a body of {size >> 20} MiB is verified", (status, verdict, unpacked >= size), (200, "accepted", True))
        print(f"  {size >> 20} MiB in {seconds:.1f} s; greatest memory {before} KiB before, {after} KiB after")
        true("in constant memory", after - before < 8192, f"{after - before} KiB more")
        daemon.reset_peak()
        before = daemon.status("VmHWM")
        found = daemon.open(package, timeout=300)
        after = daemon.status("VmHWM")
        equal("and opened by its path", found.status, 200)
        print(f"  open by path: greatest memory {before} KiB before, {after} KiB after")
        true("in constant memory, too", after - before < 8192, f"{after - before} KiB more")


def leases():
    """An engine of another user reads the bundle it opened; while it runs, nothing removes the tree."""
    if not IS_ROOT:
        checks.skip(6, "an engine of another user needs root")
        return
    publisher, daemon = world(["--engine", f"@{ENGINE_GROUP_NAME}", "--socket-mode", "0666"])
    old, new, newest = (publisher.package(build) for build in (5, 6, 7))
    ready, go = os.pipe(), os.pipe()

    def engine(path):
        answer = ask(daemon.socket, "POST", "/v1/packages/open", {"path": str(path)}).json
        bundle = (pathlib.Path(answer["directory"]) / "bundle.js").read_text()
        lease = os.open(answer["lease"], os.O_RDONLY)
        fcntl.flock(lease, fcntl.LOCK_SH | fcntl.LOCK_NB)
        same = os.fstat(lease).st_ino == os.stat(answer["lease"]).st_ino
        try:
            open(pathlib.Path(answer["directory"]) / "bundle.js", "a").close()
            writes = True
        except PermissionError:
            writes = False
        os.write(ready[1], b"x")
        os.read(go[0], 1)
        return bundle, same, writes

    with daemon:
        results = []
        thread = threading.Thread(target=lambda: results.append(as_user(*ENGINE, [ENGINE_GROUP], engine, old)), daemon=True)
        thread.start()
        os.read(ready[0], 1)
        tree = pathlib.Path(daemon.get("/v1/apps/com.example.orders").json["installed"][0]["directory"])
        equal("two newer builds come", (daemon.open(new).status, daemon.open(newest).status), (200, 200))
        time.sleep(11)  # for as long as the daemon itself holds on to what it answered
        found = daemon.post("/v1/store/prune", {"keep": 1}).json
        equal("a prune leaves alone what runs, and removes what does not",
              ([one["build"] for one in found["inUse"]], [one["build"] for one in found["removed"]]), ([5], [6]))
        true("the tree is there", (tree / "bundle.js").is_file())
        os.write(go[1], b"x")
        thread.join(20)
        equal("the engine read its bundle, held the lease and could not write", results, [('console.log("hello")\n', True, False)])
        found = daemon.post("/v1/store/prune", {}).json
        equal("when it has ended the tree goes", ([one["build"] for one in found["removed"]], tree.exists()), ([5], False))
        found = daemon.post("/v1/store/remove", {"app": "com.example.orders"})
        true("remove", found.status == 200 and set(found.json) == {"removed", "inUse", "setAside"}, found)
        problem("the floor stays", daemon.open(old), 403, "rolledBack")
        found = daemon.post("/v1/store/check").json
        equal("the store is whole", found["verdict"], "accepted")


def health():
    """A daemon that cannot decide says so and why."""
    publisher, daemon = world(start=False)
    (daemon.roots / "root.pub").unlink()
    package = publisher.package(1)
    with daemon.start():
        problem("health without roots", daemon.get("/v1/health"), 503, "noTrustedRoots")
        problem("verify without roots", daemon.post("/v1/packages/verify", {"path": str(package)}), 503, "noTrustedRoots")
        problem("open without roots", daemon.open(package), 503, "noTrustedRoots")
        daemon.trust(publisher / "root.pub")
        true("a root that is put there makes it well", within(5, lambda: daemon.get("/v1/health").status == 200))
        equal("and packages open", daemon.open(package).status, 200)


def main():
    needs_programs()
    with checks.part("story"):
        if shutil.which("curl"):
            story()
        else:
            checks.skip(11, "curl is not there")
    publisher, daemon = world()
    with daemon:
        publisher.package(5), publisher.package(6)
        for part in (requests, other_store, strictness):
            with checks.part(part.__name__):
                part(daemon, publisher)
        with checks.part("targets"):
            targets(daemon)
        log = daemon.log()
        checks.check("nothing went wrong inside", *[line for line in log.splitlines() if line[:3] in ("<0>", "<1>", "<2>", "<3>") or "Fatal" in line][:5])
    for part in (sizes, health, leases, large):
        with checks.part(part.__name__):
            part()
    checks.finish()


if __name__ == "__main__":
    main()

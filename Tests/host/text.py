#!/usr/bin/env python3
"""Hostile text, wherever somebody else can put it, never reaches a terminal or a log raw, and forges no line.

    NSH_PKGTOOL=… NSH_TRUSTD=… .venv/bin/python Tests/host/text.py      NSH_LONG=1: every text in every place, to every verb

Proves M8, H16 and B9. A table of texts (escapes of terminals, C1, bidirectional and invisible code points, line ends, NUL, broken
and overlong UTF-8, quotes) × a table of places (every text field of packages, certificates, headers, lists, envelopes, key files and
app.json, paths in archives, names of files, arguments, requests). Most packages are signed by the keys that are trusted, so that
every check lets them as far as it ever would. All that tool and daemon write is then looked at byte by byte: standard output,
standard error, log, answers, server-sent events, metrics.
"""
import itertools
import json
import os
import pathlib
import re
import sys
import unicodedata
import urllib.parse

from common_host import LONG, Checks, run, scratch
from common_daemon import PACKAGE, Daemon, Follower, connect, needs_programs, within

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "testvectors"))
from maker import packages as p  # noqa: E402
from maker import wire  # noqa: E402

checks = Checks()
check = checks.check
FORGED = "com.example.forged"
LINE = f"OK  {FORGED} 9.9 (build 9)  Trusted  key 0123456789abcdef"

#: Texts as they stand in memory; those of bytes are no UTF-8.
TEXTS = {
    "clear": "\x1b[2J\x1b[1;1H", "title": "\x1b]0;owned\x07", "bell": "\x07", "backspace": "REFUSED\b\b\b\b\b\b\bOK     ", "cr": f"\r{LINE}", "lf": f"\n{LINE}",
    "crlf": f"\r\n{LINE}", "nel": f"\x85{LINE}", "ls": f"\u2028{LINE}", "ps": f"\u2029{LINE}", "vt": f"\x0b{LINE}", "ff": f"\x0c{LINE}", "c1": "\x9b2J\x9d0;x\x9c",
    "nul": "a\0b", "del": "a\x7fb", "rlo": "\u202egpksn", "isolate": "\u2066x\u2069", "lrm": "a\u200eb", "zero width": "a\u200bb", "bom": "\ufeffa",
    "tag": "a\U000e0041b", "private": "a\ue000b", "unassigned": "a\u0378b", "noncharacter": "a\ufffeb", "soft hyphen": "a\u00adb",
    "json": f'","verdict":"accepted","app":{{"id":"{FORGED}"}},"x":"', "backslash": "a\\u001b[2J\\n", "journal": "\n<0>panic\n", "sse": f"\n\nevent: opened\ndata: {LINE}\n\n",
    "header": "\r\nX-Forged: 1\r\n\r\n", "metric": '"} 1\nforged_total{x="', "long": "\x1b" * 3000, "percent": "%1b%5b2J%0a",
    "broken": b"a\xff\xfe\x80b", "overlong": b"a\xc0\x8a\xe0\x80\x9bb", "surrogate": b"a\xed\xa0\x80b", "cut": b"a\xf0\x9f",
}


# ---- what may be written ----------------------------------------------------------------------------------------

FORBIDDEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


def raw(data, joiners=False):
    """What of these bytes a terminal could act on, or is no text; nothing when all is well."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return f"not UTF-8: {data[max(0, error.start - 40):error.end + 40]!r}"
    # Scripts need the two joiners, so names may have them; what a signature or a rule of ours does not vouch for may not.
    allowed = "\n\u200c\u200d" if joiners else "\n"
    found = {c for c in text if c not in allowed and unicodedata.category(c) in FORBIDDEN} | ({"\u0378", "\ufffe"} & set(text))
    if found:
        at = min(text.index(c) for c in found)
        return f"{sorted(map(hex, map(ord, found)))} near {text[max(0, at - 60):at + 60]!r}"
    return None


def forged(data):
    """A line that is not ours: what the texts would make if a line end of theirs worked."""
    # A line end of any kind, were it not escaped.
    found = re.search(rf"(^|[\r\x0b\x0c\x85\u2028\u2029])(({re.escape(LINE)})|<0>panic|data: OK|forged_total|X-Forged)", data.decode(errors="replace"), re.MULTILINE)
    return found and f"forged: {data.decode(errors='replace')[max(0, found.start() - 80):found.end() + 80]!r}"


def objects(data, count=None):
    """What is wrong with lines of JSON: each an object without a name twice, none of them forged."""
    lines = data.decode(errors="replace").splitlines()
    for line in lines:
        try:
            row = json.loads(line, object_pairs_hook=single)
        except ValueError as error:
            return f"{error}: {line[:200]}"
        if isinstance(row.get("app"), dict) and row["app"].get("id") == FORGED:
            return f"forged: {line[:200]}"
    return count is not None and len(lines) != count and f"{len(lines)} lines for {count} files"


def single(pairs):
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a name twice")
    return dict(pairs)


def clean(name, done, count=None, statuses=(0, 1, 2, 3)):
    is_json = done.out.startswith(b"{")
    check(name, done.status not in statuses and f"exit status {done.status}", raw(done.out), raw(done.err), forged(done.out), forged(done.err),
          is_json and objects(done.out, count))


# ---- where text can stand ---------------------------------------------------------------------------------------

MARK = "\ue123MARK\ue123"


def placed(body, text):
    """The document with the mark replaced: escaped as JSON must, or raw where the text is no UTF-8."""
    mark = json.dumps(MARK, ensure_ascii=False)[1:-1].encode()
    value = text if isinstance(text, bytes) else json.dumps(text)[1:-1].encode()
    return body.replace(mark, value)


def as_bytes(text):
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")


def merged(name, value):
    return lambda document: {**document, name: value}


def app_with(name):
    def place(text):
        return p.package(app={name: MARK}, header_text=lambda body: placed(body, text), files=lambda files: app_json(files, text))
    return place


def app_json(files, text):
    return {**files, "app.json": placed(files["app.json"], text)}


def header_with(name, value):
    return lambda text: p.package(header=merged(name, value), header_text=lambda body: placed(body, text))


def capabilities(text):
    value = {"network": {"hosts": [MARK]}, MARK: {"x": MARK}}
    return p.package(header=merged("capabilities", value), header_text=lambda body: placed(body, text),
                     files=lambda files: {**files, "capabilities.json": placed(p.compact(value), text)})


def certificate_with(name, value):
    return lambda text: p.package(cert=p.certificate(change={name: value}, text=lambda body: placed(body, text)))


def envelope_with(which, change):
    def place(text):
        options = dict(env=lambda envelope: change(envelope), env_text=lambda body: placed(body, text))
        return p.package(cert=p.certificate(**options)) if which == "certificate" else p.package(
            header_env=options["env"], header_env_text=options["env_text"])
    return place


def with_keyid(envelope):
    return {**envelope, "signatures": [{**entry, "keyid": MARK} for entry in envelope["signatures"]]}


def path_in_archive(text):
    return p.package(files=lambda files: {**files, b"assets/" + as_bytes(text): b"x"})


def member_only(text):
    return p.package(members=lambda members: members + wire.file_members(b"assets/" + as_bytes(text), b"x"))


def member_of_app_json(text):
    return p.package(files=lambda files: {**files, "app.json": placed(p.compact({**p.APP, MARK: MARK}), text)})


PACKAGES = {
    **{f"app.{name}": app_with(name) for name in ("name", "version", "id")},
    "header, unknown member": header_with(MARK, 1), "header, annotation": header_with("annotations", {"note": MARK}),
    "header, name of an annotation": header_with("annotations", {MARK: "x"}), "header, runtime": header_with("runtime", {"minimum": MARK}),
    "header, signedAt": header_with("signedAt", MARK), "capabilities": capabilities, "path": path_in_archive, "member that is not listed": member_only,
    "app.json, member": member_of_app_json,
    **{f"certificate, {name}": certificate_with(name, value) for name, value in (
        ("publisher", MARK), ("apps", ["com.example.*", MARK]), ("serial", MARK), (MARK, 1), ("annotations", {"note": MARK}), ("content", [MARK]))},
    **{f"{which}, {name}": envelope_with(which, change) for which in ("certificate", "header") for name, change in (
        ("key id", with_keyid), ("unknown member", merged(MARK, 1)), ("payload type", merged("payloadType", MARK)))},
}


def list_with(**changes):
    return lambda text: p.revocations(text=lambda body: placed(body, text), **changes)


LISTS = {
    "unknown member": lambda text: p.revocations(hook=merged(MARK, 1), text=lambda body: placed(body, text)),
    "publisher of a transfer": list_with(transfers={"com.example.orders": MARK}), "app of a transfer": list_with(transfers={MARK: "Example Ltd"}),
    "app of a floor": list_with(minimumBuilds={MARK: 1}), "serial": list_with(certificates=[MARK]), "package": list_with(packages=[MARK]),
    "annotation": list_with(annotations={"note": MARK}), "issuer": list_with(issuedAt=MARK),
    "key id": lambda text: p.revocations(env=with_keyid, env_text=lambda body: placed(body, text)),
}


def sample(items, step, turn=0):
    """All of them, or every so many, beginning with another one each turn."""
    items = list(items)
    return items if LONG else items[turn % step::step]


# ---- the tool ---------------------------------------------------------------------------------------------------


def made(place):
    """A file for each pair of text and place: (its path, its name)."""
    files, lists = [], []
    for number, ((what, build), (name, text)) in enumerate(sample(itertools.product(PACKAGES.items(), TEXTS.items()), 2)):
        path = place / f"package-{number}.nshpkg"
        path.write_bytes(build(text).data)
        files.append((path, f"{what}, {name}"))
    for number, ((what, build), (name, text)) in enumerate(sample(itertools.product(LISTS.items(), TEXTS.items()), 2)):
        path = place / f"list-{number}.json"
        path.write_bytes(build(text))
        lists.append((path, f"list, {what}, {name}"))
    return files, lists


def packages(place, files):
    """Each verb that judges packages, many files a run; as text, with the chain, as JSON."""
    root, at = place / "root.pub", str(p.NOW)
    size = 25 if LONG else 120
    for start in range(0, len(files), size):
        group = [path for path, _ in files[start:start + size]]
        name = f"{files[start][1]} and {len(group) - 1} more"
        for more in ([], ["-v"], ["--json"]):
            clean(f"M8 verify {' '.join(more)}: {name}", run("verify", *group, "--root", root, "--at", at, *more), len(group), (0, 1))
            if more != ["-v"]:
                clean(f"M8 inspect {' '.join(more)}: {name}", run("inspect", *group, *more), len(group), (0, 1))
                clean(f"M8 inspect with roots {' '.join(more)}: {name}", run("inspect", *group, "--root", root, "--at", at, *more), len(group), (0, 1))
    accepted = 0
    for number, (path, name) in enumerate(sample(files, 15)):
        more = ["--json"] if number % 2 else ["-v"]
        done = run("extract", path, place / "tree", "--root", root, "--at-signing", *more)
        clean(f"M8 extract: {name}", done, 1, (0, 1, 3))
        check(f"B9 extract: {name}: a refused tree is not there", done.status != 0 and (place / "tree").exists() and "it is")
        accepted += done.status == 0
        run_away(place / "tree")
        clean(f"M8 open: {name}", run("open", path, "--root", root, "--state", place / "state", "--at-signing", *more), 1, (0, 1, 3))
        clean(f"M8 recertify: {name}", run("recertify", path, "--certificate", path, "-o", place / "again", *more))
        clean(f"M8 rotate: {name}", run("rotate", "--check", "--old", root, "--new", place / "other.pub", "--package", path, *more))
    for words in (["events"], ["apps"], ["status"], ["check"]):
        for more in ([], ["--json"], ["-v"]):
            clean(f"M8 store {words[0]} {' '.join(more)}", run("store", *words, "--state", place / "state", *more), None, (0, 2))
    print(f"{len(files)} packages, {accepted} of the extracted were accepted with the text in them")


def run_away(path):
    import shutil
    shutil.rmtree(path, ignore_errors=True)


def lists(place, files):
    root, good = place / "root.pub", place / "good.nshpkg"
    paths = [path for path, _ in files]
    for more in ([], ["--json"]):
        for start in range(0, len(paths), 60):
            clean(f"M8 inspect lists {' '.join(more)} from {start}", run("inspect", *paths[start:start + 60], "--root", root, *more), len(paths[start:start + 60]))
    for number, (path, name) in enumerate(sample(files, 10)):
        more = ["--json"] if number % 2 else []
        clean(f"M8 update-revocations: {name}", run("update-revocations", path, "--root", root, "--state", place / "lists", *more), 1)
        clean(f"M8 verify --revocations: {name}", run("verify", good, "--root", root, "--revocations", path, "--at", str(p.NOW), *more), 1)
        clean(f"M8 revoke --previous: {name}", run("revoke", "--root", place / "own.secret", "--previous", path, "-o", place / "next", *more))
    for more in ([], ["--json"]):
        clean("M8 store status with lists", run("store", "status", "--state", place / "lists", *more))


def names(place):
    """Texts as names of files and values of options, in every verb."""
    verbs = re.findall(r"^  (\w[\w-]*(?: [a-z-]+)?)", run("help").out.decode(), re.MULTILINE)
    root = str(place / "root.pub")
    for number, (name, text) in enumerate(TEXTS.items()):
        odd = as_bytes(text).replace(b"/", b"_").replace(b"\0", b"")[:200]
        path = os.fsencode(place) + b"/" + odd
        with open(path, "wb") as file:
            file.write(b"x")
        for words in sample((["verify", path, "--root", root], ["verify", path, "--root", root, "--json"], ["verify", place / "good.nshpkg", "--root", path],
                      ["inspect", path], ["inspect", path, "--json"], ["open", path, "--root", root, "--state", place / "state"],
                      ["extract", path, place / "tree", "--root", root], ["extract", place / "good.nshpkg", path, "--root", root, "--at-signing"],
                      ["keygen", path + b"/x", "--no-password"], ["keygen", path, "--password-file", path], ["store", "status", "--state", path],
                      ["update-revocations", path, "--root", root, "--state", place / "state"], ["store", "import", path, "--state", place / "state"],
                      ["verify", path, "--socket", path], ["pae", path], ["cosign", path, "--root", path, "-o", path], ["roots", "--root", path, "--json"],
                      ["roots", "--root", path]), 5, number):
            clean(f"M8 name {name}: {words[0]}", run(*words))
        for option in sample(("--at", "--threshold", "--runtime", "--max-list-age"), 4, number):
            clean(f"M8 value {name}: verify {option}", run("verify", place / "good.nshpkg", "--root", root, option, odd), None, (0, 2, 3))
        for words in sample((["certify", "--root", place / "own.secret", "--key", root, "--publisher", odd, "--apps", odd, "--days", "1", "-o", place / "c"],
                      ["certify", "--root", place / "own.secret", "--key", root, "--publisher", "P", "--apps", odd, "--days", odd, "-o", place / "c"],
                      ["publish", place, "--key", place / "own.secret", "--certificate", root, "--id", odd, "--name", odd, "--version", odd, "--build", odd,
                       "--annotate", b"a=" + odd, "-o", place / "p"], ["store", "remove", odd, "--state", place / "state"],
                      ["store", "forget-root", odd, "--state", place / "state"], ["revoke", "--root", place / "own.secret", "--first", "--key", odd, "--package", odd,
                       "--min-build", odd + b"=1", "--transfer", b"com.example.a=" + odd, "-o", place / "l"], [odd], ["help", odd], [b"--" + odd], ["store", odd],
                      ["attach", path, "--signature", odd, "--key", root, "-o", place / "a"]), 4, number):
            clean(f"M8 argument {name}: {os.fsdecode(words[0])!a}", run(*words))
        if LONG or number % 18 == 0:
            for verb in verbs:
                clean(f"M8 operand {name}: {verb}", run(*verb.split(), odd, odd, "--json"))
        for variable in sample(("NSH_TRUST_ROOTS", "NSH_TRUST_STATE", "NSH_TRUST_SOCKET", "SOURCE_DATE_EPOCH", "XDG_CONFIG_HOME", "HOME"), 6, number):
            clean(f"M8 {variable} {name}", run("verify", place / "good.nshpkg", environment={variable: os.fsdecode(odd)}))
        os.unlink(path)


def key_files(place):
    """Texts in key files."""
    for number, (name, text) in enumerate(TEXTS.items()):
        (place / "odd.pub").write_bytes(as_bytes(text))
        secret = json.loads((place / "own.secret").read_text())
        for member in sample(("cipher", "format", "kdf", "nonce", "public", "salt", "secret", MARK), 8, number):
            (place / "odd.secret").write_bytes(placed(p.compact({**secret, member: MARK}), text))
            done = run("certify", "--root", place / "odd.secret", "--key", place / "root.pub", "--publisher", "P", "--apps", "a.b", "--days", "1", "-o", place / "c")
            clean(f"M8 key file, {member!a}, {name}", done, None, (1, 3))
            clean(f"M8 inspect key file, {member!a}, {name}", run("inspect", place / "odd.secret"))
        clean(f"M8 public key file, {name}", run("verify", place / "good.nshpkg", "--root", place / "odd.pub"))


# ---- the daemon -------------------------------------------------------------------------------------------------


def daemon(place, files, log_format):
    """The same files and texts through the daemon: answers, events, log, metrics."""
    served = Daemon(scratch(), ["--log-format", log_format], wait=None)
    served.trust(place / "root.pub")
    everything = {}
    for number, (name, text) in enumerate(TEXTS.items()):
        odd = os.fsencode(served.roots) + b"/" + as_bytes(text).replace(b"/", b"_").replace(b"\0", b"")[:200] + b".pub"
        with open(odd, "wb") as file:
            file.write(as_bytes(text))
        (served.lists / f"{number}.json").write_bytes(as_bytes(text))
    with served.start():
        follower = raw_follower(served)
        for number, (path, name) in enumerate(sample(files, 20)):
            verb = "open" if number % 2 else "verify"
            if number % 3:
                answer = served.post(f"/v1/packages/{verb}", {"path": str(path)})
            else:
                answer = served.ask("POST", f"/v1/packages/{verb}", path.read_bytes(), {"Content-Type": PACKAGE})
            judge(f"M8 daemon {verb}: {name}", answer, everything)
        for name, text in TEXTS.items():
            quoted = urllib.parse.quote(as_bytes(text), safe="")
            for method, target in (("GET", f"/v1/apps/{quoted}"), ("GET", f"/v1/{quoted}"), ("GET", f"/v1/events?after={quoted}"), ("GET", f"/v1/apps?{quoted}=1")):
                judge(f"M8 daemon {target[:12]}… {name}", served.ask(method, target), everything)
            if isinstance(text, str):
                for body in ({"path": text}, {"path": "/" + text}, {text: 1}, {"digest": text}):
                    for target in ("verify", "open", "check"):
                        judge(f"M8 daemon {target} {name}", served.post(f"/v1/packages/{target}", body), everything)
            head = b"POST /v1/packages/verify HTTP/1.1\r\nHost: localhost\r\nContent-Type: " + as_bytes(text) + b"\r\nX-" + as_bytes(text) + b": 1\r\nContent-Length: 0\r\n\r\n"
            judge_raw(f"M8 daemon, header {name}", exchange(served.socket, head))
            judge_raw(f"M8 daemon, method {name}", exchange(served.socket, as_bytes(text) + b" /v1/health HTTP/1.1\r\nHost: " + as_bytes(text) + b"\r\n\r\n"))
            judge(f"M8 daemon, list {name}", served.ask("POST", "/v1/revocations", as_bytes(text), {"Content-Type": "application/json"}), everything)
        for target in ("/v1/events", "/v1/events?limit=1000", "/v1/status", "/v1/apps", "/v1/revocations", "/metrics", "/v1/health"):
            judge(f"M8 daemon {target}", served.get(target), everything)
        within(5, lambda: len(follower.data) > 1000)
        follower.stop()
        said = follower.said()
        check("M8 server-sent events", not said and "none", raw(said), forged(said),
              *[f"{line[:200]!r}" for line in said.split(b"\n")[:-1] if line and not re.match(rb"(id|event|data): |:", line)][:2])
    log = served.log_path.read_bytes()
    lines = log.splitlines()
    check(f"M8 {log_format} log: {len(lines)} lines", raw(log), forged(log), not lines and "empty",
          *[f"{line[:200]!r}" for line in lines if not (line.startswith(b"{") if log_format == "json" else re.match(rb"<[3-7]>", line))][:2],
          log_format == "json" and objects(log))
    print(f"daemon, {log_format}: answers {everything}")


class raw_follower:
    """Server-sent events as they come over the socket."""

    def __init__(self, served):
        import threading
        self.sock, self.data = connect(served.socket, timeout=60), b""
        self.sock.sendall(b"GET /v1/events?follow=true&after=0 HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        try:
            while piece := self.sock.recv(65536):
                self.data += piece
        except OSError:
            pass

    def said(self):
        """The stream itself, without the head of the answer and the sizes of its pieces."""
        rest, said = self.data.partition(b"\r\n\r\n")[2], b""
        while match := re.match(rb"([0-9a-fA-F]+)\r\n", rest):
            size = int(match[1], 16)
            said += rest[match.end():match.end() + size]
            rest = rest[match.end() + size + 2:]
        return said

    def stop(self):
        import socket
        self.sock.shutdown(socket.SHUT_RDWR)
        self.thread.join(5)
        self.sock.close()


def exchange(path, data):
    sock = connect(path, timeout=10)
    answer = b""
    try:
        sock.sendall(data)
        sock.shutdown(1)
        while piece := sock.recv(65536):
            answer += piece
    except OSError:
        pass
    sock.close()
    return answer


def judge(name, answer, everything):
    everything[answer.status] = everything.get(answer.status, 0) + 1
    head = "\n".join(f"{key}: {value}" for key, value in answer.headers.items()).encode("latin-1")
    check(name, answer.status not in (200, 400, 403, 404, 405, 409, 413, 414, 415, 416, 422, 431) and str(answer), raw(head), raw(answer.body),
          "x-forged" in answer.headers and "a forged header", forged(answer.body), answer.body.startswith(b"{") and objects(answer.body.replace(b"\n", b" ") + b"\n"))


def judge_raw(name, answer):
    check(name, raw(answer.replace(b"\r\n", b"\n")), b"X-Forged" in answer and f"{answer!r}", answer and not answer.startswith(b"HTTP/1.1 ") and f"{answer[:100]!r}")


def self_test():
    """The scan itself finds what it is to find."""
    for name, text in TEXTS.items():
        if name not in ("json", "backslash", "percent"):
            check(f"the scan finds {name}", not (raw(as_bytes(text)) or forged(as_bytes(text).replace(b'"} ', b""))) and "it does not")
    check("and a forged object", not objects(b'{"verdict":"refused","app":{"id":"com.example.forged"}}\n') and "it does not")
    check("and a name twice", not objects(b'{"a":1,"a":2}\n') and "it does not")


def main():
    needs_programs()
    place = scratch()
    for name, key in (("root", p.ROOT1), ("other", p.ROOT2)):
        (place / f"{name}.pub").write_text(wire.b64(key.public) + "\n")
    run("keygen", place / "own", "--no-password", "--quiet")
    (place / "good.nshpkg").write_bytes(p.package().data)
    (place / "corpus").mkdir()
    self_test()
    files, revocations = made(place / "corpus")
    for part, arguments in ((packages, (place, files)), (lists, (place, revocations)), (names, (place,)), (key_files, (place,)),
                            (daemon, (place, files, "text")), (daemon, (place, files, "json"))):
        with checks.part(f"{part.__name__}{' ' + arguments[-1] if isinstance(arguments[-1], str) else ''}"):
            part(*arguments)
    checks.finish()


if __name__ == "__main__":
    main()

"""Cross-builds packages: the tool's are judged by the reference reader, the reference's by the tool.

Verdict, code, digest and number of files are compared. Both programs' answers are kept under NSH_TEST_LOGS.
"""
import base64
import hashlib
import json
import os
import pathlib
import random
import tarfile
import zipfile

from common_publishing import NOW, REFERENCE, SIGNED_AT, Checks, certify, has_verb, keygen, reference, run, tool

APP = {"id": "com.example.orders", "name": "Orders", "version": "1.4.0", "build": 42}
ANSWERS = []


def put(directory, files):
    for name, data in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return directory


def trees():
    """Apps of every shape: name -> files."""
    app = json.dumps(APP)
    chance = random.Random(7)
    long = "d" * 150 + "/" + "e" * 100
    return {
        "least": {"app.json": app, "bundle.js": "x"},
        "empty bundle": {"app.json": app, "bundle.js": ""},
        "bytecode": {"app.json": app, "bundle.nshc": bytes(range(256)) * 40},
        "older bytecode": {"app.json": app, "bundle.qbc": b"\0" * 513},
        "capabilities": {"app.json": app, "bundle.js": "x", "capabilities.json": json.dumps(
            {"network": {"hosts": ["*.example.com"]}, "list": [1, -2, None, True, {"é": "\u2028"}], "": {}}, indent=1)},
        "more in app.json": {"app.json": json.dumps(APP | {"ratio": 1.50, "deep": {"a": [1e3, -0.0]}}), "bundle.js": "x"},
        "names": {"app.json": app, "bundle.js": "x", "assets/é/ü€": "1", long: "2", "f" * 156 + "/" + "g" * 99: "3",
                  "/".join("h" * 31 for _ in range(32)): "4", "assets/ 0": "5", "assets/日本": "6", "bundle.js.map": "{}",
                  "-": "", "assets/-": "7"} | {"ok": "8"},
        "sizes": {"app.json": app, "bundle.js": "x"} | {f"assets/{n}": bytes(n) for n in (0, 1, 511, 512, 513, 1023, 1024)},
        "chunks": {"app.json": app, "bundle.js": chance.randbytes(1 << 20), "assets/a": chance.randbytes((1 << 20) + 1),
                   "assets/b": chance.randbytes(3_000_000)},
        "many": {"app.json": app, "bundle.js": "x"} | {f"assets/{n % 37}/{n}": str(n) for n in range(1500)},
    }


def keep(name, tools, references):
    ANSWERS.append({"case": name, "tool": tools, "reference": references})


def setting(directory):
    keygen(directory, "root", "other", "release")
    certify(directory)
    seed = json.loads((directory / "release.secret").read_bytes())["secret"]
    (directory / "release.seed").write_text(seed)


def judged_by_reference(directory, package, *more, root="root.pub"):
    return reference("verify", package, "--root", root, "--at", NOW, *more, directory=directory).json()


def ours_judged_there(checks, directory):
    setting(directory)
    for name, files in trees().items():
        files.pop("-", None)
        source = put(directory / name, files)
        answers = {}
        for compression in ("none", "zstd"):
            package = f"{name}.{compression}.nshpkg"
            made = tool("publish", source, "--key", "release.secret", "--certificate", "release.cert", "--compression",
                        compression, "--root", "root.pub", "--json", "-o", package, directory=directory).json()
            theirs = judged_by_reference(directory, package)
            keep(f"ours: {package}", made, theirs)
            if not checks.equal(f"{package}: verdict", (theirs["verdict"], theirs.get("code")), ("accepted", None)):
                continue
            checks.equal(f"{package}: digest", theirs["digest"], made["digest"])
            checks.equal(f"{package}: files", (theirs["files"], made["files"]), (len(files), len(files)))
            checks.equal(f"{package}: app", theirs["app"], made["app"])
            checks.equal(f"{package}: stranger's root",
                         judged_by_reference(directory, package, root="other.pub").get("code"), "untrustedRoot")
            answers[compression] = made["manifest"]
        checks.equal(f"{name}: one manifest whatever the compression", len(set(answers.values())), 1)


def same_input_same_bytes(checks, directory):
    """A directory, its copy, a tar of it in another order and a zip of it give one package."""
    setting(directory)
    files = trees()["names"]
    files.pop("-", None)
    source = put(directory / "app", files)
    copy = put(directory / "copy", dict(reversed(files.items())))
    os.utime(copy / "bundle.js", (1, 1))
    os.chmod(copy / "app.json", 0o600)
    with tarfile.open(directory / "app.tar.xz", "w:xz", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(files, reverse=True):
            archive.add(source / name, arcname="./" + name)
    with zipfile.ZipFile(directory / "app.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in files:
            archive.write(source / name, name)
    packages = []
    for number, input in enumerate(("app", "app", "copy", "app.tar.xz", "app.zip")):
        tool("publish", input, "--key", "release.secret", "--certificate", "release.cert", "-o", f"{number}.nshpkg",
             directory=directory)
        packages.append((directory / f"{number}.nshpkg").read_bytes())
    for number, name in enumerate(("again", "copy", "tar.xz", "zip"), 1):
        checks.check(f"{name}: same bytes", packages[number] == packages[0])
    tool("publish", "app", "--key", "release.secret", "--certificate", "release.cert", "-o", "later.nshpkg",
         directory=directory, SOURCE_DATE_EPOCH=str(SIGNED_AT + 1))
    checks.check("another time gives other bytes", (directory / "later.nshpkg").read_bytes() != packages[0])


def changed_ones_refused_there(checks, directory):
    """The reference refuses what was changed after signing; so does the tool, with the same code."""
    setting(directory)
    source = put(directory / "app", trees()["sizes"])
    tool("publish", source, "--key", "release.secret", "--certificate", "release.cert", "--compression", "none", "-o",
         "a.nshpkg", directory=directory)
    data = (directory / "a.nshpkg").read_bytes()
    for name, changed in {
        "payload": data[:-3000] + bytes([data[-3000] ^ 1]) + data[-2999:], "cut": data[:-1], "longer": data + b"\0",
        "prefix": data[:10], "magic": b"\x88" + data[1:], "version": data[:8] + b"\2" + data[9:],
    }.items():
        (directory / "changed.nshpkg").write_bytes(changed)
        theirs = judged_by_reference(directory, "changed.nshpkg")
        checks.equal(f"{name}: reference", theirs["verdict"], "refused")
        if has_verb("verify"):
            compare(checks, directory, name, "changed.nshpkg")


def judged_by_tool(directory, package, *more):
    result = tool("verify", package, "--root", "root.pub", "--at", NOW, "--json", *more, directory=directory, status=None)
    return result.json()


def compare(checks, directory, name, package, *more, options=()):
    """Both judge a package; verdict, code and, if accepted, digest and files must agree."""
    ours, theirs = judged_by_tool(directory, package, *options), judged_by_reference(directory, package, *more)
    keep(name, ours, theirs)
    agree = checks.equal(f"{name}: verdict and code", (ours["verdict"], ours.get("code")),
                         (theirs["verdict"], theirs.get("code")))
    if agree and theirs["verdict"] == "accepted":
        checks.equal(f"{name}: digest", ours["digest"], theirs["digest"])
        checks.equal(f"{name}: files", ours["files"], theirs["files"])
    return theirs


def theirs_judged_here(checks, directory):
    if not has_verb("verify"):
        return checks.skip("packages of the reference", "the tool has no verb verify")
    setting(directory)
    for name, files in trees().items():
        source = put(directory / name, files)
        for compression in ("none", "zstd"):
            package = f"{name}.{compression}.nshpkg"
            built = reference("build", source, "--key", "release.seed", "--certificate", "release.cert", "--compression",
                              compression, "--signed-at", SIGNED_AT, "-o", package, directory=directory)
            if not checks.equal(f"{package}: built", built.status, 0):
                continue
            theirs = compare(checks, directory, f"theirs: {package}", package)
            # The names hold one that no reader takes: both must say so.
            checks.equal(f"{package}: expected", theirs.get("code"), "unsafePath" if name == "names" else None)


def renewed_certificates(checks, directory):
    if not has_verb("recertify"):
        return checks.skip("recertify", "the tool has no verb recertify")
    setting(directory)
    source = put(directory / "app", trees()["capabilities"])
    made = tool("publish", source, "--key", "release.secret", "--certificate", "release.cert", "--json", "-o", "a.nshpkg",
                directory=directory).json()
    tool("certify", "--root", "root.secret", "--renew", "release.cert", "--not-after", NOW + 10**8, "-o", "renewed.cert",
         directory=directory)
    tool("recertify", "a.nshpkg", "--certificate", "renewed.cert", "-o", "b.nshpkg", directory=directory)
    later = NOW + 9 * 10**7
    before = reference("verify", "a.nshpkg", "--root", "root.pub", "--at", later, directory=directory).json()
    after = reference("verify", "b.nshpkg", "--root", "root.pub", "--at", later, directory=directory).json()
    checks.equal("before: code", before.get("code"), "certificateExpired")
    checks.equal("after: verdict", after["verdict"], "accepted")
    checks.equal("after: digest", after.get("digest"), made["digest"])


def lists_judged_there(checks, directory):
    """Lists that the tool makes stop there, and here, what they name."""
    setting(directory)
    source = put(directory / "app", trees()["least"])
    made = tool("publish", source, "--key", "release.secret", "--certificate", "release.cert", "--json", "-o", "a.nshpkg",
                directory=directory).json()
    previous = None
    for name, options, code in (
        ("key", ["--key", "release.pub"], "keyRevoked"),
        ("certificate", ["--certificate", "release.cert"], "certificateRevoked"),
        ("digest", ["--package", made["digest"]], "packageRevoked"),
        ("manifest", ["--package", made["manifest"]], "packageRevoked"),
        ("package file", ["--package", "a.nshpkg"], "packageRevoked"),
        ("floor", ["--min-build", "com.example.orders=43"], "belowMinimumBuild"),
        ("floor at the build", ["--min-build", "com.example.orders=42"], None),
        ("ceiling", ["--max-build", "com.example.orders=41"], "aboveMaximumBuild"),
        ("expired", ["--expires", str(NOW - 1)], "revocationsStale"),
        ("withdrawn root", ["--withdraw-root"], "rootWithdrawn"),
        ("nothing", [], None),
    ):
        tool("revoke", "--root", "root.secret", "--first", *options, "-o", "list.json", directory=directory)
        theirs = judged_by_reference(directory, "a.nshpkg", "--revocations", "list.json")
        checks.equal(f"{name}: code", theirs.get("code"), code)
        if has_verb("verify"):
            compare(checks, directory, f"list: {name}", "a.nshpkg", "--revocations", "list.json",
                    options=["--revocations", "list.json"])
    tool("revoke", "--root", "root.secret", "--first", "--key", "release.pub", "-o", "1.json", directory=directory)
    tool("revoke", "--root", "root.secret", "--previous", "1.json", "--min-build", "com.example.x=1", "-o", "2.json",
         directory=directory)
    hash = hashlib.sha256(base64.b64decode((directory / "release.pub").read_bytes())).hexdigest()
    tool("revoke", "--root", "root.secret", "--previous", "2.json", "--restore", hash, "-o", "3.json", directory=directory)
    for number, code in ((1, "keyRevoked"), (2, "keyRevoked"), (3, None)):
        checks.equal(f"list {number}: code",
                     judged_by_reference(directory, "a.nshpkg", "--revocations", f"{number}.json").get("code"), code)
    both = judged_by_reference(directory, "a.nshpkg", "--revocations", "1.json", "--revocations", "3.json")
    checks.equal("the newest of two counts", both.get("code"), None)


def installed_tree_checks_itself(checks, directory):
    if not has_verb("extract"):
        return checks.skip("sha256sum", "the tool has no verb extract")
    setting(directory)
    files = trees()["many"]
    source = put(directory / "app", files)
    tool("publish", source, "--key", "release.secret", "--certificate", "release.cert", "-o", "a.nshpkg", directory=directory)
    tool("extract", "a.nshpkg", "tree", "--root", "root.pub", "--at", NOW, directory=directory)
    result = run("sha256sum", "-c", "--quiet", "--strict", "SHA256SUMS", directory=directory / "tree")
    checks.equal("sha256sum -c", result.status, 0)
    found = sorted(str(path.relative_to(directory / "tree")) for path in (directory / "tree").rglob("*") if path.is_file())
    checks.equal("files", found, sorted([*files, "SHA256SUMS"]))


def write_answers(checks, directory):
    logs = os.environ.get("NSH_TEST_LOGS")
    if logs:
        pathlib.Path(logs, "packages-answers.json").write_text(json.dumps(ANSWERS, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    checks = Checks()
    if not REFERENCE.exists():
        checks.skip("everything", f"no reference reader at {REFERENCE}")
        checks.run()
    checks.run(ours_judged_there, same_input_same_bytes, changed_ones_refused_there, theirs_judged_here,
               renewed_certificates, lists_judged_there, installed_tree_checks_itself, write_answers)

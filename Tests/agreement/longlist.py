"""A very long revocation list: applied whole, in bounded time and memory, and its last entry counts.

    NSH_PKGTOOL=… .venv/bin/python Tests/agreement/longlist.py        NSH_LONG=1: a million entries instead of a hundred thousand

Holds I13 and C21 of docs/known-attacks.md. PyNaCl signs the list, so that its making takes no part in what is measured.
"""
import base64
import hashlib
import json
import os
import resource

from common_publishing import NOW, Checks, certify, keygen, tool
from nacl.signing import SigningKey

COUNT = 1_000_000 if os.environ.get("NSH_LONG") == "1" else 100_000
TYPE = b"application/vnd.nsh.revocations.v1+json"


def b64(data):
    return base64.b64encode(data).decode()


def signed(payload, key):
    message = b"DSSEv1 %d %s %d %s" % (len(TYPE), TYPE, len(payload), payload)
    return {"payload": b64(payload), "payloadType": TYPE.decode(), "signatures": [{"sig": b64(key.sign(message).signature)}]}


def make_list(directory, last):
    """Revokes so many keys that nobody has, and then one that somebody has."""
    key = SigningKey(base64.b64decode(json.loads((directory / "root.secret").read_bytes())["secret"]))
    entries = [hashlib.sha256(b"%d" % number).hexdigest() for number in range(COUNT - 1)] + [last]
    payload = {"certificates": [], "issuedAt": NOW - 100, "issuer": hashlib.sha256(bytes(key.verify_key)).hexdigest(),
               "keys": entries, "minimumBuilds": {}, "packages": [], "revokesIssuer": False, "sequence": 1}
    (directory / "long.json").write_text(json.dumps(signed(json.dumps(payload).encode(), key)))
    return (directory / "long.json").stat().st_size


def timed(*arguments, **options):
    """What the tool answers, and the processor time that it took: other programs may be busy beside it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer = tool(*arguments, **options).json()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return answer, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def applied(checks, directory):
    for name in ("root", "release", "other"):
        keygen(directory, name)
    (directory / "app").mkdir()
    (directory / "app" / "bundle.js").write_text("1\n")
    for name in ("release", "other"):
        certify(directory, key=f"{name}.pub", output=f"{name}.cert")
        tool("publish", "app", "--key", f"{name}.secret", "--certificate", f"{name}.cert", "--id", f"com.example.{name}",
             "--name", "N", "--version", "1", "--build", "1", "-o", f"{name}.nshpkg", directory=directory)
    size = make_list(directory, hashlib.sha256(base64.b64decode((directory / "release.pub").read_bytes())).hexdigest())
    answer, took = timed("update-revocations", "long.json", "--state", "store", "--root", "root.pub", "--json", directory=directory)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    print(f"{COUNT} entries, {size >> 20} MiB: applied in {took:.1f} s of processor time, {peak} MiB")
    checks.check("the list is applied", answer["changed"], answer)
    checks.check("in bounded time", took < 5 + COUNT / 20_000, f"{took:.1f} s")
    checks.check("in bounded memory: a few times its size", peak < 100 + 12 * (size >> 20), f"{peak} MiB")
    for name, status, code in (("release", 1, "keyRevoked"), ("other", 0, None)):
        answer, took = timed("verify", f"{name}.nshpkg", "--root", "root.pub", "--state", "store", "--at", NOW, "--json",
                             directory=directory, status=status)
        checks.equal(f"{name}: the last entry counts, and no other", answer["code"], code)
        checks.check(f"{name}: looked up, not searched", took < 0.5, f"{took:.2f} s")


if __name__ == "__main__":
    Checks().run(applied)

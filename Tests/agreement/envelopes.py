"""Holds our DSSE envelopes to securesystemslib, which nobody here wrote, and theirs to our reader.

Certificates, revocation lists and package headers that the tool signs verify there, over the same bytes; what is signed
there through `pae` and `attach` verifies here. Altered ones verify nowhere.
"""
import base64
import copy
import hashlib
import json
import struct

from common_publishing import NOW, REFERENCE, Checks, certify, keygen, reference, tool
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import CryptoSigner, SSlibKey

TYPES = {
    "certificate": "application/vnd.nsh.certificate.v1+json",
    "revocations": "application/vnd.nsh.revocations.v1+json",
    "package": "application/vnd.nsh.package.v1+json",
}


def key_of(directory, name):
    """The key of a .pub file as theirs, under the id that our envelopes hint at."""
    raw = base64.b64decode((directory / f"{name}.pub").read_bytes().rstrip(b"\n"), validate=True)
    return SSlibKey(hashlib.sha256(raw).hexdigest()[:16], "ed25519", "ed25519", {"public": raw.hex()})


def envelope(document):
    return Envelope.from_dict(copy.deepcopy(document))


def verifies(document, keys, threshold=1):
    try:
        return set(envelope(document).verify(keys, threshold))
    except (VerificationError, ValueError):
        return set()


def header_of(path):
    data = path.read_bytes()
    certificate, header = struct.unpack("<II", data[12:20])
    return json.loads(data[20 + certificate:20 + certificate + header]), json.loads(data[20:20 + certificate])


def documents(directory):
    """One document of each kind: (kind, document, the signer's name)."""
    keygen(directory, "root", "root2", "release")
    certify(directory)
    tool("revoke", "--root", "root.secret", "--first", "--key", "release.pub", "--min-build", "com.example.a=4", "-o",
         "list.json", directory=directory)
    app = directory / "app"
    app.mkdir()
    (app / "bundle.js").write_text("hello\n")
    tool("publish", "app", "--key", "release.secret", "--certificate", "release.cert", "--id", "com.example.a", "--name",
         "A é", "--version", "1", "--build", "4", "-o", "a.nshpkg", directory=directory)
    header, certificate = header_of(directory / "a.nshpkg")
    read = lambda name: json.loads((directory / name).read_bytes())
    return [("certificate", read("release.cert"), "root"), ("revocations", read("list.json"), "root"),
            ("package", header, "release"), ("certificate", certificate, "root")]


def ours_verify_there(checks, directory):
    for kind, document, signer in documents(directory):
        key, other = key_of(directory, signer), key_of(directory, "root2")
        checks.equal(f"{kind}: type", document["payloadType"], TYPES[kind])
        checks.equal(f"{kind}: members", set(document), {"payload", "payloadType", "signatures"})
        checks.equal(f"{kind}: signer", verifies(document, [key, other]), {key.keyid})
        checks.equal(f"{kind}: stranger", verifies(document, [other]), set())
        checks.equal(f"{kind}: threshold 2", verifies(document, [key, other], 2), set())
        for name, change in {
            "payload": lambda d: d.update(payload=base64.b64encode(base64.b64decode(d["payload"]) + b" ").decode()),
            "type": lambda d: d.update(payloadType=TYPES["package" if kind != "package" else "certificate"]),
            "signature": lambda d: d["signatures"][0].update(
                sig=base64.b64encode(bytes([base64.b64decode(d["signatures"][0]["sig"])[0] ^ 1])
                                     + base64.b64decode(d["signatures"][0]["sig"])[1:]).decode()),
        }.items():
            altered = copy.deepcopy(document)
            change(altered)
            checks.equal(f"{kind}: altered {name}", verifies(altered, [key]), set())
        payload = base64.b64decode(document["payload"])
        canonical = json.dumps(json.loads(payload), sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
        checks.equal(f"{kind}: payload is compact with sorted names", payload, canonical)


def ours_cosigned_verify_there(checks, directory):
    keygen(directory, "root", "root2", "root3", "release")
    certify(directory)
    tool("revoke", "--root", "root.secret", "--first", "--transfer", "com.example.a=New Ltd", "-o", "list.json",
         directory=directory)
    keys = [key_of(directory, name) for name in ("root", "root2", "root3")]
    for name in ("release.cert", "list.json"):
        tool("cosign", name, "--root", "root2.secret", "-o", f"two-{name}", directory=directory)
        tool("cosign", f"two-{name}", "--root", "root3.secret", "-o", f"three-{name}", directory=directory)
        document = json.loads((directory / f"three-{name}").read_bytes())
        checks.equal(f"{name}: three of three", verifies(document, keys, 3), {key.keyid for key in keys})
        checks.equal(f"{name}: two of two", verifies(json.loads((directory / f"two-{name}").read_bytes()), keys[:2], 2),
                     {key.keyid for key in keys[:2]})


def same_bytes_to_sign(checks, directory):
    for kind, document, _ in documents(directory):
        file = directory / "document"
        file.write_text(json.dumps(document))
        result = tool("pae", file, directory=directory)
        checks.equal(f"{kind}: bytes to sign", result.output, envelope(document).pae())


def hsm(directory):
    """A key whose secret half only the other program has; its public half is hsm.pub."""
    secret = Ed25519PrivateKey.generate()
    public = secret.public_key().public_bytes_raw()
    (directory / "hsm.pub").write_text(base64.b64encode(public).decode() + "\n")
    return CryptoSigner(secret)


def theirs_verify_here(checks, directory):
    """A root that is kept elsewhere signs drafts of ours."""
    signer = hsm(directory)
    keygen(directory, "release", "root")
    certify(directory, root="hsm.pub", output="draft.cert")
    tool("revoke", "--root", "hsm.pub", "--first", "--key", "release.pub", "-o", "draft.json", directory=directory)
    for name in ("draft.cert", "draft.json"):
        draft = json.loads((directory / name).read_bytes())
        checks.equal(f"{name}: no signature yet", draft["signatures"], [])
        to_sign = tool("pae", name, directory=directory).output
        made = signer.sign(to_sign)
        text = base64.b64encode(bytes.fromhex(made.signature)).decode()
        tool("attach", name, "--signature", text, "--key", "hsm.pub", "-o", f"signed-{name}", directory=directory)
        document = json.loads((directory / f"signed-{name}").read_bytes())
        key = key_of(directory, "hsm")
        checks.equal(f"{name}: verifies there", verifies(document, [key]), {key.keyid})
        checks.equal(f"{name}: same payload", document["payload"], draft["payload"])
        # Our reader takes it as signed: a renewal and a next list begin with verifying it.
        wrong = tool("attach", name, "--signature", text, "--key", "root.pub", "-o", "wrong", directory=directory, status=None)
        checks.equal(f"{name}: another key is refused", (wrong.status, (directory / "wrong").exists()), (1, False))
        raw = bytes.fromhex(made.signature)
        broken = base64.b64encode(bytes([raw[0] ^ 1]) + raw[1:]).decode()
        refused = tool("attach", name, "--signature", broken, "--key", "hsm.pub", "-o", "wrong", directory=directory, status=None)
        checks.equal(f"{name}: a broken signature is refused", (refused.status, (directory / "wrong").exists()), (1, False))
        found = tool("inspect", f"signed-{name}", "--root", "hsm.pub", "--json", directory=directory)
        checks.check(f"{name}: inspect takes it as verified", found.status == 0, found.errors)


def their_release_key_signs_a_package(checks, directory):
    """A release key that is kept elsewhere signs the header of a draft; both readers accept the package."""
    signer = hsm(directory)
    keygen(directory, "root")
    certify(directory, key="hsm.pub")
    (directory / "app").mkdir()
    (directory / "app" / "bundle.js").write_text("hello\n")
    tool("publish", "app", "--key", "hsm.pub", "--certificate", "release.cert", "--id", "com.example.a", "--name", "A",
         "--version", "1", "--build", "4", "-o", "draft.nshpkg", directory=directory)
    verdict = lambda package: tool("verify", package, "--root", "root.pub", "--at", NOW, "--json", directory=directory,
                                   status=None).json()
    checks.equal("no reader takes a draft", verdict("draft.nshpkg").get("code"), "malformed")
    signature = bytes.fromhex(signer.sign(tool("pae", "draft.nshpkg", directory=directory).output).signature)
    tool("attach", "draft.nshpkg", "--signature", base64.b64encode(signature).decode(), "--key", "hsm.pub", "-o",
         "signed.nshpkg", directory=directory)
    checks.equal("verdict", verdict("signed.nshpkg")["verdict"], "accepted")
    key = key_of(directory, "hsm")
    checks.equal("header verifies there", verifies(header_of(directory / "signed.nshpkg")[0], [key]), {key.keyid})
    if REFERENCE.exists():
        checks.equal("reference", reference("verify", "signed.nshpkg", "--root", "root.pub", "--at", NOW,
                                            directory=directory).json()["verdict"], "accepted")
    else:
        checks.skip("reference", f"no reference reader at {REFERENCE}")


def drafts_are_stable(checks, directory):
    """A draft is signed by two keys in either order: both orders verify, both readers count two."""
    keygen(directory, "root", "root2", "release")
    certify(directory, root="root.pub", output="draft.cert")
    for order in (("root", "root2"), ("root2", "root")):
        name = "draft.cert"
        for signer in order:
            tool("cosign", name, "--root", f"{signer}.secret", "-o", f"by-{signer}.cert", directory=directory)
            name = f"by-{signer}.cert"
        keys = [key_of(directory, signer) for signer in order]
        document = json.loads((directory / name).read_bytes())
        checks.equal(f"{order}", verifies(document, keys, 2), {key.keyid for key in keys})


if __name__ == "__main__":
    Checks().run(ours_verify_there, ours_cosigned_verify_there, same_bytes_to_sign, theirs_verify_here,
                 their_release_key_signs_a_package, drafts_are_stable)

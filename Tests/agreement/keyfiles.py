"""Holds our key files to PyNaCl: it opens those that the tool wrote, and the tool opens those that it wrote.

The sealing is written here from docs/package-format.md (KEY-6 to KEY-8) alone.
"""
import base64
import json
import os

from common_publishing import Checks, keygen, tool, NOT_AFTER, NOT_BEFORE
from nacl import bindings, exceptions, pwhash
from nacl.signing import SigningKey

NAMES = {"cipher", "format", "kdf", "memory", "nonce", "operations", "public", "salt", "secret"}


def b64(data):
    return base64.b64encode(data).decode()


def associated(document):
    return json.dumps({**document, "secret": ""}, sort_keys=True, separators=(",", ":")).encode()


def open_key(document, passphrase):
    key = pwhash.argon2id.kdf(32, passphrase, base64.b64decode(document["salt"]), opslimit=document["operations"],
                              memlimit=document["memory"])
    return bindings.crypto_aead_xchacha20poly1305_ietf_decrypt(
        base64.b64decode(document["secret"]), associated(document), base64.b64decode(document["nonce"]), key)


def seal_key(seed, passphrase, memory=8192, operations=1, public=None):
    document = {
        "cipher": "xchacha20poly1305", "format": "nsh-secret-key-1", "kdf": "argon2id", "memory": memory,
        "nonce": b64(os.urandom(24)), "operations": operations, "public": b64(public or bytes(SigningKey(seed).verify_key)),
        "salt": b64(os.urandom(16)), "secret": ""}
    key = pwhash.argon2id.kdf(32, passphrase, base64.b64decode(document["salt"]), opslimit=operations, memlimit=memory)
    sealed = bindings.crypto_aead_xchacha20poly1305_ietf_encrypt(
        seed, associated(document), base64.b64decode(document["nonce"]), key)
    return document | {"secret": b64(sealed)}


def ours_open_there(checks, directory):
    (directory / "passphrase").write_text("correct horse é\n")
    tool("keygen", "sealed", "--password-file", "passphrase", directory=directory)
    document = json.loads((directory / "sealed.secret").read_bytes())
    checks.equal("names", set(document), NAMES)
    checks.equal("cost", (document["memory"], document["operations"]), (268435456, 3))
    seed = open_key(document, "correct horse é".encode())
    public = base64.b64decode((directory / "sealed.pub").read_bytes())
    checks.equal("public half", bytes(SigningKey(seed).verify_key), public)
    checks.equal("public in the file", base64.b64decode(document["public"]), public)
    checks.equal("mode", (directory / "sealed.secret").stat().st_mode & 0o7777, 0o600)
    checks.raises("another passphrase", exceptions.CryptoError, lambda: open_key(document, b"correct horse"))
    altered = document | {"public": b64(bytes(32))}
    checks.raises("altered public half", exceptions.CryptoError, lambda: open_key(altered, "correct horse é".encode()))
    keygen(directory, "open")
    plain = json.loads((directory / "open.secret").read_bytes())
    checks.equal("unsealed names", set(plain), NAMES)
    checks.equal("unsealed words", (plain["cipher"], plain["kdf"]), ("none", "none"))
    checks.equal("unsealed public half", b64(bytes(SigningKey(base64.b64decode(plain["secret"])).verify_key)),
                 plain["public"])


def theirs_open_here(checks, directory):
    keygen(directory, "release")
    (directory / "passphrase").write_text("pass")

    def use(name, document, expected, code=None):
        (directory / "their.secret").write_text(json.dumps(document, indent=1))
        os.chmod(directory / "their.secret", 0o600)
        result = tool("certify", "--root", "their.secret", "--key", "release.pub", "--publisher", "E", "--apps", "*",
                      "--not-before", NOT_BEFORE, "--not-after", NOT_AFTER, "--password-file", "passphrase", "-o", "their.cert",
                      directory=directory, status=None)
        checks.equal(name, result.status, expected)
        if code:
            checks.check(f"{name}: {code}", code in result.errors + result.output.decode(), result.errors)

    seed = os.urandom(32)
    use("sealed elsewhere", seal_key(seed, b"pass"), 0)
    use("sealed with another cost", seal_key(seed, b"pass", 1 << 20, 4), 0)
    plain = seal_key(seed, b"pass") | {"cipher": "none", "kdf": "none", "memory": 0, "operations": 0, "secret": b64(seed)}
    use("unsealed elsewhere", plain, 0)
    use("another passphrase", seal_key(seed, b"other"), 3, "wrongPassphrase")
    use("altered nonce", seal_key(seed, b"pass") | {"nonce": b64(bytes(24))}, 3, "wrongPassphrase")
    other = bytes(SigningKey(os.urandom(32)).verify_key)
    use("public half of another key, sealed", seal_key(seed, b"pass", public=other), 1, "malformed")
    use("public half of another key, unsealed", plain | {"public": b64(other)}, 1, "malformed")
    use("an expanded secret", plain | {"secret": b64(seed + bytes(32))}, 1, "malformed")
    use("a further name", plain | {"comment": "x"}, 1, "malformed")
    use("too much memory", seal_key(seed, b"pass") | {"memory": (1 << 30) + 1}, 1, "malformed")
    use("too many passes", seal_key(seed, b"pass") | {"operations": 17}, 1, "malformed")


if __name__ == "__main__":
    Checks().run(ours_open_there, theirs_open_here)

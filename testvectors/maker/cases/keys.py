"""Key files."""
import base64
import hashlib

from nacl import bindings, pwhash

from .. import packages as p
from .. import wire
from ..packages import RELEASE, ROOT1, ROOT2, certificate, package
from ..wire import b64, compact

FIELD = 2**255 - 19
PASSPHRASE = "correct horse battery staple"


def secret(key, passphrase=PASSPHRASE, memory=16384, operations=1, seed=None, behind=None, **changes) -> bytes:
    """A secret key file. `changes` are made before sealing, `behind` after it; None takes a member away."""
    sealed = passphrase is not None
    document = {"cipher": "xchacha20poly1305" if sealed else "none", "format": "nsh-secret-key-1", "kdf": "argon2id" if sealed else "none",
                "memory": memory, "nonce": b64(hashlib.sha256(b"nonce").digest()[:24]), "operations": operations, "public": b64(key.public),
                "salt": b64(hashlib.sha256(b"salt").digest()[:16]), "secret": ""}
    document.update(changes)
    content = key.seed if seed is None else seed
    if sealed:
        secret_key = pwhash.argon2id.kdf(32, passphrase.encode(), base64.b64decode(document["salt"]), opslimit=operations, memlimit=memory)
        content = bindings.crypto_aead_xchacha20poly1305_ietf_encrypt(content, compact(document), base64.b64decode(document["nonce"]), secret_key)
    document["secret"] = b64(content)
    document.update(behind or {})
    return compact({k: v for k, v in document.items() if v is not None}) + b"\n"


def add(book):
    text = base64.b64encode(ROOT1.public)
    known = {"public": text.decode(), "keyHash": ROOT1.hash, "keyID": ROOT1.id}
    book.public_key("public-line-feed", "A public key and a line feed.", "KEY-1 KEY-10", text + b"\n", facts=known)
    book.public_key("public-bare", "A public key and nothing behind it.", "KEY-1", text, facts=known)
    for name, data, title in (
            ("crlf", text + b"\r\n", "A carriage return before the line feed."), ("two-line-feeds", text + b"\n\n", "Two line feeds."),
            ("space-first", b" " + text, "A space in front."), ("comment", b"# root\n" + text, "A comment above the key."),
            ("empty", b"", "An empty file."), ("line-feed-only", b"\n", "A line feed and no key."), ("bom", b"\xef\xbb\xbf" + text, "A byte-order mark."),
            ("31-bytes", base64.b64encode(ROOT1.public[:31]), "31 bytes."), ("33-bytes", base64.b64encode(ROOT1.public + b"\0"), "33 bytes."),
            ("url-alphabet", base64.urlsafe_b64encode(p.STRANGER.public.replace(p.STRANGER.public[:3], b"\xff\xef\xbe")), "The alphabet of base64url."),
            ("no-padding", text.rstrip(b"="), "Base64 without its padding."), ("spare-bits", text[:-2] + bytes([text[-2] + 1]) + b"=", "A set bit behind the last byte."),
            ("raw", ROOT1.public, "The 32 bytes themselves."), ("hex", ROOT1.public.hex().encode(), "The key in hexadecimal."),
            ("two-keys", text + b"\n" + base64.b64encode(ROOT2.public), "Two keys.")):
        book.public_key(f"public-{name}", title, "KEY-1", data, "malformed")
    order8 = bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05")
    not_on_curve = next(y for y in range(2, 50) if not on_curve(y))
    for name, key, title in (
            ("neutral", (1).to_bytes(32, "little"), "The neutral element."), ("order-2", (FIELD - 1).to_bytes(32, "little"), "The point of order 2."),
            ("order-4", bytes(32), "A point of order 4."), ("order-8", order8, "A point of order 8."),
            ("high-y", (FIELD + 1).to_bytes(32, "little"), "A neutral element with y = p + 1."),
            ("high-y-3", (FIELD + 3).to_bytes(32, "little"), "A point of large order with y = p + 3."),
            ("off-curve", not_on_curve.to_bytes(32, "little"), "32 bytes that are no point of the curve.")):
        book.public_key(f"public-{name}", title, "KEY-2", base64.b64encode(key) + b"\n", "malformed")
    book.package("release-key-is-root", "The release key is the root that certified it.", "KEY-3 POL-3", "malformed",
                 package(cert=certificate({"key": b64(ROOT1.public)}), header_keys=(ROOT1,)))
    book.package("release-key-is-other-root", "The release key is another pinned root.", "KEY-3 POL-3", "malformed",
                 package(cert=certificate({"key": b64(ROOT2.public)}), header_keys=(ROOT2,)), roots=(ROOT1, ROOT2))
    book.package("release-key-is-unpinned-root", "The release key is a root elsewhere, but not pinned here.", "KEY-3", None,
                 package(cert=certificate({"key": b64(ROOT2.public)}), header_keys=(ROOT2,)))

    opens = {"public": b64(RELEASE.public)}
    book.secret_key("secret-sealed", "A secret key behind a passphrase.", "KEY-6 KEY-7", secret(RELEASE), passphrase=PASSPHRASE, facts=opens)
    book.secret_key("secret-wrong-passphrase", "Another passphrase.", "KEY-7", secret(RELEASE), "wrongPassphrase", passphrase="correct horse",
                    verdict="error")
    book.secret_key("secret-public-exchanged", "The public key was exchanged behind the seal.", "KEY-7", secret(RELEASE, behind={"public": b64(ROOT1.public)}),
                    "wrongPassphrase", passphrase=PASSPHRASE, verdict="error")
    book.secret_key("secret-public-wrong", "A sealed file whose public key is another seed's.", "KEY-8", secret(RELEASE, seed=ROOT1.seed), "malformed",
                    passphrase=PASSPHRASE)
    book.secret_key("secret-not-sealed", "A secret key without a passphrase.", "KEY-6 KEY-8", secret(RELEASE, None, 0, 0), facts=opens)
    book.secret_key("secret-not-sealed-public-wrong", "A file without a passphrase whose public key is another seed's.", "KEY-8",
                    secret(RELEASE, None, 0, 0, seed=ROOT1.seed), "malformed")
    for name, file, title, rules in (
            ("seed-31-bytes", secret(RELEASE, None, 0, 0, seed=RELEASE.seed[:31]), "A seed of 31 bytes, not sealed.", "KEY-6"),
            ("seed-and-public", secret(RELEASE, None, 0, 0, seed=RELEASE.seed + RELEASE.public), "Seed and public key in one, as other tools keep them.", "KEY-6"),
            ("memory-too-small", secret(RELEASE, behind={"memory": 8191}), "Less memory than Argon2id can work with.", "KEY-6"),
            ("operations-0", secret(RELEASE, behind={"operations": 0}), "No pass.", "KEY-6"),
            ("unknown-name", secret(RELEASE, comment="x"), "An unknown name.", "KEY-6"),
            ("without-salt", secret(RELEASE, behind={"salt": None}), "No salt.", "KEY-6"),
            ("other-format", secret(RELEASE, format="nsh-secret-key-2"), "A format that is not known.", "KEY-6"),
            ("other-cipher", secret(RELEASE, behind={"cipher": "aes256gcm"}), "A cipher that is not known.", "KEY-6"),
            ("cipher-none-kdf", secret(RELEASE, behind={"cipher": "none"}), "No cipher, but a key derivation.", "KEY-6"),
            ("short-nonce", secret(RELEASE, behind={"nonce": b64(bytes(23))}), "A nonce of 23 bytes.", "KEY-6"),
            ("memory-over-limit", secret(RELEASE, behind={"memory": (1 << 30) + 1}), "More than 1 GiB of memory.", "LIM-25"),
            ("operations-over-limit", secret(RELEASE, behind={"operations": 17}), "More than 16 passes.", "LIM-25")):
        book.secret_key(f"secret-{name}", title, rules, file, "malformed", passphrase=PASSPHRASE)
    book.secret_key("secret-operations-at-limit", "16 passes.", "LIM-25", secret(RELEASE, operations=16), passphrase=PASSPHRASE, facts=opens)


def on_curve(y: int) -> bool:
    """Whether some x satisfies -x² + y² = 1 + d x² y²."""
    d = -121665 * pow(121666, FIELD - 2, FIELD) % FIELD
    x2 = (y * y - 1) * pow(d * y * y + 1, FIELD - 2, FIELD) % FIELD
    return x2 == 0 or pow(x2, (FIELD - 1) // 2, FIELD) == 1

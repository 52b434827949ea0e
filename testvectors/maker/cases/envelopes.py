"""Envelopes: their form, base64, and what counts as a signature."""
import base64
import json


from .. import packages as p
from .. import wire
from ..packages import RELEASE, RELEASE2, ROOT1, ROOT2, ROOT3, STRANGER, certificate, package
from ..wire import b64, compact, pae


def with_member(**members):
    return lambda env: {**env, **members}


def first_entry(**members):
    """Members of the first signature entry; None takes one away."""
    def change(env):
        e = {**env["signatures"][0], **members}
        env["signatures"][0] = {k: v for k, v in e.items() if v is not None}
    return change


def signatures(*entries):
    return lambda env: env.update(signatures=list(entries))


def filler(i: int) -> dict:
    """An entry that never verifies."""
    return {"keyid": "%016x" % i, "sig": b64(bytes([i]) * 64)}


def add(book):
    cert = lambda name, title, rules, code, **hooks: book.package(name, title, rules, code, package(cert=certificate(**hooks)))
    head = lambda name, title, rules, code, **hooks: book.package(name, title, rules, code, package(**hooks))
    body = compact(p.certificate_payload())

    # form
    cert("envelope-unknown-name", "An unknown name in the certificate's envelope.", "ENV-1 JSN-4", "malformed", env=with_member(version=1))
    cert("envelope-without-type", "An envelope without payloadType.", "ENV-1", "malformed", env=lambda e: {k: v for k, v in e.items() if k != "payloadType"})
    cert("envelope-array", "An array around the envelope.", "ENV-1 JSN-11", "malformed", env=lambda e: [e])
    cert("envelope-name-twice", "The name payload twice in the envelope, with equal values.", "ENV-1 JSN-3", "malformed",
         env_text=lambda t: b'{"payload":"' + json.loads(t)["payload"].encode() + b'",' + t[1:])
    cert("envelope-pretty", "An envelope in another layout, with escapes and in another order of names.", "ENV-1 JSN-2", None,
         env_text=lambda t: json.dumps(dict(reversed(json.loads(t).items())), indent=2).replace("payloadType", "\\u0070ayloadType").encode() + b"\n")
    head("header-envelope-unknown-name", "An unknown name in the header's envelope.", "ENV-1 POL-4", "malformed", header_env=with_member(note=""))
    head("header-envelope-pretty", "A header envelope in another layout: the same digest.", "PKG-16 ENV-1", None,
         header_env_text=lambda t: json.dumps(json.loads(t), indent=1).encode())

    # types
    cert("type-of-list-in-certificate", "A certificate signed as a revocation list.", "ENV-2", "malformed", kind=wire.REVOCATIONS)
    cert("type-other-case", "The type in another case, signed so.", "ENV-2", "malformed", kind=wire.CERTIFICATE.replace("nsh", "NSH"))
    cert("type-changed-behind-signature", "Signed as a revocation list, then called a certificate.", "ENV-9 ENV-2", "untrustedRoot",
         kind=wire.REVOCATIONS, env=with_member(payloadType=wire.CERTIFICATE))
    book.package("list-in-place-of-certificate", "A revocation list, signed by a pinned root, where the certificate should be.", "ENV-2", "malformed",
                 package(cert=p.revocations()))
    head("type-of-certificate-in-header", "A header signed as a certificate.", "ENV-2", "malformed", header_kind=wire.CERTIFICATE)
    cert("type-not-text", "payloadType is null.", "ENV-2 JSN-11", "malformed", env=with_member(payloadType=None))

    # base64
    cert("base64-url-alphabet", "A payload in the alphabet of base64url.", "ENV-3", "malformed",
         text=lambda t: t.replace(b"Example Ltd", "???>>>\u07ff\u07ff".encode()),
         env=lambda e: e.update(payload=e["payload"].replace("+", "-").replace("/", "_")))
    cert("base64-no-padding", "A payload in base64 without its padding.", "ENV-3", "malformed",
         text=lambda t: t + b" " * ((1 - len(t)) % 3), env=lambda e: e.update(payload=e["payload"].rstrip("=")))
    cert("base64-spare-bits", "A set bit behind the last byte of the payload.", "ENV-3", "malformed",
         text=lambda t: t + b" " * ((1 - len(t)) % 3), env=lambda e: e.update(payload=e["payload"][:-3] + chr(ord(e["payload"][-3]) + 1) + "=="))
    cert("base64-line-break", "A line feed within the base64 of the payload.", "ENV-3", "malformed",
         env=lambda e: e.update(payload=e["payload"][:76] + "\n" + e["payload"][76:]))
    cert("base64-excess-padding", "Four more padding characters.", "ENV-3", "malformed", env=lambda e: e.update(payload=e["payload"] + "===="))
    cert("base64-not-text", "The payload is an object instead of base64.", "ENV-3 JSN-11", "malformed", env=with_member(payload={}))
    cert("base64-empty-payload", "A signed payload of no bytes.", "JSN-2 CRT-1", "malformed", text=lambda t: b"")
    cert("base64-certificate-key", "The release key in base64 with a space.", "ENV-3 CRT-4", "malformed",
         change={"key": b64(RELEASE.public)[:20] + " " + b64(RELEASE.public)[20:]})

    # signature entries
    cert("signatures-none", "An envelope with no signature.", "ENV-4", "malformed", env=signatures())
    cert("signatures-not-array", "One signature entry instead of an array.", "ENV-4 JSN-11", "malformed",
         env=lambda e: e.update(signatures=e["signatures"][0]))
    good = wire.entry(ROOT1, wire.CERTIFICATE, body)
    cert("signatures-8", "Eight signatures, the last one good.", "LIM-14 ENV-7", None, env=signatures(*map(filler, range(7)), good))
    cert("signatures-9", "Nine signatures, the first one good.", "LIM-14", "malformed", env=signatures(good, *map(filler, range(8))))
    cert("signature-unknown-name", "An unknown name in a signature entry.", "ENV-4 JSN-4", "malformed", env=first_entry(cert=""))
    cert("signature-without-sig", "A signature entry without sig.", "ENV-4", "malformed", env=first_entry(sig=None))
    cert("signature-null", "A second signature entry that is null.", "ENV-4 JSN-11", "malformed", env=lambda e: e["signatures"].append(None))
    cert("keyid-absent", "A signature without keyid.", "ENV-5", None, env=first_entry(keyid=None))
    cert("keyid-empty", "A signature with an empty keyid.", "ENV-5", None, env=first_entry(keyid=""))
    cert("keyid-wrong", "A good signature with the key id of another pinned root.", "ENV-5", None, env=first_entry(keyid=ROOT2.id))
    book.package("keyid-wrong-two-roots", "The key ids of two good signatures are exchanged; both roots are needed.", "ENV-5 ENV-8", None,
                 package(cert=certificate(keys=(ROOT1, ROOT2), env=lambda e: [
                     s.update(keyid=k.id) for s, k in zip(e["signatures"], (ROOT2, ROOT1))] and None)), roots=(ROOT1, ROOT2), threshold=2)
    cert("keyid-number", "A keyid that is a number.", "ENV-5 JSN-11", "malformed", env=first_entry(keyid=7))
    cert("keyid-null", "A keyid that is null.", "ENV-5 JSN-11", "malformed", env=lambda e: e["signatures"][0].update(keyid=None))
    cert("sig-empty", "A good signature and one of no bytes.", "ENV-6", "malformed", env=lambda e: e["signatures"].append({"sig": ""}))
    cert("sig-1-byte", "A good signature and one of one byte.", "ENV-6 ENV-7", None, env=lambda e: e["signatures"].append({"sig": b64(b"x")}))
    cert("sig-8192-bytes", "A good signature and one of 8192 bytes.", "LIM-15 ENV-7", None, env=lambda e: e["signatures"].append({"sig": b64(bytes(8192))}))
    cert("sig-8193-bytes", "A good signature and one of 8193 bytes.", "LIM-15", "malformed", env=lambda e: e["signatures"].append({"sig": b64(bytes(8193))}))
    cert("sig-63-bytes", "The only signature without its last byte.", "ENV-7", "untrustedRoot",
         env=first_entry(sig=b64(ROOT1.sign(pae(wire.CERTIFICATE, body))[:63])))
    cert("sig-65-bytes", "The only signature with a zero byte behind it.", "ENV-7", "untrustedRoot",
         env=first_entry(sig=b64(ROOT1.sign(pae(wire.CERTIFICATE, body)) + b"\0")))
    cert("sig-not-base64", "A signature in hexadecimal.", "ENV-3", "malformed", env=first_entry(sig=ROOT1.sign(pae(wire.CERTIFICATE, body)).hex() + "*"))

    # what counts
    cert("root-not-pinned", "A certificate by a root that is not pinned.", "POL-2 ENV-7", "untrustedRoot", keys=(STRANGER,))
    cert("root-and-stranger", "Signed by a stranger first and by a pinned root.", "ENV-7", None, keys=(STRANGER, ROOT1))
    book.package("threshold-2-met", "Two roots are asked for and two signed.", "ENV-8 POL-2", None,
                 package(cert=certificate(keys=(ROOT1, ROOT2))), roots=(ROOT1, ROOT2, ROOT3), threshold=2)
    book.package("threshold-2-one-signer", "Two roots are asked for and one signed.", "ENV-8 POL-2", "untrustedRoot", package(),
                 roots=(ROOT1, ROOT2), threshold=2)
    book.package("threshold-2-one-signer-twice", "Two roots are asked for; one signed and its entry stands there twice.", "ENV-8", "untrustedRoot",
                 package(cert=certificate(keys=(ROOT1, ROOT1))), roots=(ROOT1, ROOT2), threshold=2)
    book.package("threshold-2-one-signer-two-hints", "One root's signature twice, the second under another root's key id.", "ENV-8 ENV-5", "untrustedRoot",
                 package(cert=certificate(env=lambda e: e["signatures"].append({**e["signatures"][0], "keyid": ROOT2.id}))),
                 roots=(ROOT1, ROOT2), threshold=2)
    book.package("threshold-2-root-pinned-twice", "Two roots are asked for; one is pinned twice and signed once.", "ENV-8", "untrustedRoot", package(),
                 roots=(ROOT1, ROOT1), threshold=2)
    book.package("threshold-over-roots", "Three roots are asked for and two are pinned.", "POL-2", "untrustedRoot",
                 package(cert=certificate(keys=(ROOT1, ROOT2))), roots=(ROOT1, ROOT2), threshold=3)
    bare = lambda message: [{"keyid": ROOT1.id, "sig": b64(ROOT1.sign(message))}]
    cert("signed-payload-only", "The root signed the payload without its frame.", "ENV-9", "untrustedRoot", env=with_member(signatures=bare(body)))
    cert("signed-base64", "The root signed the base64 of the payload.", "ENV-9", "untrustedRoot",
         env=with_member(signatures=bare(pae(wire.CERTIFICATE, b64(body).encode()))))
    cert("signed-digest", "The root signed the SHA-256 of the signed bytes.", "ENV-9", "untrustedRoot",
         env=with_member(signatures=bare(bytes.fromhex(wire.sha256(pae(wire.CERTIFICATE, body))))))
    cert("payload-respelled", "The payload in another layout than the one that was signed.", "ENV-9", "untrustedRoot",
         env=with_member(payload=b64(json.dumps(p.certificate_payload()).encode())))
    head("header-by-root", "A header signed by the root itself.", "POL-4 ENV-8", "badSignature", header_keys=(ROOT1,))
    head("header-by-other-release-key", "A header signed by another release key.", "POL-4", "badSignature", header_keys=(RELEASE2,))
    head("header-by-two", "A header signed by another key first, then by the certificate's.", "POL-4 ENV-7", None, header_keys=(RELEASE2, RELEASE))
    head("header-signature-of-other-package", "The header's signature belongs to another package.", "POL-4", "badSignature",
         header_env=lambda e: e.update(signatures=[wire.entry(RELEASE, wire.PACKAGE, compact({**json.loads(base64.b64decode(e["payload"])), "signedAt": p.SIGNED_AT + 1}))]))

    # nothing is interpreted before its signature
    cert("unsigned-and-malformed", "A payload that is no JSON, by a root that is not pinned.", "ENV-10 POL-14", "untrustedRoot",
         keys=(STRANGER,), text=lambda t: t[:-1])
    head("header-unsigned-and-malformed", "A header that is no JSON, signed by another key.", "ENV-10 POL-14", "badSignature",
         header_keys=(RELEASE2,), header_text=lambda t: t[:-1])

    # strict Ed25519
    message = pae(wire.CERTIFICATE, body)
    cert("root-signature-s-plus-order", "A root's signature with the group order added to S.", "KEY-4", "untrustedRoot",
         env=first_entry(sig=b64(wire.with_order_added(ROOT1.sign(message)))))
    cert("root-signature-neutral-r", "A root's signature whose R is the neutral element.", "KEY-4", "untrustedRoot",
         env=first_entry(sig=b64(wire.with_neutral_commitment(ROOT1, message))))
    head("header-signature-s-plus-order", "A header's signature with the group order added to S.", "KEY-4", "badSignature",
         header_env=lambda e: e["signatures"][0].update(sig=b64(wire.with_order_added(base64.b64decode(e["signatures"][0]["sig"])))))
    neutral = b"\x01" + bytes(31)
    high = (2**255 - 19 + 1).to_bytes(32, "little")
    for name, key, what in (("neutral", neutral, "the neutral element"), ("high", high, "the neutral element with y = p + 1")):
        book.package(f"release-key-{name}", f"A release key that is {what}, and a header signature that its equation accepts.", "KEY-5 POL-4",
                     "badSignature", package(cert=certificate({"key": b64(key)}),
                                             header_env=lambda e: e.update(signatures=[{"sig": b64(wire.by_neutral_key())}])))
    book.package("release-key-zero", "A release key and a header signature of zeros.", "KEY-5 POL-4", "badSignature",
                 package(cert=certificate({"key": b64(bytes(32))}), header_env=lambda e: e.update(signatures=[{"sig": b64(bytes(64))}])))

"""A good package, certificate and list, each made in steps, with a hook behind every step.

A hook gets the result of its step and changes it in place or returns another. A vector that must be refused uses one
hook (two, where the vector is about which of two faults wins), so it is one change away from the good one.
"""
import copy
import dataclasses
import hashlib

from . import wire
from .wire import Key, Member, b64, changed, compact, sha256

NOT_BEFORE, NOT_AFTER = 1764460800, 1795996800
SIGNED_AT = 1764470000
NOW = 1764470100

ROOT1, ROOT2, ROOT3 = Key("root 1"), Key("root 2"), Key("root 3")
STRANGER = Key("a root that nobody pins")
RELEASE, RELEASE2 = Key("release 1"), Key("release 2")

APP = {"build": 42, "id": "com.example.orders", "name": "Orders", "version": "1.4.0"}
SERIAL = hashlib.sha256(b"serial 1").hexdigest()[:32]
SERIAL2 = hashlib.sha256(b"serial 2").hexdigest()[:32]
PUBLISHER = "Example Ltd"


def certificate_payload(**changes) -> dict:
    payload = {"apps": ["com.example.*"], "key": b64(RELEASE.public), "notAfter": NOT_AFTER, "notBefore": NOT_BEFORE,
               "publisher": PUBLISHER, "serial": SERIAL}
    payload.update(changes)
    return {k: v for k, v in payload.items() if v is not None}


def certificate(change=None, text=None, env=None, env_text=None, keys=(ROOT1,), kind=wire.CERTIFICATE) -> bytes:
    """A certificate envelope. `change` may be a dict of members or a hook."""
    payload = certificate_payload()
    if isinstance(change, dict):
        payload = certificate_payload(**change)
    else:
        payload = changed(change, payload)
    body = changed(text, compact(payload))
    return changed(env_text, compact(changed(env, wire.envelope(body, kind, keys))))


def list_payload(issuer: Key = ROOT1, **changes) -> dict:
    payload = {"certificates": [], "issuedAt": 1764465000, "issuer": issuer.hash, "keys": [], "minimumBuilds": {},
               "packages": [], "revokesIssuer": False, "sequence": 7}
    payload.update(changes)
    return {k: v for k, v in payload.items() if v is not None}


def revocations(issuer: Key = ROOT1, hook=None, text=None, env=None, env_text=None, kind=wire.REVOCATIONS, **changes) -> bytes:
    """A revocation list, signed by its issuer; `changes` are members of its payload."""
    body = changed(text, compact(changed(hook, list_payload(issuer, **changes))))
    return changed(env_text, compact(changed(env, wire.envelope(body, kind, (issuer,)))))


def app_json(app: dict) -> bytes:
    return compact(app) + b"\n"


BUNDLE = b'import { App } from "nsh";\nApp.run();\n'


def base_files(app: dict = APP, **more) -> dict:
    """Path -> data. Names of `more` are paths with `__` for `.` and `_` for `/`; None removes."""
    return {"app.json": app_json(app), "assets/logo.svg": b"<svg/>\n", "bundle.js": BUNDLE}


def in_order(files: dict) -> list:
    """Pairs of path bytes and data, sorted by path bytes."""
    return sorted(((p if isinstance(p, bytes) else p.encode("utf-8"), d) for p, d in files.items()), key=lambda i: i[0])


def sums_of(pairs) -> bytes:
    return b"".join(sha256(d).encode() + b"  " + p + b"\n" for p, d in pairs)


@dataclasses.dataclass
class Built:
    data: bytes
    digest: str
    manifest: str
    header: dict
    app: dict


def package(app=None, files=None, sums=None, manifest=None, members=None, end=wire.END, stream=None, pack=None, payload=None,
            chunk=65536, compression=None, payload_fields=None, header=None, header_text=None, header_env=None,
            header_env_text=None, header_keys=(RELEASE,), header_kind=wire.PACKAGE, cert=None, damage=None, whole=None) -> Built:
    """A package. Hooks in the order of their steps: files, sums, members, stream, pack, payload, header, header_text,
    header_env, header_env_text, damage (of the payload, behind its digests), whole."""
    app = {**APP, **(app or {})}
    table = changed(files, base_files(app))
    pairs = in_order(table)
    listed = changed(sums, sums_of(pairs))
    archive = [Member(b"SHA256SUMS", listed)]
    for path, data in pairs:
        archive += wire.file_members(path, data)
    archive = changed(members, archive)
    raw = changed(stream, b"".join(m.encode() for m in archive) + end)
    packed = changed(payload, raw if pack is None else pack(raw))
    fields = {
        "chunkSize": chunk,
        "chunks": b64(b"".join(hashlib.sha256(packed[i:i + chunk]).digest() for i in range(0, len(packed), chunk))),
        "compression": compression or ("none" if pack is None else "zstd"),
        "files": len(pairs),
        "manifest": sha256(listed) if manifest is None else manifest,
        "size": len(packed),
        "unpackedSize": len(listed) + sum(len(d) for _, d in pairs),
    }
    fields = changed(payload_fields, fields)
    document = changed(header, {"app": copy.deepcopy(app), "payload": fields, "signedAt": SIGNED_AT})
    body = changed(header_text, compact(document))
    head = changed(header_env_text, compact(changed(header_env, wire.envelope(body, header_kind, header_keys))))
    attached = certificate() if cert is None else cert
    result = changed(whole, wire.container(attached, head, changed(damage, packed)))
    return Built(result, sha256(body), fields["manifest"], document, app)

"""Writers of the formats, able to write them wrong: keys, envelopes, tar blocks, zstd frames, containers.

Nothing here reads a package. Everything is computed from fixed seeds, so the same bytes come out every time.
"""
import base64
import dataclasses
import hashlib
import json
import struct
from typing import Callable, Optional

from nacl import bindings

MAGIC = b"\x89NSHPKG\n"
CERTIFICATE = "application/vnd.nsh.certificate.v1+json"
PACKAGE = "application/vnd.nsh.package.v1+json"
REVOCATIONS = "application/vnd.nsh.revocations.v1+json"

GROUP_ORDER = 2**252 + 27742317777372353535851937790883648493


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def compact(value) -> bytes:
    """JSON with names in byte order, no white space, and only what must be escaped escaped."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode("utf-8")


# ---- keys ----------------------------------------------------------------------------------------------------


class Key:
    """An Ed25519 key pair whose seed is the hash of its name."""

    def __init__(self, name: str):
        self.name = name
        self.seed = hashlib.sha256(b"NshTrust test vectors: " + name.encode()).digest()
        self.public, self._secret = bindings.crypto_sign_seed_keypair(self.seed)

    @property
    def hash(self) -> str:
        return sha256(self.public)

    @property
    def id(self) -> str:
        return self.hash[:16]

    def sign(self, message: bytes) -> bytes:
        return bindings.crypto_sign(message, self._secret)[:64]

    def scalar(self) -> int:
        half = bytearray(hashlib.sha512(self.seed).digest()[:32])
        half[0] &= 248
        half[31] = half[31] & 127 | 64
        return int.from_bytes(half, "little")


def with_order_added(signature: bytes) -> bytes:
    """The same signature with S + L in the place of S: equal for a verifier that does not compare S with L."""
    s = int.from_bytes(signature[32:], "little") + GROUP_ORDER
    return signature[:32] + s.to_bytes(32, "little")


def with_neutral_commitment(key: Key, message: bytes) -> bytes:
    """A signature whose R is the neutral element: the equation holds, but R has small order."""
    r = b"\x01" + bytes(31)
    h = int.from_bytes(hashlib.sha512(r + key.public + message).digest(), "little")
    return r + (h * key.scalar() % GROUP_ORDER).to_bytes(32, "little")


def by_neutral_key() -> bytes:
    """A signature of any message by the key that is the neutral element: R = [s]B with any s."""
    s = (12345).to_bytes(32, "little")
    return bindings.crypto_scalarmult_ed25519_base_noclamp(s) + s


# ---- envelopes -----------------------------------------------------------------------------------------------


def pae(kind: str, body: bytes) -> bytes:
    return b" ".join([b"DSSEv1", b"%d" % len(kind.encode()), kind.encode(), b"%d" % len(body), body])


def entry(key: Key, kind: str, body: bytes) -> dict:
    return {"keyid": key.id, "sig": b64(key.sign(pae(kind, body)))}


def envelope(body: bytes, kind: str, keys) -> dict:
    return {"payload": b64(body), "payloadType": kind, "signatures": [entry(k, kind, body) for k in keys]}


# ---- tar -----------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class Member:
    """One archive member: a header block, its data, and the zeros behind it. Every part can be set to something wrong."""

    name: bytes
    data: bytes = b""
    kind: bytes = b"0"
    prefix: bytes = b""
    fields: dict = dataclasses.field(default_factory=dict)  # offset -> bytes, written before the checksum
    size: Optional[int] = None  # another size in the header block than the data has
    checksum: Optional[bytes] = None  # the eight bytes of the checksum field
    padding: Optional[bytes] = None

    def block(self) -> bytes:
        b = bytearray(512)

        def put(at, value):
            b[at:at + len(value)] = value
        put(0, self.name[:100])
        put(100, b"0000644\0"), put(108, b"0000000\0"), put(116, b"0000000\0")
        put(124, b"%011o\0" % (len(self.data) if self.size is None else self.size))
        put(136, b"00000000000\0"), put(156, self.kind), put(257, b"ustar\x0000")
        put(329, b"0000000\0"), put(337, b"0000000\0"), put(345, self.prefix[:155])
        for at, value in self.fields.items():
            put(at, value)
        put(148, b" " * 8)
        put(148, self.checksum if self.checksum is not None else b"%06o\0 " % sum(b))
        return bytes(b)

    def encode(self) -> bytes:
        padding = bytes(-len(self.data) % 512) if self.padding is None else self.padding
        return self.block() + self.data + padding


def signed_sum(block: bytes) -> int:
    """The checksum as some old programs computed it, from signed bytes."""
    b = block[:148] + b" " * 8 + block[156:]
    return sum(x - 256 if x > 127 else x for x in b)


def record(keyword: bytes, value: bytes) -> bytes:
    """A pax record, its length counting itself."""
    rest = b" " + keyword + b"=" + value + b"\n"
    n = len(rest)
    while len(b"%d" % n) + len(rest) != n:
        n = len(b"%d" % n) + len(rest)
    return b"%d" % n + rest


def pax(*records: bytes, **more) -> Member:
    return Member(b"PaxHeaders/next", b"".join(records), kind=b"x", **more)


def file_members(path: bytes, data: bytes) -> list:
    """The usual way to write a file: in the name field if it fits, else with a pax path."""
    if len(path) <= 100:
        return [Member(path, data)]
    return [pax(record(b"path", path)), Member(path[:100], data)]


END = bytes(1024)

# ---- zstd ----------------------------------------------------------------------------------------------------

_P = [11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261]
_M = 2**64 - 1


def xxh64(data: bytes) -> int:
    """XXH64 with seed 0: the content checksum of a zstd frame is its low 32 bits."""
    def rotl(x, r):
        return (x << r | x >> (64 - r)) & _M

    def round_(acc, lane):
        return rotl((acc + lane * _P[1]) & _M, 31) * _P[0] & _M
    n, at = len(data), 0
    if n >= 32:
        v = [(_P[0] + _P[1]) & _M, _P[1], 0, -_P[0] & _M]
        while at + 32 <= n:
            v = [round_(x, lane) for x, lane in zip(v, struct.unpack_from("<4Q", data, at))]
            at += 32
        h = sum(rotl(x, r) for x, r in zip(v, (1, 7, 12, 18))) & _M
        for x in v:
            h = ((h ^ round_(0, x)) * _P[0] + _P[3]) & _M
    else:
        h = _P[4]
    h = (h + n) & _M
    while at + 8 <= n:
        h = (rotl(h ^ round_(0, struct.unpack_from("<Q", data, at)[0]), 27) * _P[0] + _P[3]) & _M
        at += 8
    if at + 4 <= n:
        h = (rotl(h ^ struct.unpack_from("<I", data, at)[0] * _P[0] & _M, 23) * _P[1] + _P[2]) & _M
        at += 4
    for byte in data[at:]:
        h = rotl(h ^ byte * _P[4] & _M, 11) * _P[0] & _M
    h = (h ^ h >> 33) * _P[1] & _M
    h = (h ^ h >> 29) * _P[2] & _M
    return h ^ h >> 32


def block(kind: int, size: int, content: bytes, last: bool = False) -> bytes:
    """A block header (kind 0 raw, 1 one byte repeated, 3 reserved) and what follows it."""
    return struct.pack("<I", size << 3 | kind << 1 | last)[:3] + content


def stored_blocks(data: bytes, last: bool = True, step: int = 65536) -> bytes:
    """Raw blocks, and for long runs of one byte blocks that repeat it. Nothing is compressed, so no library matters."""
    parts, at = [], 0
    while at < len(data):
        ahead = data[at:at + 131072]
        run = len(ahead) - len(ahead.lstrip(ahead[:1]))
        if run >= RUN:
            parts.append((1, run, ahead[:1]))
            at += run
            continue
        ends = [min(len(ahead), step)] + [i for i in (ahead.find(bytes(RUN)), ahead.find(b" " * RUN)) if i > 0]
        parts.append((0, min(ends), ahead[:min(ends)]))
        at += min(ends)
    if not parts:
        parts = [(0, 0, b"")]
    return b"".join(block(*p, last=last and i == len(parts) - 1) for i, p in enumerate(parts))


RUN = 4096  # shorter runs of one byte are not worth a block of their own
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
WINDOW_128K = 0x38
WINDOW_8M = 0x68


def frame(blocks: bytes, window: Optional[int] = WINDOW_128K, size: Optional[int] = None, dictionary: bytes = b"",
          checksum: Optional[int] = None, reserved: bool = False) -> bytes:
    """A zstd frame. `window` None makes it a single segment, which needs `size` (the content size)."""
    descriptor = (1 << 5 if window is None else 0) | (1 << 2 if checksum is not None else 0) | (1 << 3 if reserved else 0)
    descriptor |= {0: 0, 1: 1, 2: 2, 4: 3}[len(dictionary)]
    out = b""
    if size is not None:
        descriptor |= 3 << 6
        out = struct.pack("<Q", size)
    head = bytes([descriptor]) + (b"" if window is None else bytes([window])) + dictionary + out
    return ZSTD_MAGIC + head + blocks + (b"" if checksum is None else struct.pack("<I", checksum & 0xFFFFFFFF))


def stored(data: bytes, **more) -> bytes:
    return frame(stored_blocks(data), **more)


# ---- packages ------------------------------------------------------------------------------------------------


def container(certificate: bytes, header: bytes, payload: bytes) -> bytes:
    return MAGIC + struct.pack("<III", 1, len(certificate), len(header)) + certificate + header + payload


Change = Optional[Callable]


def changed(change: Change, value):
    """The value after a change that either works in place or returns another value."""
    if change is None:
        return value
    result = change(value)
    return value if result is None else result

"""Chunks and zstd frames."""
from .. import packages as p
from .. import wire
from ..packages import BUNDLE, package
from ..wire import block, frame, stored, stored_blocks

FILL = bytes(range(1, 251)) * 800  # 200,000 bytes, no long runs


def large(files):
    """Enough data for several chunks of 64 KiB: app.json, then assets/big.bin (200,000 bytes), logo.svg and bundle.js."""
    files["assets/big.bin"] = FILL


def hit(at: int):
    """Changes one byte of the payload behind its digests."""
    return lambda payload: payload[:at] + bytes([payload[at] ^ 0x55]) + payload[at + 1:]


def add(book):
    case = lambda name, title, rules, code=None, **hooks: book.package(name, title, rules, code, package(**hooks))
    case("chunk-damaged", "A byte of the only chunk was changed.", "PAY-1", "payloadCorrupt", damage=hit(700))
    case("chunks-several", "Four chunks.", "PAY-1 PKG-13", files=large)
    case("chunk-third-damaged", "A byte of the third chunk was changed.", "PAY-1", "payloadCorrupt", files=large, damage=hit(140000))
    case("chunk-in-padding-damaged", "A zero behind the end of the archive was changed.", "PAY-1", "payloadCorrupt", end=bytes(10240), damage=hit(-1))
    case("chunks-exchanged", "The second and the third chunk changed places.", "PAY-1", "payloadCorrupt", files=large,
         damage=lambda b: b[:65536] + b[131072:196608] + b[65536:131072] + b[196608:])
    case("chunk-missing", "The second chunk was left out.", "PAY-1", "payloadCorrupt", files=large, damage=lambda b: b[:65536] + b[131072:])
    case("chunk-last-cut", "The file ends within the last chunk.", "PAY-2", "truncated", files=large, damage=lambda b: b[:-100])
    case("chunk-third-missing", "The file ends where the third chunk should begin.", "PAY-2", "truncated", files=large, damage=lambda b: b[:131072])

    case("zstd", "A zstd frame with stored blocks.", "PAY-3 PKG-14", pack=stored)
    case("zstd-runs", "A zstd frame with blocks that repeat a byte.", "PAY-3", pack=stored, end=bytes(500000))
    case("zstd-several-chunks", "A zstd frame over four chunks.", "PAY-1 PAY-3", pack=stored, files=large)
    case("zstd-chunk-damaged", "A byte in the second chunk of a zstd frame was changed.", "PAY-1", "payloadCorrupt", pack=stored, files=large, damage=hit(70000))
    case("zstd-checksum", "A frame with its content size and checksum.", "PAY-5", pack=lambda s: stored(s, size=len(s), checksum=wire.xxh64(s)))
    case("zstd-checksum-wrong", "A frame with a wrong checksum.", "PAY-5", "payloadCorrupt", pack=lambda s: stored(s, checksum=wire.xxh64(s) ^ 1))
    case("zstd-content-size-more", "A frame that promises one byte more than it holds.", "PAY-5", "payloadCorrupt", pack=lambda s: stored(s, size=len(s) + 1))
    case("zstd-content-size-less", "A frame that promises one byte less than it holds.", "PAY-5", "payloadCorrupt", pack=lambda s: stored(s, size=len(s) - 1))
    case("zstd-single-segment", "A frame in a single segment.", "PAY-3 LIM-10", pack=lambda s: stored(s, window=None, size=len(s)))
    case("zstd-reserved-bit", "The reserved bit of the frame header is set.", "PAY-5", "payloadCorrupt", pack=lambda s: stored(s, reserved=True))
    case("zstd-reserved-block", "A block of the reserved type.", "PAY-5", "payloadCorrupt", pack=lambda s: frame(stored_blocks(s, last=False) + block(3, 0, b"", True)))
    case("zstd-no-last-block", "The last block is not marked as the last.", "PAY-5", "payloadCorrupt", pack=lambda s: frame(stored_blocks(s, last=False)))
    case("zstd-cut", "The frame ends within its last block.", "PAY-5", "payloadCorrupt", pack=stored, payload=lambda b: b[:-1])
    case("zstd-frame-header-only", "A payload that ends within the frame header.", "PAY-5", "payloadCorrupt", pack=stored, payload=lambda b: b[:5])
    case("zstd-empty", "A frame with no content.", "PAY-5 TAR-15", "payloadCorrupt", pack=lambda s: stored(b""))
    case("zstd-empty-block-last", "An empty last block.", "PAY-3", pack=lambda s: frame(stored_blocks(s, last=False) + block(0, 0, b"", True)))
    skippable = b"\x50\x2a\x4d\x18" + (4).to_bytes(4, "little") + b"note"
    case("zstd-skippable-first", "A skippable frame before the frame.", "PAY-3", "payloadCorrupt", pack=lambda s: skippable + stored(s))
    case("zstd-skippable-last", "A skippable frame behind the frame.", "PAY-3", "payloadCorrupt", pack=lambda s: stored(s) + skippable)
    case("zstd-two-frames", "The stream in two frames.", "PAY-3", "payloadCorrupt", pack=lambda s: stored(s[:2048]) + stored(s[2048:]))
    case("zstd-empty-second-frame", "An empty frame behind the frame.", "PAY-3", "payloadCorrupt", pack=lambda s: stored(s) + stored(b""))
    case("zstd-byte-behind", "A zero byte behind the frame.", "PAY-3", "payloadCorrupt", pack=lambda s: stored(s) + b"\0")
    case("zstd-other-magic", "The magic of an old format.", "PAY-3", "payloadCorrupt", pack=lambda s: b"\x27" + stored(s)[1:])
    case("zstd-dictionary", "A frame that names a dictionary.", "PAY-4", "payloadCorrupt", pack=lambda s: stored(s, dictionary=b"\x07"))
    case("zstd-dictionary-4-bytes", "A frame that names a dictionary in four bytes.", "PAY-4", "payloadCorrupt", pack=lambda s: stored(s, dictionary=b"\x07\0\0\1"))
    case("zstd-window-at-limit", "A window of 8 MiB.", "LIM-10", pack=lambda s: stored(s, window=wire.WINDOW_8M))
    case("zstd-window-over-limit", "A window of 9 MiB, the next one that can be written.", "LIM-10", "limitExceeded",
         pack=lambda s: stored(s, window=wire.WINDOW_8M + 1))
    case("zstd-window-huge", "A window of 3.75 TiB.", "LIM-10", "limitExceeded", pack=lambda s: stored(s, window=0xFF))
    case("zstd-single-segment-over-limit", "A single segment that promises 8 MiB and a byte.", "LIM-10", "limitExceeded",
         pack=lambda s: stored(s, window=None, size=(8 << 20) + 1))
    case("zstd-single-segment-at-limit", "A single segment that promises 8 MiB and holds less.", "LIM-10 PAY-5", "payloadCorrupt",
         pack=lambda s: stored(s, window=None, size=8 << 20))
    case("zstd-not-compressed", "The header says zstd, the payload is the bare archive.", "PAY-3 PKG-14", "payloadCorrupt", compression="zstd")
    case("none-but-compressed", "The header says none, the payload is a zstd frame.", "PKG-14 TAR-1", "payloadCorrupt", pack=stored, compression="none")
    case("zstd-damaged-block-behind-bad-member", "A reserved block behind a stored one that holds a symbolic link.", "PAY-6 POL-13", "unsafeMember",
         members=lambda m: m.insert(1, wire.Member(b"link", kind=b"2", fields={157: b"bundle.js"})),
         pack=lambda s: frame(stored_blocks(s[:3072], last=False) + block(3, 0, b"", True)))
    case("zstd-damaged-block-at-once", "A reserved block as the first one.", "PAY-6 PAY-5", "payloadCorrupt", pack=lambda s: frame(block(3, 0, b"", True)))

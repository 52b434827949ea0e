/// One member of a tar archive as a test wants it: right by default, and each field can be made wrong.
public struct TarMember: Sendable {
    /// The name field, at most 100 bytes; a longer one is cut.
    public var name: [UInt8]
    /// The prefix field, at most 155 bytes.
    public var prefix: [UInt8] = []
    /// The bytes behind the header block.
    public var data: [UInt8]
    /// The type byte: `0` is a regular file, `x` a pax header.
    public var kind: UInt8
    /// The size that the block states; that of the data when nil.
    public var size: Int?
    /// The checksum field; the right one when nil.
    public var checksum: [UInt8]?
    /// The bytes behind the data; zeros up to a multiple of 512 when nil.
    public var padding: [UInt8]?
    /// Bytes put over the block at an offset, before the checksum is computed.
    public var fields: [Int: [UInt8]] = [:]

    /// Makes a member.
    public init(_ name: String, _ data: [UInt8] = [], kind: Character = "0") {
        self.init(Array(name.utf8), data, kind: kind)
    }

    /// Makes a member with any bytes for a name.
    public init(_ name: [UInt8], _ data: [UInt8] = [], kind: Character = "0") {
        self.name = name
        self.data = data
        self.kind = kind.asciiValue ?? 0
    }

    /// Makes the members of a regular file: one, or two when the path needs a pax header.
    public static func file(_ path: [UInt8], _ data: [UInt8]) -> [TarMember] {
        if path.count <= 100 { return [TarMember(path, data)] }
        return [pax(record("path", path)), TarMember(Array(path.prefix(100)), data)]
    }

    /// Makes a pax header for the next member.
    public static func pax(_ records: [UInt8]...) -> TarMember {
        TarMember("PaxHeaders/next", records.flatMap { $0 }, kind: "x")
    }

    /// Makes a pax record with its own right length in front.
    public static func record(_ keyword: String, _ value: [UInt8]) -> [UInt8] {
        let rest = Array(" \(keyword)=".utf8) + value + [0x0A]
        var count = rest.count
        while String(count).utf8.count + rest.count != count { count = String(count).utf8.count + rest.count }
        return Array(String(count).utf8) + rest
    }

    /// Makes a pax record of text.
    public static func record(_ keyword: String, _ value: String) -> [UInt8] { record(keyword, Array(value.utf8)) }

    /// The header block, 512 bytes.
    public var block: [UInt8] {
        var block = [UInt8](repeating: 0, count: 512)
        func put(_ bytes: some Sequence<UInt8>, at offset: Int) {
            for (index, byte) in bytes.enumerated() { block[offset + index] = byte }
        }
        put(name.prefix(100), at: 0)
        put("0000644\0".utf8, at: 100)
        put("0000000\0".utf8, at: 108)
        put("0000000\0".utf8, at: 116)
        put(Self.octal(size ?? data.count, digits: 11), at: 124)
        put("00000000000\0".utf8, at: 136)
        block[156] = kind
        put("ustar\u{0}00".utf8, at: 257)
        put(prefix.prefix(155), at: 345)
        for (offset, bytes) in fields { put(bytes, at: offset) }
        put("        ".utf8, at: 148)
        let sum = block.reduce(0) { $0 + Int($1) }
        put(checksum ?? Self.octal(sum, digits: 6) + [0x20], at: 148)
        return block
    }

    /// Block, data and padding.
    public var encoded: [UInt8] {
        let zeros = [UInt8](repeating: 0, count: (512 - data.count % 512) % 512)
        return block + data + (padding ?? zeros)
    }

    /// The number in octal with leading zeros, and a NUL.
    public static func octal(_ number: Int, digits: Int) -> [UInt8] {
        let text = String(number, radix: 8)
        return Array(String(repeating: "0", count: max(0, digits - text.utf8.count)).utf8) + Array(text.utf8) + [0]
    }
}

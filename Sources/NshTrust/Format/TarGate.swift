/// Decides block by block whether a tar archive is of the one narrow kind that packages hold.
///
/// Regular files only, ustar headers with right checksums, pax headers with a path or a size and nothing else. What is
/// read here is all that is ever understood of the archive: extraction is driven by it (docs/decisions/0009).
/// The gate sees header blocks and the data of pax headers; the caller sees to lengths, padding, order and contents.
///
/// - Spec: TAR-1 … TAR-12, TAR-15, TAR-17
package struct TarGate: Sendable {
    /// Bytes of a block, the unit of an archive.
    package static let blockCount = 512
    /// Bytes of a pax header's data.
    package static let paxMaxBytes = 2048
    /// The least size that a pax header states; smaller ones stand in the header block.
    package static let paxSizeMin: Int64 = 8 << 30

    /// What a header block announces.
    package enum Announcement: Hashable, Sendable {
        /// A block of zeros, where a header may stand: the first half of the end mark.
        case zeros
        /// The data of a pax header, then its padding.
        case pax(count: Int)
        /// The data of a regular file, whose path is `path`, then its padding.
        case file(size: Int64)
    }

    /// The path of the file announced last, as the archive has it: not judged yet.
    package private(set) var path: [UInt8] = []
    private var pax: PaxRecords?

    /// Makes a gate before the first block of an archive.
    package init() {}

    /// Judges the header block of the next member.
    ///
    /// - Parameter block: 512 bytes.
    /// - Returns: What follows.
    /// - Throws: `payloadCorrupt` or `unsafeMember`, by the first check of TAR-17 that fails.
    package mutating func announce(_ block: UnsafeRawBufferPointer) throws(Refusal) -> Announcement {
        guard block.count == Self.blockCount else { throw Self.corrupt("a header block is cut") }
        if block[0] == 0, Self.isZeros(block) {
            guard pax == nil else { throw Self.corrupt("a pax header is followed by no file") }
            return .zeros
        }
        try Self.checkChecksum(block)
        guard block.loadUnaligned(fromByteOffset: 257, as: UInt64.self).littleEndian == Self.magic else {
            throw Self.corrupt("a header block has another magic or version than “ustar” and “00”")
        }
        let size = try Self.octal(block, 124..<136, "size")
        let isPax = try Self.checkType(block)
        try Self.checkNothingBehindNUL(block, 0..<100, "name")
        try Self.checkNothingBehindNUL(block, 345..<500, "prefix")
        if isPax { return try announcePax(size) }
        return .file(size: try takeFile(block, size))
    }

    private mutating func announcePax(_ size: Int64) throws(Refusal) -> Announcement {
        guard pax == nil else { throw Self.corrupt("a pax header is followed by another one") }
        guard size <= Self.paxMaxBytes else {
            throw Self.corrupt("a pax header has \(size) bytes, at most \(Self.paxMaxBytes) are allowed")
        }
        pax = PaxRecords()
        return .pax(count: Int(size))
    }

    private mutating func takeFile(_ block: UnsafeRawBufferPointer, _ size: Int64) throws(Refusal) -> Int64 {
        defer { pax = nil }
        path.removeAll(keepingCapacity: true)
        if let paxPath = pax?.path {
            path += paxPath
        } else {
            let prefix = Self.text(block, 345..<500)
            if !prefix.isEmpty {
                path += prefix
                path.append(0x2F)
            }
            path += Self.text(block, 0..<100)
        }
        guard let paxSize = pax?.size else { return size }
        return try Self.paxSize(paxSize)
    }

    /// Takes the data of a pax header, which holds for the file announced next.
    ///
    /// - Parameter data: As many bytes as `announce` said.
    /// - Throws: `payloadCorrupt` for anything but records of a path and a size.
    package mutating func takePax(_ data: UnsafeRawBufferPointer) throws(Refusal) {
        pax = try PaxRecords(parsing: data)
    }

    // MARK: - Fields

    /// “ustar”, NUL, “00” as one little-endian number.
    private static let magic: UInt64 = "ustar\u{0}00".utf8.reversed().reduce(0) { $0 << 8 | UInt64($1) }

    private static func checkChecksum(_ block: UnsafeRawBufferPointer) throws(Refusal) {
        let stated = try octal(block, 148..<156, "checksum")
        // Eight bytes at a time, in four sums of 16 bits: 64 words of at most 2 · 255 fit.
        let lanes: UInt64 = 0x00FF_00FF_00FF_00FF
        var sums: UInt64 = 0
        for at in stride(from: 0, to: blockCount, by: 8) {
            let word = block.loadUnaligned(fromByteOffset: at, as: UInt64.self)
            sums += (word & lanes) + (word >> 8 & lanes)
        }
        var sum = Int(sums & 0xFFFF) + Int(sums >> 16 & 0xFFFF) + Int(sums >> 32 & 0xFFFF) + Int(sums >> 48)
        for at in 148..<156 { sum += 0x20 - Int(block[at]) }
        guard sum == stated else {
            throw corrupt("a header block has the checksum \(stated), its bytes add up to \(sum)")
        }
    }

    /// Judges type, link name and device numbers, and tells a pax header from a file.
    private static func checkType(_ block: UnsafeRawBufferPointer) throws(Refusal) -> Bool {
        let type = block[156]
        guard type == 0x30 || type == 0x78 else {
            let shown = type == 0 ? "NUL" : "“\(Printable.escaped(bytes: [type]))”"
            throw unsafe(block, "is of the type \(shown); only regular files may be packed")
        }
        guard block[157] == 0 else { throw unsafe(block, "has a link name") }
        try checkNothingBehindNUL(block, 157..<257, "link name")
        let isDevice = block[329..<345].contains { $0 != 0 && $0 != 0x20 && $0 != 0x30 }
        guard !isDevice else { throw unsafe(block, "has a device number") }
        return type == 0x78
    }

    /// Reads spaces, octal digits, then spaces and NULs.
    private static func octal(
        _ block: UnsafeRawBufferPointer, _ field: Range<Int>, _ name: String
    ) throws(Refusal) -> Int64 {
        var at = field.lowerBound
        while at < field.upperBound, block[at] == 0x20 { at += 1 }
        let first = at
        var value: Int64 = 0
        while at < field.upperBound, (0x30...0x37).contains(block[at]) {
            value = value << 3 | Int64(block[at] - 0x30)
            at += 1
        }
        let hasDigits = at > first
        while at < field.upperBound, block[at] == 0x20 || block[at] == 0 { at += 1 }
        guard hasDigits, at == field.upperBound else {
            throw corrupt("the \(name) of a header block is not octal digits")
        }
        return value
    }

    private static func text(_ block: UnsafeRawBufferPointer, _ field: Range<Int>) -> UnsafeRawBufferPointer {
        var end = field.lowerBound
        while end < field.upperBound, block[end] != 0 { end += 1 }
        return UnsafeRawBufferPointer(rebasing: block[field.lowerBound..<end])
    }

    private static func checkNothingBehindNUL(
        _ block: UnsafeRawBufferPointer, _ field: Range<Int>, _ name: String
    ) throws(Refusal) {
        let rest = (field.lowerBound + text(block, field).count)..<field.upperBound
        guard isZeros(UnsafeRawBufferPointer(rebasing: block[rest])) else {
            throw corrupt("the \(name) of a header block goes on behind a NUL")
        }
    }

    /// Tells whether all bytes are zeros: padding, the end mark, what follows it.
    package static func isZeros(_ bytes: UnsafeRawBufferPointer) -> Bool {
        // Without a way out in the middle the compiler looks at many bytes at once.
        var seen: UInt8 = 0
        for byte in bytes { seen |= byte }
        return seen == 0
    }

    private static func paxSize(_ digits: [UInt8]) throws(Refusal) -> Int64 {
        let isNumber = digits.allSatisfy { (0x30...0x39).contains($0) } && digits.first != 0x30
        guard isNumber, (1...16).contains(digits.count) else {
            throw corrupt("the size of a pax header is not a decimal number of at most 16 digits")
        }
        let size = digits.reduce(Int64(0)) { $0 * 10 + Int64($1 - 0x30) }
        guard size >= paxSizeMin else {
            throw corrupt("the size of a pax header, \(size), belongs into the header block")
        }
        return size
    }

    private static func unsafe(_ block: UnsafeRawBufferPointer, _ problem: String) -> Refusal {
        let name = Printable.escaped(bytes: text(block, 0..<100))
        return Refusal(.unsafeMember, "the member “\(name)” \(problem)")
    }

    private static func corrupt(_ problem: String) -> Refusal {
        Refusal(.payloadCorrupt, "the archive is damaged: \(problem)")
    }
}

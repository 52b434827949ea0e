internal import NshTrust

/// Writes the narrow tar of a payload: regular files with nothing but a path, a size and their bytes.
///
/// Mode, owner and times are the same in every archive, so that the same files give the same bytes.
///
/// - Spec: TAR-1 … TAR-14
struct TarWriter {
    /// Bytes of a block.
    static let blockCount = 512
    /// Bytes of the end of an archive.
    static let endCount = 2 * blockCount
    /// The greatest size that stands in a header block: eleven octal digits.
    private static let headerSizeMax: Int64 = 8 << 30 - 1
    private static let nameMax = 100
    private static let prefixMax = 155

    private let write: (UnsafeRawBufferPointer) throws -> Void
    private static let zeros = [UInt8](repeating: 0, count: endCount)

    /// Prepares an archive.
    ///
    /// - Parameter write: Takes the archive's bytes in order.
    init(to write: @escaping (UnsafeRawBufferPointer) throws -> Void) { self.write = write }

    /// Starts a file.
    ///
    /// - Parameters:
    ///   - path: Its path, which keeps the rules of paths: 1–1024 bytes.
    ///   - size: The bytes that `write(_:)` will be given before `endFile(size:)`.
    /// - Throws: What taking the bytes throws.
    func beginFile(_ path: [UInt8], size: Int64) throws { try emit(Self.header(of: path, size: size)) }

    /// Adds bytes of the file.
    ///
    /// - Throws: What taking the bytes throws.
    func write(_ bytes: UnsafeRawBufferPointer) throws { try write(bytes) }

    /// Ends the file of that size.
    ///
    /// - Throws: What taking the bytes throws.
    func endFile(size: Int64) throws { try emitZeros(Self.padding(size)) }

    /// Ends the archive: two blocks of zeros.
    ///
    /// - Throws: What taking the bytes throws.
    func finish() throws { try emitZeros(Self.endCount) }

    private func emit(_ bytes: [UInt8]) throws { try bytes.withUnsafeBytes(write) }

    private func emitZeros(_ count: Int) throws {
        try Self.zeros.withUnsafeBytes { try write(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    private static func padding(_ size: Int64) -> Int {
        let block = Int64(blockCount)
        return Int((block - size % block) % block)
    }

    /// Bytes of a file in an archive besides its own.
    static func overhead(of path: [UInt8], size: Int64) -> Int {
        // Most paths need one block, and none has to be made to know that.
        let header = path.count <= nameMax && size <= headerSizeMax ? blockCount : header(of: path, size: size).count
        return header + padding(size)
    }

    // MARK: - Headers

    /// The header blocks of a file: one, or three when path or size need a pax header.
    static func header(of path: [UInt8], size: Int64) -> [UInt8] {
        var records: [UInt8] = []
        var (name, prefix) = (path, [UInt8]())
        if path.count > nameMax {
            if let split = split(path) {
                (prefix, name) = split
            } else {
                records += record("path", path)
                name = Array(path.suffix(nameMax))
            }
        }
        var headerSize = size
        if size > headerSizeMax {
            records += record("size", Array(String(size).utf8))
            headerSize = 0
        }
        let own = block(name: name, prefix: prefix, size: headerSize, type: 0x30)
        if records.isEmpty { return own }
        let pax = block(name: Array("pax".utf8), prefix: [], size: Int64(records.count), type: 0x78)
        return pax + records + [UInt8](repeating: 0, count: padding(Int64(records.count))) + own
    }

    /// Parts a path at the first slash behind which it fits the name field, if what is before it fits the prefix field.
    private static func split(_ path: [UInt8]) -> (prefix: [UInt8], name: [UInt8])? {
        for (at, byte) in path.enumerated() where byte == 0x2F && path.count - at - 1 <= nameMax {
            return at <= prefixMax && at > 0 ? (Array(path[..<at]), Array(path[(at + 1)...])) : nil
        }
        return nil
    }

    /// One pax record, which begins with its own length in decimal.
    private static func record(_ keyword: String, _ value: [UInt8]) -> [UInt8] {
        let rest = Array(" \(keyword)=".utf8) + value + [0x0A]
        var count = rest.count + 1
        while String(count).utf8.count + rest.count != count { count = String(count).utf8.count + rest.count }
        return Array(String(count).utf8) + rest
    }

    private static func block(name: [UInt8], prefix: [UInt8], size: Int64, type: UInt8) -> [UInt8] {
        var block = template
        block.withUnsafeMutableBytes { block in
            func put(_ bytes: [UInt8], at offset: Int) {
                UnsafeMutableRawBufferPointer(rebasing: block[offset...]).copyBytes(from: bytes)
            }
            func putOctal(_ value: Int64, digits: Int, at offset: Int) {
                var rest = value
                for at in (offset..<(offset + digits)).reversed() {
                    block[at] = 0x30 + UInt8(truncatingIfNeeded: rest & 7)
                    rest >>= 3
                }
            }
            put(name, at: 0)
            putOctal(size, digits: 11, at: 124)
            block[156] = type
            put(prefix, at: 345)
            var sum: Int64 = 0
            for byte in block { sum &+= Int64(byte) }
            putOctal(sum, digits: 6, at: 148)
            block[154] = 0
        }
        return block
    }

    /// What is the same in each block, with a checksum of spaces.
    private static let template: [UInt8] = {
        var block = [UInt8](repeating: 0, count: blockCount)
        for (text, offset) in [
            ("0000644", 100), ("0000000", 108), ("0000000", 116), ("00000000000", 136), ("        ", 148),
            ("ustar\u{0}00", 257), ("0000000", 329), ("0000000", 337),
        ] { block.replaceSubrange(offset..<(offset + text.utf8.count), with: text.utf8) }
        return block
    }()
}

/// `SHA256SUMS`: the digest and path of each file of a package, sorted by the paths' bytes.
///
/// Held as the bytes it came in, so that 100,000 files cost what their lines cost. Its form is right once a value
/// exists; whether it is what a header promises, `judged` tells.
///
/// - Spec: SUM-1 … SUM-5
package struct FileList: Sendable {
    /// The path under which the list lies in an archive and in an installed tree.
    package static let path = "SHA256SUMS"
    /// Bytes of a list.
    package static let maxBytes = 16 << 20
    /// Bytes of a line before its path: 64 hex digits and two spaces.
    static let pathOffset = 66

    /// The whole list.
    package let bytes: [UInt8]
    /// The number of files.
    package let count: Int

    /// One line: where its parts lie in `bytes`.
    package struct Entry: Sendable {
        /// Where the line starts: 64 hex digits.
        fileprivate let start: Int
        /// Where its line feed stands.
        fileprivate let end: Int
        /// Where the path lies.
        package var path: Range<Int> { (start + FileList.pathOffset)..<end }
    }

    /// Reads a list: form and order of its lines.
    ///
    /// - Parameter bytes: The content of `SHA256SUMS`.
    /// - Throws: `limitExceeded` above 16 MiB, `manifestMismatch` for anything that is not such lines in strict order.
    /// - Complexity: O(bytes).
    /// - Spec: SUM-3, SUM-4, LIM-8
    package init(parsing bytes: [UInt8]) throws(Refusal) {
        guard bytes.count <= Self.maxBytes else {
            throw Refusal(.limitExceeded, "SHA256SUMS has \(bytes.count) bytes, the limit is \(Self.maxBytes)")
        }
        self.bytes = bytes
        var count = 0
        var before = 0..<0
        var start = 0
        while start < bytes.count {
            guard let end = Self.endOfLine(from: start, in: bytes), Self.isWellFormed(bytes, start, end) else {
                throw Refusal(
                    .manifestMismatch,
                    "line \(count + 1) of SHA256SUMS is not 64 hex digits, two spaces, a path in UTF-8 and a line feed")
            }
            let path = (start + Self.pathOffset)..<end
            guard before.isEmpty || Self.precedes(before, path, in: bytes) else {
                throw Refusal(
                    .manifestMismatch,
                    "line \(count + 1) of SHA256SUMS, “\(Printable.escaped(bytes: bytes[path]))”, is not in order")
            }
            before = path
            count += 1
            start = end + 1
        }
        self.count = count
    }

    private static func endOfLine(from start: Int, in bytes: [UInt8]) -> Int? {
        bytes.withUnsafeBytes { bytes in
            var at = start
            // Eight bytes at a time: the lowest byte that becomes zero has its high bit set.
            while at + 8 <= bytes.count {
                let word = bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self).littleEndian ^ 0x0A0A_0A0A_0A0A_0A0A
                let found = (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
                if found != 0 { return at + found.trailingZeroBitCount / 8 }
                at += 8
            }
            while at < bytes.count {
                if bytes[at] == 0x0A { return at }
                at += 1
            }
            return nil
        }
    }

    private static func isWellFormed(_ bytes: [UInt8], _ start: Int, _ end: Int) -> Bool {
        guard end - start > pathOffset, bytes[start + 64] == 0x20, bytes[start + 65] == 0x20 else { return false }
        let (isHex, isASCII) = bytes.withUnsafeBytes { bytes in
            // Without a way out in the middle the compiler looks at many bytes at once.
            var others: UInt8 = 0
            for byte in bytes[start..<(start + 64)] {
                others |= (byte &- 0x30 < 10 ? 0 : 1) & (byte &- 0x61 < 6 ? 0 : 1)
            }
            var seen: UInt8 = 0
            for byte in bytes[(start + pathOffset)..<end] { seen |= byte }
            return (others == 0, seen < 0x80)
        }
        return isHex && (isASCII || isUTF8(bytes, from: start + pathOffset, to: end))
    }

    private static func isUTF8(_ bytes: [UInt8], from start: Int, to end: Int) -> Bool {
        var at = start
        while at < end {
            let count = UTF8Sequence.count(startingAt: at, in: bytes, end: end)
            guard count > 0 else { return false }
            at += count
        }
        return true
    }

    private static func precedes(_ left: Range<Int>, _ right: Range<Int>, in bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBufferPointer { bytes in
            let common = min(left.count, right.count)
            for offset in 0..<common {
                let (a, b) = (bytes[left.lowerBound + offset], bytes[right.lowerBound + offset])
                if a != b { return a < b }
            }
            return left.count < right.count
        }
    }

    // MARK: - Reading

    /// A place in a list, before its first line at first.
    package struct Cursor: Sendable {
        fileprivate var at = 0
        /// Makes a cursor before the first line.
        package init() {}
    }

    /// Returns the next line and moves the cursor behind it; nil at the end.
    package func next(_ cursor: inout Cursor) -> Entry? {
        let start = cursor.at
        guard start < bytes.count, let end = Self.endOfLine(from: start + Self.pathOffset, in: bytes) else {
            return nil
        }
        cursor.at = end + 1
        return Entry(start: start, end: end)
    }

    /// Tells whether the line names these bytes as its path.
    ///
    /// - Spec: SUM-6
    package func hasPath(_ path: UnsafeRawBufferPointer, at entry: Entry) -> Bool {
        guard path.count == entry.path.count else { return false }
        return bytes.withUnsafeBytes { bytes in
            var differences: UInt8 = 0
            for (offset, byte) in path.enumerated() { differences |= byte ^ bytes[entry.path.lowerBound + offset] }
            return differences == 0
        }
    }

    /// Tells whether the line has this digest.
    package func hasDigest(_ digest: Digest, at entry: Entry) -> Bool {
        bytes.withUnsafeBytes { bytes in
            digest.hasHex(UnsafeRawBufferPointer(rebasing: bytes[entry.start..<(entry.start + 64)]))
        }
    }

    /// The path of a line as text.
    package func path(of entry: Entry) -> String { String(decoding: bytes[entry.path], as: UTF8.self) }

    /// The digest of a line in hex.
    package func hex(of entry: Entry) -> String {
        String(decoding: bytes[entry.start..<(entry.start + 64)], as: UTF8.self)
    }

    // MARK: - Writing

    /// Bytes of the line of a path.
    package static func lineCount(of path: [UInt8]) -> Int { pathOffset + path.count + 1 }

    /// Makes the bytes of a list.
    ///
    /// - Parameter files: Paths and digests, in any order, no path twice.
    /// - Returns: The lines in the order of the paths' bytes.
    package static func serialized(_ files: [(path: [UInt8], digest: Digest)]) -> [UInt8] {
        let sorted = files.sorted { $0.path.lexicographicallyPrecedes($1.path) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(files.reduce(0) { $0 + lineCount(of: $1.path) })
        for file in sorted {
            file.digest.appendHex(to: &bytes)
            bytes.append(0x20)
            bytes.append(0x20)
            bytes += file.path
            bytes.append(0x0A)
        }
        return bytes
    }
}

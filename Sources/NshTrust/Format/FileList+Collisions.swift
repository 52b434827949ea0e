extension FileList {
    /// Refuses two names that a file system may take for one: files and directories, `SHA256SUMS` included, that are
    /// equal after full case folding and normal form C.
    ///
    /// Each file and each directory is entered once (see `newDirectories`), so any name met a second time is a
    /// violation: of two spellings, or of one name for a file and a directory.
    ///
    /// - Parameters:
    ///   - directories: The number of directories above the files.
    ///   - namesPerPass: How many names are held at once.
    /// - Throws: `unsafePath`.
    /// - Spec: PTH-9, PTH-10
    func judgeCollisions(directories: Int, namesPerPass: Int) throws(Refusal) {
        let names = count + directories + 1
        let passes = (names - 1) / namesPerPass + 1
        var collision: (first: Range<Int>, second: Range<Int>)?
        for pass in 0..<passes where collision == nil {
            var table = FoldedNames(expecting: min(names, namesPerPass), pass: pass, of: passes)
            collision = bytes.withUnsafeBytes { bytes in findCollision(&table, bytes) }
        }
        guard let collision else { return }
        let first = collision.first == FoldedNames.listItself ? Array(Self.path.utf8) : Array(bytes[collision.first])
        let second = Array(bytes[collision.second])
        let (shownFirst, shownSecond) = (Printable.escaped(bytes: first), Printable.escaped(bytes: second))
        throw Refusal(
            .unsafePath,
            first == second
                ? "“\(shownFirst)” is both a file and a directory, or listed beside the list of that name"
                : "“\(shownFirst)” and “\(shownSecond)” are one name where case does not count")
    }

    private func findCollision(
        _ table: inout FoldedNames, _ bytes: UnsafeRawBufferPointer
    ) -> (first: Range<Int>, second: Range<Int>)? {
        _ = table.insert(FoldedNames.listItself, hash: table.hash(Array(Self.path.utf8)), in: bytes)
        var before = 0..<0
        var cursor = Cursor()
        while let entry = next(&cursor) {
            let path = entry.path
            var ends = Self.newDirectories(of: path, after: before, in: bytes)
            ends.append(path.upperBound)
            table.hashPrefixes(of: UnsafeRawBufferPointer(rebasing: bytes[path]))
            // The nearest directories are the new ones.
            for (end, hash) in zip(ends, table.prefixHashes.suffix(ends.count)) {
                let name = path.lowerBound..<end
                if let held = table.insert(name, hash: hash, in: bytes) { return (held, name) }
            }
            before = path
        }
        return nil
    }
}

/// A hash set of folded names that keeps no name: each slot is where the name lies in the list, and a part of its hash.
///
/// The hash is seeded for each process, so a publisher cannot choose names that fall into one slot. Of very many names
/// one pass holds those of its own share, so that no list makes the table grow.
private struct FoldedNames {
    /// Stands for the name `SHA256SUMS`; no path lies there, each has a digest before it.
    static let listItself = 1..<1

    private var slots: [UInt64]
    private var scratch: [UInt8] = []
    /// What `hashPrefixes` found.
    private(set) var prefixHashes: [UInt64] = []
    private let pass: UInt64
    private let passes: UInt64

    // A slot: 24 bits offset, 11 bits length, 29 bits of the hash; 0 is a free one.
    private static let lengthShift: UInt64 = 24
    private static let tagShift: UInt64 = 35

    init(expecting names: Int, pass: Int, of passes: Int) {
        var size = 64
        // Half of the slots stay free; shares differ a little, and there is room for it.
        while size < 2 * names { size *= 2 }
        slots = [UInt64](repeating: 0, count: size)
        self.pass = UInt64(pass)
        self.passes = UInt64(passes)
    }

    /// Enters a name.
    ///
    /// - Parameters:
    ///   - name: Where the name lies in `bytes`; `listItself` stands for `SHA256SUMS`.
    ///   - hash: The hash of its folded form.
    ///   - bytes: The list.
    /// - Returns: The equal name that was entered before, or nil.
    mutating func insert(_ name: Range<Int>, hash: UInt64, in bytes: UnsafeRawBufferPointer) -> Range<Int>? {
        guard hash >> 32 % passes == pass else { return nil }
        let tag = hash & (1 << 29 - 1)
        let mask = slots.count - 1
        var slot = Int(truncatingIfNeeded: hash) & mask
        while slots[slot] != 0 {
            let held = slots[slot]
            if held >> Self.tagShift == tag {
                let offset = Int(held & (1 << Self.lengthShift - 1))
                let length = Int(held >> Self.lengthShift & (1 << 11 - 1))
                let other = offset..<(offset + length)
                if Self.folded(other, in: bytes) == Self.folded(name, in: bytes) { return other }
            }
            slot = (slot + 1) & mask
        }
        slots[slot] = UInt64(name.lowerBound) | UInt64(name.count) << Self.lengthShift | tag << Self.tagShift
        return nil
    }

    /// The hash of one name's folded form; it has no slash.
    mutating func hash(_ name: [UInt8]) -> UInt64 {
        name.withUnsafeBytes { hashPrefixes(of: $0) }
        return prefixHashes[0]
    }

    /// Hashes the folded forms of the directories above a path, and of the path.
    ///
    /// - Parameter path: The path; `prefixHashes` then has a hash for each component, that of the whole path last.
    mutating func hashPrefixes(of path: UnsafeRawBufferPointer) {
        Self.fold(path, into: &scratch)
        prefixHashes.removeAll(keepingCapacity: true)
        scratch.withUnsafeBytes { folded in
            var hasher = Hasher()
            var start = 0
            for at in 0..<folded.count where folded[at] == 0x2F {
                hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: folded[start..<at]))
                prefixHashes.append(UInt64(bitPattern: Int64(hasher.finalize())))
                start = at
            }
            hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: folded[start...]))
            prefixHashes.append(UInt64(bitPattern: Int64(hasher.finalize())))
        }
    }

    private static func folded(_ name: Range<Int>, in bytes: UnsafeRawBufferPointer) -> [UInt8] {
        if name == listItself { return UnicodeTables.folded(FileList.path) }
        var folded: [UInt8] = []
        fold(UnsafeRawBufferPointer(rebasing: bytes[name]), into: &folded)
        return folded
    }

    private static func fold(_ name: UnsafeRawBufferPointer, into folded: inout [UInt8]) {
        folded.removeAll(keepingCapacity: true)
        var seen: UInt8 = 0
        for byte in name { seen |= byte }
        guard seen < 0x80 else {
            folded = UnicodeTables.folded(String(decoding: name, as: UTF8.self))
            return
        }
        folded += name
        for at in folded.indices where (0x41...0x5A).contains(folded[at]) { folded[at] |= 0x20 }
    }
}

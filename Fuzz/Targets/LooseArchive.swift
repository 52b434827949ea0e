import NshTrust
import TestSupport

/// A tar archive taken apart without asking whether it is right, so that it can be made right where the fuzzer wants it.
struct LooseArchive {
    /// What a header says of an archive.
    struct Facts {
        /// Digest of the first file's data.
        var manifest = SHA256.hash([])
        /// Line feeds in it.
        var files: Int64 = 0
        /// Bytes of all files.
        var unpackedSize: Int64 = 0
    }

    private struct Member {
        var block: [UInt8]
        var data: [UInt8]
        var isFile: Bool { block[156] == 0x30 }
    }

    private var members: [Member] = []
    /// What follows the last member.
    private var rest: [UInt8] = []

    /// Reads as many members as there seem to be.
    init(_ bytes: [UInt8]) {
        var at = 0
        while at + 512 <= bytes.count {
            let block = Array(bytes[at..<(at + 512)])
            guard block.contains(where: { $0 != 0 }) else { break }
            let digits = block[124..<136].filter { (0x30...0x37).contains($0) }
            let size = digits.reduce(0) { min($0 * 8 + Int($1 - 0x30), 1 << 40) }
            let end = min(at + 512 + size, bytes.count)
            members.append(Member(block: block, data: Array(bytes[(at + 512)..<end])))
            at = min(at + 512 + (size + 511) / 512 * 512, bytes.count)
        }
        rest = Array(bytes[at...])
    }

    /// What a header has to say of it.
    var facts: Facts {
        var facts = Facts()
        let files = members.filter(\.isFile)
        if let list = files.first?.data {
            facts.manifest = SHA256.hash(list)
            facts.files = Int64(list.count { $0 == 0x0A })
        }
        facts.unpackedSize = files.reduce(0) { $0 + Int64($1.data.count) }
        return facts
    }

    /// Makes the first member `SHA256SUMS` for the others, in the order in which they come.
    mutating func rewriteSums() {
        guard !members.isEmpty else { return }
        var lines: [UInt8] = []
        var paxPath: [UInt8]?
        for member in members.dropFirst() {
            if member.block[156] == 0x78 {
                paxPath = Self.paxPath(member.data)
                continue
            }
            let prefix = Self.text(member.block[345..<500])
            let plain = (prefix.isEmpty ? [] : prefix + [0x2F]) + Self.text(member.block[0..<100])
            lines += Array("\(SHA256.hash(member.data).hex)  ".utf8) + (paxPath ?? plain) + [0x0A]
            paxPath = nil
        }
        members[0].data = lines
        members[0].block.replaceSubrange(124..<136, with: TarMember.octal(lines.count, digits: 11))
    }

    /// Makes the first member's mode, owner, group and time zero.
    mutating func rewriteIgnoredNumbers() {
        guard !members.isEmpty else { return }
        for (field, digits) in [(100..<108, 7), (108..<116, 7), (116..<124, 7), (136..<148, 11)] {
            members[0].block.replaceSubrange(field, with: TarMember.octal(0, digits: digits))
        }
    }

    /// Makes every checksum right.
    mutating func rewriteChecksums() {
        for index in members.indices {
            members[index].block.replaceSubrange(148..<156, with: [UInt8](repeating: 0x20, count: 8))
            let sum = members[index].block.reduce(0) { $0 + Int($1) }
            members[index].block.replaceSubrange(148..<156, with: TarMember.octal(sum, digits: 6) + [0x20])
        }
    }

    /// The bytes.
    var encoded: [UInt8] {
        members.flatMap { member in
            member.block + member.data + [UInt8](repeating: 0, count: (512 - member.data.count % 512) % 512)
        } + rest
    }

    private static func text(_ field: ArraySlice<UInt8>) -> [UInt8] { Array(field.prefix { $0 != 0 }) }

    private static func paxPath(_ data: [UInt8]) -> [UInt8]? {
        guard let keyword = data.firstRange(of: Array(" path=".utf8)),
            let end = data.last == 0x0A ? data.count - 1 : nil,
            keyword.upperBound <= end
        else { return nil }
        return Array(data[keyword.upperBound..<end])
    }
}

import NshTrust
import TestSupport

/// A package whose members a short script describes: a line each, a letter for how it is packed, then its path, then, behind
/// a tab, its data.
///
/// What is not described is as it should be, so that a script of one odd line makes a package that is odd in one place.
struct MemberScript {
    /// The package.
    private(set) var builder = PackageBuilder()

    /// Reads a script; every text is one.
    init(_ script: [UInt8]) {
        var files: [[UInt8]: [UInt8]] = [:]
        var packed: [(letter: UInt8, path: [UInt8], data: [UInt8])] = []
        for line in script.split(separator: 0x0A).prefix(200) {
            let parts = line.dropFirst().split(separator: 0x09, maxSplits: 1, omittingEmptySubsequences: false)
            guard let letter = line.first, let path = parts.first.map(Array.init) else { continue }
            let data = parts.count > 1 ? Array(parts[1]) : []
            if letter == 0x21 {
                files[path] = data
            } else {
                packed.append((letter, path, data))
            }
        }
        for (path, data) in builder.allFiles where packed.allSatisfy({ $0.path != path }) {
            if files[path] == nil { packed.append((0x2E, path, data)) }
        }
        // In order, unless a member asks to stand where it was written.
        if !packed.contains(where: { $0.letter == 0x3E }) {
            packed.sort { $0.path.lexicographicallyPrecedes($1.path) }
        }
        let members = packed
        var sums: [UInt8] = []
        for member in members { sums += Array("\(SHA256.hash(member.data).hex)  ".utf8) + member.path + [0x0A] }
        let list = sums
        builder.editSums = { $0 = list }
        let unpacked = Int64(sums.count + members.reduce(0) { $0 + $1.data.count })
        builder.editMembers = { all in
            all = [TarMember("SHA256SUMS", list)] + members.flatMap { Self.encode($0.letter, $0.path, $0.data) }
        }
        builder.editHeader = { $0.payload.unpackedSize = unpacked }
    }

    private static func encode(_ letter: UInt8, _ path: [UInt8], _ data: [UInt8]) -> [TarMember] {
        switch letter {
        case UInt8(ascii: "p"):
            return [.pax(TarMember.record("path", path)), TarMember("ignored", data)]
        case UInt8(ascii: "s"):
            return [
                .pax(TarMember.record("path", path), TarMember.record("size", "\(data.count)")), TarMember("i", data),
            ]
        case UInt8(ascii: "x"):
            guard let slash = path.lastIndex(of: 0x2F) else { return [TarMember(path, data)] }
            var member = TarMember(Array(path[(slash + 1)...]), data)
            member.prefix = Array(path[..<slash])
            return [member]
        case UInt8(ascii: "l"):
            var member = TarMember(path, [], kind: "2")
            member.fields[157] = Array(data.prefix(100))
            return [member]
        case UInt8(ascii: "h"):
            var member = TarMember(path, [], kind: "1")
            member.fields[157] = Array(data.prefix(100))
            return [member]
        case UInt8(ascii: "d"): return [TarMember(path, [], kind: "5")]
        case UInt8(ascii: "m"): return [TarMember(path, data), TarMember(path, data)]
        default: return TarMember.file(path, data)
        }
    }

    /// Scripts to begin with: an empty one, every letter, and paths of all kinds.
    static let seeds: @Sendable (SeedVectors) throws -> [Seed] = { _ in
        let accepted = [
            ".assets/a.txt\tdata", "passets/日本語/画面.js\tx", "xassets/deep/er/name.css\tbody{}", ".assets/é.txt\t1",
            ".bundle.js.map\t{}", ".assets/-rf\t2", "passets/" + String(repeating: "long/", count: 20) + "x\t3",
        ]
        let refused = [
            ("sassets/size.bin\tabc", "payloadCorrupt"), ("lassets/link\t../../etc/passwd", "unsafeMember"),
            ("hassets/hard\tbundle.js", "unsafeMember"), ("dassets/dir", "unsafeMember"),
            ("massets/twice\tx", "manifestMismatch"), (".../up", "unsafePath"), ("./abs", "unsafePath"),
            (".assets/../../up\tx", "unsafePath"), (".assets/con.txt", "unsafePath"),
            (".assets/e\u{301}", "unsafePath"),
            (".assets/a\n.assets/A", "unsafePath"), (".assets/x\n.assets/x/y", "unsafePath"),
            (".assets/ß\n.assets/SS", "unsafePath"), ("!bundle.js", "manifestMismatch"),
        ]
        return [Seed("empty", [], outcome: "accepted")]
            + accepted.enumerated().map { Seed("accepted-\($0.offset)", $0.element, outcome: "accepted") }
            + refused.enumerated().map { Seed("refused-\($0.offset)", $0.element.0, outcome: $0.element.1) }
    }
}

import CArchive
import Glibc
import NshTrust
import TestSupport
import Testing

/// What the gate lets pass, libarchive understands in the same way: same paths, same sizes, same bytes.
@Suite struct SecondReaderTests {
    private static let files: [String: [UInt8]] = [
        "assets/" + String(repeating: "n", count: 93): [1],
        "assets/" + String(repeating: "long/", count: 22) + "name.txt": Array("deep\n".utf8),
        "assets/日本語/画面.js": Array("画面\n".utf8),
        "assets/" + String(repeating: "é", count: 100) + ".txt": [2],
        "assets/empty": [],
        "assets/block": Noise.bytes(512),
        "assets/more": Noise.bytes(70_000),
        "-rf": [3],
        "$(id).js": [4],
    ]

    private static let variants: [(String, @Sendable (inout [TarMember]) -> Void)] = [
        ("plain", { _ in }),
        ("empty pax headers", { $0.insert(.pax(), at: 1) }),
        (
            "pax path for all",
            { members in
                members = members.flatMap { member in
                    member.kind == 0x78 || member.name.count >= 100
                        ? [member]
                        : [.pax(TarMember.record("path", member.name)), TarMember("ignored", member.data)]
                }
            }
        ),
        (
            "prefix",
            { members in
                for index in members.indices
                where members[index].name.starts(with: "assets/".utf8) && members[index].kind == 0x30 {
                    guard members[index].name.count < 100 else { continue }
                    members[index].prefix = Array("assets".utf8)
                    members[index].name.removeFirst(7)
                }
            }
        ),
        (
            "sizes and checksums in other spellings",
            { members in
                for index in members.indices {
                    let digits = Array(String(members[index].data.count, radix: 8).utf8)
                    members[index].fields[124] = [UInt8](repeating: 0x20, count: 11 - digits.count) + digits + [0x20]
                }
            }
        ),
        (
            "odd metadata",
            { members in
                for index in members.indices {
                    members[index].fields[100] = Array("0004777\0".utf8)
                    members[index].fields[265] = Array("wheel".utf8)
                }
            }
        ),
    ]

    @Test(.rules("TAR-12", "TAR-9", "TAR-3"), arguments: variants.indices)
    func understandsTheSameMembers(_ index: Int) throws {
        var package = PackageBuilder()
        package.files.merge(Self.files) { $1 }
        package.editMembers = Self.variants[index].1
        let sink = CollectingSink()
        try package.verify(sink: sink)
        let read = try Self.readWithLibarchive(package.archive)
        #expect(read.map(\.path) == sink.files.map(\.path), "\(Self.variants[index].0)")
        #expect(read.map(\.data) == sink.files.map(\.data), "\(Self.variants[index].0)")
    }

    /// Reads the regular files of a tar archive; every result but success ends the test.
    private static func readWithLibarchive(_ bytes: [UInt8]) throws -> [(path: String, data: [UInt8])] {
        // In the C locale libarchive has no UTF-8 names.
        let locale = try #require(newlocale(LC_CTYPE_MASK, "C.UTF-8", nil))
        let before = uselocale(locale)
        defer {
            uselocale(before)
            freelocale(locale)
        }
        let archive = try #require(archive_read_new())
        defer { archive_read_free(archive) }
        archive_read_support_format_tar(archive)
        return try bytes.withUnsafeBytes { bytes in
            try #require(archive_read_open_memory(archive, bytes.baseAddress, bytes.count) == ARCHIVE_OK)
            var files: [(String, [UInt8])] = []
            var entry: OpaquePointer?
            while true {
                let result = archive_read_next_header(archive, &entry)
                if result == ARCHIVE_EOF { return files }
                try #require(result == ARCHIVE_OK)
                let path = String(cString: try #require(archive_entry_pathname_utf8(entry)))
                var data = [UInt8](repeating: 0, count: Int(archive_entry_size(entry)))
                let count = data.withUnsafeMutableBytes { archive_read_data(archive, $0.baseAddress, $0.count) }
                try #require(count == data.count)
                files.append((path, data))
            }
        }
    }
}

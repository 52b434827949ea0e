import CArchive
import Glibc
import NshTrust
import TestSupport

/// libarchive, asked what it sees in an archive that was accepted.
enum SecondReader {
    /// Requires that libarchive finds the same files with the same bytes.
    static func compare(_ archive: [UInt8]) throws {
        let sink = CollectingSink()
        _ = try Bench.verify(Bench.package(archive, .none, LooseArchive(archive).facts), sink: sink)
        let found = try read(withNumbersWhereNothingIsRead(archive))
        try require(
            found.elementsEqual(sink.files) { $0.path.utf8.elementsEqual($1.path.utf8) && $0.data == $1.data },
            "libarchive finds \(found.map(\.path)), we \(sink.files.map(\.path))")
    }

    /// Mode, owner, group and time need no form (TAR-16); libarchive takes nothing for an archive that begins without.
    private static func withNumbersWhereNothingIsRead(_ bytes: [UInt8]) -> [UInt8] {
        let isFormed = [100..<124, 136..<148].allSatisfy { field in
            bytes[field].allSatisfy { (0x30...0x37).contains($0) || $0 == 0x20 || $0 == 0 }
        }
        if isFormed { return bytes }
        var archive = LooseArchive(bytes)
        archive.rewriteIgnoredNumbers()
        archive.rewriteChecksums()
        return archive.encoded
    }

    private static func read(_ bytes: [UInt8]) throws -> [(path: String, data: [UInt8])] {
        // In the C locale libarchive has no UTF-8 names.
        guard let locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", nil), let archive = archive_read_new() else {
            throw BrokenProperty("libarchive cannot be used")
        }
        let before = uselocale(locale)
        defer {
            archive_read_free(archive)
            uselocale(before)
            freelocale(locale)
        }
        archive_read_support_format_tar(archive)
        return try bytes.withUnsafeBytes { bytes in
            guard archive_read_open_memory(archive, bytes.baseAddress, bytes.count) == ARCHIVE_OK else {
                throw BrokenProperty("libarchive does not open an accepted archive")
            }
            var files: [(String, [UInt8])] = []
            var entry: OpaquePointer?
            while true {
                let result = archive_read_next_header(archive, &entry)
                if result == ARCHIVE_EOF { return files }
                guard result == ARCHIVE_OK, let name = archive_entry_pathname_utf8(entry) else {
                    throw BrokenProperty("libarchive does not read on in an accepted archive")
                }
                var data = [UInt8](repeating: 0, count: Int(archive_entry_size(entry)))
                let count = data.withUnsafeMutableBytes { archive_read_data(archive, $0.baseAddress, $0.count) }
                try require(count == data.count, "libarchive finds less in an accepted archive")
                files.append((String(cString: name), data))
            }
        }
    }
}

import FoundationEssentials
import Glibc
import NshTrust
import TestSupport
import Testing

/// Payloads around and beyond the sizes that 32-bit numbers hold: the last byte counts as much as the first.
///
/// The files are sparse: they take no room, and are read and hashed whole. Without `NSH_LONG=1` one size is tried.
@Suite(.serialized) struct LargePayloadAttacks {
    private static let isLong = ProcessInfo.processInfo.environment["NSH_LONG"] == "1"
    private static let sizes: [Int64] =
        isLong ? [1 << 31 - 1, 1 << 31, 1 << 31 + 1, 1 << 32, 1 << 32 + 1] : [1 << 31 + 1]

    @Test(.attack("G5"), .rules("PKG-13", "PAY-1", "SUM-7", "LIM-5"), arguments: sizes)
    func theLastByteOfALargeFileCounts(_ size: Int64) throws {
        let host = try AttackHost { $0.limits.unpackedBytes = 8 << 30 }
        let package = SparsePackage(size)
        let path = try package.write(to: host)
        #expect(try host.core.verify(path: path).unpackedSize == package.unpackedSize)
        let before = try host.contents
        let descriptor = Glibc.open(path, O_RDWR)
        #expect(descriptor >= 0)
        defer { close(descriptor) }
        var byte: UInt8 = 1
        #expect(pwrite(descriptor, &byte, 1, off_t(package.offset + package.lastByte)) == 1)
        #expect(AttackHost.code { try host.core.verify(path: path) } == .payloadCorrupt)
        // The same change in a payload whose chunks were signed with it: the list of files has the last word.
        let signed = SparsePackage(size, last: 1)
        let second = try signed.write(to: host)
        #expect(AttackHost.code { try host.core.verify(path: second) } == .manifestMismatch)
        let after = try host.contents
        #expect(after.rows == before.rows && after.files == before.files)
    }
}

/// A package with one file of zeros of any size, written as a sparse file.
private struct SparsePackage {
    /// The bytes in front of the payload.
    private let front: [UInt8]
    /// The bytes of the payload before the zeros, and behind the last of them.
    private let head: [UInt8]
    private let tail: [UInt8]
    private let size: Int64
    private let last: UInt8

    /// Where the payload begins in the file.
    var offset: Int64 { Int64(front.count) }
    /// Where the file's last byte stands in the payload.
    var lastByte: Int64 { Int64(head.count) + size - 1 }
    let unpackedSize: Int64

    private static let chunkSize: Int64 = 16 << 20

    /// Makes the package; the sums say that the file is zeros, its last byte may be another.
    init(_ size: Int64, last: UInt8 = 0) {
        self.size = size
        self.last = last
        var package = PackageBuilder()
        package.files = ["bundle.js": [0x3B]]
        let big = "assets/big.bin"
        let digest = Self.digestOfZeros(size)
        let (app, bundle) = (package.allFiles[0], package.allFiles[1])
        let sums =
            Array("\(SHA256.hash(app.data).hex)  app.json\n\(digest.hex)  \(big)\n".utf8)
            + Array("\(SHA256.hash(bundle.data).hex)  bundle.js\n".utf8)
        var member = TarMember(big)
        member.size = Int(size)
        head =
            TarMember("SHA256SUMS", sums).encoded + TarMember(app.path, app.data).encoded + member.block
        let padding = [UInt8](repeating: 0, count: Int((512 - size % 512) % 512))
        tail = padding + TarMember(bundle.path, bundle.data).encoded + [UInt8](repeating: 0, count: 1024)
        unpackedSize = Int64(sums.count + app.data.count + bundle.data.count) + size
        let payloadSize = Int64(head.count) + size + Int64(tail.count)
        let chunks = Self.chunks(head, size, last, tail)
        let unpacked = unpackedSize
        package.editHeader = { header in
            header.payload = PackageHeader.Payload(
                chunkSize: Self.chunkSize, chunks: chunks, compression: .none, files: 3, manifest: SHA256.hash(sums),
                size: payloadSize, unpackedSize: unpacked)
        }
        package.damagePayload = { $0 = [] }
        front = package.build()
    }

    /// Writes the file, with a hole where the zeros are.
    func write(to host: AttackHost) throws -> String {
        let path = try host.write(front + head, as: "large-\(size)-\(last).nshpkg")
        let descriptor = Glibc.open(path, O_RDWR)
        defer { close(descriptor) }
        var last = last
        guard descriptor >= 0, pwrite(descriptor, &last, 1, off_t(offset + lastByte)) == 1,
            pwrite(descriptor, tail, tail.count, off_t(offset + lastByte + 1)) == tail.count
        else { throw Trouble(.ioFailure, "cannot write \(path)") }
        return path
    }

    private static func digestOfZeros(_ size: Int64) -> Digest {
        var hash = SHA256()
        let zeros = [UInt8](repeating: 0, count: 1 << 20)
        for _ in 0..<size >> 20 { hash.update(zeros) }
        hash.update([UInt8](repeating: 0, count: Int(size & (1 << 20 - 1))))
        return hash.finish()
    }

    /// The digests of the chunks; those that are all zeros are hashed once.
    private static func chunks(_ head: [UInt8], _ size: Int64, _ last: UInt8, _ tail: [UInt8]) -> [Digest] {
        let end = Int64(head.count) + size
        let total = end + Int64(tail.count)
        let zeros = SHA256.hash([UInt8](repeating: 0, count: Int(chunkSize)))
        return stride(from: 0, to: total, by: Int(chunkSize)).map { start in
            let stop = min(start + chunkSize, total)
            guard start < head.count || stop >= end else { return zeros }
            var chunk = [UInt8](repeating: 0, count: Int(stop - start))
            if start == 0 { chunk.replaceSubrange(..<head.count, with: head) }
            for (index, byte) in ([last] + tail).enumerated() {
                let place = end - 1 + Int64(index) - start
                if chunk.indices ~= Int(place) { chunk[Int(place)] = byte }
            }
            return SHA256.hash(chunk)
        }
    }
}

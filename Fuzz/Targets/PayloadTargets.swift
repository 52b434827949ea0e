import CZstd
import NshTrust
import TestSupport

extension FuzzTarget {
    /// A flag byte and an archive, signed: the flags make checksums and sums right, and choose how it is packed.
    static let archive = FuzzTarget(
        "archive", maximumLength: 32 << 10, dictionary: "tar",
        seeds: { vectors in
            let built = PackageBuilder().archive
            return try vectors.archives().flatMap { seed in
                [UInt8(0), 3].map { Seed("\(seed.name)-\($0)", [$0] + seed.bytes) }
            } + [0, 3, 4, 7, 8, 11].map { Seed("built-\($0)", [$0] + built, outcome: "accepted") }
        },
        judge: { input in
            let flags = input.first ?? 0
            var archive = Array(input.dropFirst())
            var loose = LooseArchive(archive)
            if flags & 2 != 0 { loose.rewriteSums() }
            if flags & 1 != 0 { loose.rewriteChecksums() }
            if flags & 3 != 0 { archive = loose.encoded }
            let payload: [UInt8] =
                switch flags >> 2 & 3 {
                case 0: archive
                case 1: ZstdFrame(storing: archive, step: 512 + Int(flags >> 4) * 100).encoded
                default: ZstdFrame.compressed(archive)
                }
            let compression: PackageHeader.Compression = flags >> 2 & 3 == 0 ? .none : .zstd
            // An empty payload cannot be stated, and is no archive.
            guard !payload.isEmpty else { return "empty" }
            let file = Bench.package(payload, compression, loose.facts) { header in
                if flags & 0xC0 == 0x40 { header.payload.unpackedSize += 1 }
                if flags & 0xC0 == 0x80 { header.payload.files += 1 }
            }
            let verdict = try Bench.judge(file)
            if verdict == "accepted" {
                try require(flags & 0xC0 == 0 || flags & 0xC0 == 0xC0, "a header that counts otherwise was accepted")
                try SecondReader.compare(archive)
            }
            return verdict
        })

    /// Bytes that claim to be a zstd frame, signed.
    static let frame = FuzzTarget(
        "frame", maximumLength: 32 << 10, dictionary: nil,
        seeds: { vectors in
            let built = PackageBuilder().archive
            var sized = ZstdFrame(storing: built, step: 1000)
            sized.contentSize = UInt64(built.count)
            var single = sized
            single.window = nil
            return try vectors.frames() + [
                Seed("stored", ZstdFrame(storing: built).encoded, outcome: "accepted"),
                Seed("sized", sized.encoded, outcome: "accepted"), Seed("single", single.encoded, outcome: "accepted"),
                Seed("compressed", ZstdFrame.compressed(built), outcome: "accepted"),
                Seed("compressed-hard", ZstdFrame.compressed(built, level: 19), outcome: "accepted"),
            ]
        },
        judge: { input in
            guard !input.isEmpty else { return "empty" }
            let decoded = Self.decodeLoosely(input)
            let verdict = try Bench.judge(Bench.package(input, .zstd, LooseArchive(decoded).facts))
            if verdict == "accepted" {
                try require(decoded.count < Self.decodedMaximum, "an archive of \(decoded.count) bytes was accepted")
                let count = ZSTD_findFrameCompressedSize(input, input.count)
                try require(count == input.count, "more or less than one frame was accepted")
                try require(ZSTD_getDictID_fromFrame(input, input.count) == 0, "a frame with a dictionary was accepted")
                var whole = [UInt8](repeating: 0, count: decoded.count + 1)
                let size = ZSTD_decompress(&whole, whole.count, input, input.count)
                try require(size == decoded.count, "decoded at once the frame holds something else")
            }
            return verdict
        })

    /// Bytes that claim to be `SHA256SUMS`, signed, before files that fit as many of its lines as there are files for.
    static let sums = FuzzTarget(
        "sums", maximumLength: 16 << 10, dictionary: "path",
        seeds: { _ in
            var builder = PackageBuilder()
            let plain = builder.sums
            builder.files["assets/日本語/é.txt"] = [1]
            builder.files["bundle.qbc"] = [2]
            return [Seed("plain", plain, outcome: "accepted"), Seed("more", builder.sums), Seed("empty", [])]
        },
        judge: { input in
            var builder = PackageBuilder()
            let lines = input.split(separator: 0x0A)
            for line in lines.prefix(64) where line.count > 66 && line.count < 300 {
                let path = String(decoding: line.dropFirst(66), as: UTF8.self)
                if !["app.json", "capabilities.json"].contains(path), builder.files[path] == nil {
                    builder.files[path] = []
                }
            }
            builder.files = builder.files.filter { name, _ in
                lines.contains { $0.dropFirst(66).elementsEqual(name.utf8) }
            }
            builder.editSums = { $0 = input }
            let parsed = try judged { try FileList(parsing: input) }
            if let list = parsed.value {
                var cursor = FileList.Cursor()
                var rewritten: [UInt8] = []
                while let entry = list.next(&cursor) {
                    rewritten += Array("\(list.hex(of: entry))  \(list.path(of: entry))\n".utf8)
                }
                try require(rewritten == input, "SHA256SUMS is written otherwise than read")
            }
            return try Bench.judge(builder.build())
        })

    /// Members described line by line, made into an archive whose sums are right, and signed.
    static let members = FuzzTarget(
        "members", maximumLength: 8 << 10, dictionary: "path", seeds: MemberScript.seeds,
        judge: { input in try Bench.judge(MemberScript(input).builder.build()) })

    /// More than what a header can be made to state for a frame of the longest input, and the zeros behind it.
    private static let decodedMaximum = 8 << 20

    /// What libzstd makes of the first frame.
    private static func decodeLoosely(_ frame: [UInt8]) -> [UInt8] {
        let stream = ZSTD_createDStream()
        defer { ZSTD_freeDStream(stream) }
        return [UInt8](unsafeUninitializedCapacity: decodedMaximum) { output, count in
            frame.withUnsafeBytes { input in
                var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
                var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
                while true {
                    let before = (source.pos, target.pos)
                    let left = ZSTD_decompressStream(stream, &target, &source)
                    if ZSTD_isError(left) != 0 || left == 0 || before == (source.pos, target.pos) { break }
                }
                count = target.pos
            }
        }
    }
}

import Glibc
import NshTrust
import TestSupport
import Testing

/// Packages in files are read on a second thread: the verdicts are the same.
@Suite struct ReadAheadTests {
    private static func package(_ packing: PackageBuilder.Packing, chunkSize: Int = 65536) -> PackageBuilder {
        var package = PackageBuilder()
        package.packing = packing
        package.chunkSize = chunkSize
        package.files["assets/noise.bin"] = Noise.bytes(1_300_000)
        return package
    }

    /// Verifies the package from a file, which the body may change while it is open.
    private static func code(
        _ package: PackageBuilder, sink: (any PayloadSink)? = nil, monitor: Monitor = Monitor(),
        _ change: (String) -> Int32 = { _ in 0 }
    ) throws -> RefusalCode? {
        try code(of: package.build(), sink: sink, monitor: monitor, change)
    }

    private static func code(
        of bytes: [UInt8], sink: (any PayloadSink)? = nil, monitor: Monitor, _ change: (String) -> Int32 = { _ in 0 }
    ) throws -> RefusalCode? {
        let directory = try TemporaryDirectory()
        let path = try directory.write("a.nshpkg", bytes)
        let chain = try PackageBuilder.chain(of: bytes)
        let file = try PackageFile.open(path)
        #expect(change(path) == 0)
        var input = FileInput(descriptor: file.descriptor.raw, name: file.name, offset: chain.payloadOffset)
        return try refusalCode {
            try PayloadVerifier.run(chain, input: &input, limits: Limits(), sink: sink, monitor: monitor)
        }
    }

    @Test(.rules("PAY-1"), arguments: [65536, 1 << 20, 4 << 20, 16 << 20])
    func readsTheSameBytes(_ chunkSize: Int) throws {
        for packing in [PackageBuilder.Packing.none, .zstd, .storedFrame] {
            let sink = CollectingSink()
            #expect(try Self.code(Self.package(packing, chunkSize: chunkSize), sink: sink) == nil)
            #expect(sink.files.last { $0.path == "assets/noise.bin" }?.data == Noise.bytes(1_300_000))
        }
    }

    @Test(.rules("PAY-1", "PAY-2", "POL-13"), arguments: [0, 1, 2]) func findsTheLowestFailure(_ kind: Int) throws {
        var package = Self.package(.none)
        package.damagePayload = { $0[1_100_000] ^= 1 }
        #expect(try Self.code(package) == .payloadCorrupt)
        package.damagePayload = { $0.removeLast(100_000) }
        #expect(try Self.code(package) == .truncated)
        package.editMembers = { $0[1].kind = 0x32 }
        #expect(try Self.code(package) == .unsafeMember)
        package.damagePayload = { $0[100] ^= 1 }
        #expect(try Self.code(package) == .payloadCorrupt)
    }

    /// Members: `SHA256SUMS`, app.json, assets/logo.svg, assets/noise.bin, bundle.js, and what follows them.
    @Test(.rules("SUM-7", "POL-13"), arguments: [1, 2, 3, 4])
    func findsAFileOfAnotherDigestBeforeWhatComesBehindIt(_ member: Int) throws {
        for packing in [PackageBuilder.Packing.none, .zstd] {
            var package = Self.package(packing)
            package.files["z"] = Noise.bytes(900_000).reversed()
            package.editMembers = { $0[member].data[0] ^= 1 }
            #expect(try Self.code(package) == .manifestMismatch)
            package.end = [1]
            #expect(try Self.code(package) == .manifestMismatch)
            package.damagePayload = { $0[$0.count - 500_000] ^= 1 }
            #expect(try Self.code(package) == .manifestMismatch)
            // What lies before it counts before it.
            package.damagePayload = { $0[100] ^= 1 }
            #expect(try Self.code(package) == .payloadCorrupt)
        }
    }

    @Test(.rules("SUM-7", "POL-13")) func findsAFileOfAnotherDigestBeforeTheSinkIsFull() throws {
        var package = Self.package(.none)
        package.editMembers = { $0[2].data[0] ^= 1 }
        #expect(try Self.code(package, sink: FailingSink()) == .manifestMismatch)
    }

    @Test(.rules("SUM-7")) func findsAnotherDigestOfTheLastFile() throws {
        for packing in [PackageBuilder.Packing.none, .zstd] {
            var package = Self.package(packing)
            package.editMembers = { $0[$0.count - 1].data[0] ^= 1 }
            #expect(try Self.code(package) == .manifestMismatch)
        }
    }

    @Test(.rules("PKG-5")) func findsTrailingBytes() throws {
        var package = Self.package(.none)
        package.editFile = { $0.append(0) }
        #expect(try Self.code(package) == .trailingData)
    }

    @Test(.rules("PAY-2")) func refusesAFileThatWasCutAfterItWasOpened() throws {
        let code = try Self.code(Self.package(.none)) { truncate($0, 700_000) }
        #expect(code == .truncated)
    }

    @Test(.attack("G11"), .rules("PAY-1")) func refusesAFileThatIsRewrittenWhileItIsRead() throws {
        let directory = try TemporaryDirectory()
        let package = Self.package(.none)
        let bytes = package.build()
        let path = try directory.write("a.nshpkg", bytes)
        let chain = try PackageBuilder.chain(of: bytes)
        let file = try PackageFile.open(path)
        var input = FileInput(descriptor: file.descriptor.raw, name: file.name, offset: chain.payloadOffset)
        let sink = RewritingSink(path: path, offset: Int(chain.payloadOffset) + 1_200_000)
        let code = try refusalCode {
            try PayloadVerifier.run(chain, input: &input, limits: Limits(), sink: sink, monitor: Monitor())
        }
        #expect(code == .payloadCorrupt)
    }

    /// Wherever it stops, and although the other threads have meanwhile done all that they can: none is kept waiting.
    @Test(.rules("STO-14"), .timeLimit(.minutes(2)), arguments: [PackageBuilder.Packing.none, .zstd])
    func stopsWhenTheCallerCancelsOnTheWay(_ packing: PackageBuilder.Packing) throws {
        var package = Self.package(packing)
        package.files["assets/noise.bin"] = Noise.bytes(2_600_000)
        let bytes = package.build()
        for questions in 1...24 {
            let asked = Locked(0)
            let monitor = Monitor(isCancelled: {
                let count = asked.withLock { count in
                    count += 1
                    return count
                }
                if count == questions { usleep(20_000) }
                return count >= questions
            })
            let trouble = #expect(throws: Trouble.self) { _ = try Self.code(of: bytes, monitor: monitor) }
            #expect(trouble?.code == .cancelled)
        }
    }

    @Test func passesOnWhatTheSinkThrows() throws {
        let trouble = #expect(throws: Trouble.self) { _ = try Self.code(Self.package(.zstd), sink: FailingSink()) }
        #expect(trouble?.code == .storeFull)
    }
}

/// Changes the file that is being verified once the first file comes.
private final class RewritingSink: PayloadSink {
    private let path: String
    private let offset: Int

    init(path: String, offset: Int) {
        self.path = path
        self.offset = offset
    }

    func beginFile(_ path: UnsafeRawBufferPointer, size: Int64) {
        let descriptor = open(self.path, O_WRONLY)
        defer { close(descriptor) }
        #expect(pwrite(descriptor, [UInt8](repeating: 0, count: 100), 100, off_t(offset)) == 100)
    }
    func write(_ bytes: UnsafeRawBufferPointer) {}
    func endFile() {}
}

/// Has no room after a while.
private final class FailingSink: PayloadSink {
    private var count = 0
    func beginFile(_ path: UnsafeRawBufferPointer, size: Int64) {}
    func write(_ bytes: UnsafeRawBufferPointer) throws {
        count += bytes.count
        if count > 700_000 { throw Trouble(.storeFull, "no room") }
    }
    func endFile() {}
}

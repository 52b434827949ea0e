import NshTrust
import TestSupport
import Testing

@Suite struct PayloadVerifierTests {
    /// Refuses a package that is good but for one edit.
    private static func code(_ edit: (inout PackageBuilder) -> Void) throws -> RefusalCode? {
        var package = PackageBuilder()
        edit(&package)
        return try package.refusal()
    }

    /// Refuses a package whose member of this number is edited: 0 is SHA256SUMS, 1 app.json, 2 assets/logo.svg, 3 bundle.js.
    private static func code(member index: Int, _ edit: @escaping @Sendable (inout TarMember) -> Void) throws
        -> RefusalCode?
    {
        try code { $0.editMembers = { edit(&$0[index]) } }
    }

    private static let big = [UInt8]((0..<200_000).map { UInt8(truncatingIfNeeded: $0 * 31 + $0 / 251) })

    static let packings: [(String, PackageBuilder.Packing)] = [
        ("none", .none), ("stored frame", .storedFrame), ("zstd", .zstd),
    ]

    // MARK: - What is accepted

    @Test(.rules("PAY-1", "PAY-3", "SUM-6", "SUM-13"), arguments: packings)
    func handsOnEachFileInTheOrderOfTheList(_ name: String, _ packing: PackageBuilder.Packing) throws {
        var package = PackageBuilder()
        package.packing = packing
        package.files["assets/big.bin"] = Self.big
        package.files["assets/empty"] = []
        package.files["assets/" + String(repeating: "long/", count: 20) + "name"] = [1]
        package.capabilities = ["network": .object(["hosts": .array([.text("api.example.com")])])]
        let sink = CollectingSink()
        let summary = try package.verify(sink: sink)
        let expected =
            [("SHA256SUMS", package.sums)]
            + package.allFiles.map { (String(decoding: $0.path, as: UTF8.self), $0.data) }
        #expect(sink.files.map(\.path) == expected.map(\.0))
        #expect(sink.files.map(\.data) == expected.map(\.1))
        #expect(summary.files == 7 && summary.directories == 21)
        #expect(summary.unpackedSize == Int64(expected.reduce(0) { $0 + $1.1.count }))
    }

    @Test(.rules("SUM-9")) func acceptsMoreInAppJSON() throws {
        let text =
            #"{"version":"1.4.0","x":{"n":[1.5,-0,2e9,true,null]},"build":42,"id":"com.example.orders","name":"Orders"}"#
        #expect(try Self.code { $0.files["app.json"] = Array(text.utf8) } == nil)
    }

    // MARK: - Chunks

    @Test(.rules("PAY-1"), arguments: [0, 65535, 65536, 140_000, 199_999])
    func refusesAChangedChunk(_ offset: Int) throws {
        #expect(
            try Self.code {
                $0.files["assets/big.bin"] = Self.big
                $0.damagePayload = { $0[offset] ^= 1 }
            } == .payloadCorrupt)
    }

    @Test(.rules("PAY-1")) func refusesChunksThatChangedPlaces() throws {
        #expect(
            try Self.code {
                $0.files["assets/big.bin"] = Self.big
                $0.damagePayload = { $0.replaceSubrange(0..<131_072, with: Array($0[65536..<131_072]) + $0[..<65536]) }
            } == .payloadCorrupt)
    }

    @Test(.rules("PAY-2", "PKG-5"), arguments: [1, 100, 65536, 150_000]) func refusesACutFile(_ missing: Int) throws {
        #expect(
            try Self.code {
                $0.files["assets/big.bin"] = Self.big
                $0.damagePayload = { $0.removeLast(missing) }
            } == .truncated)
    }

    @Test(.rules("PKG-5"), arguments: packings)
    func refusesBytesBehindThePayload(_ name: String, _ packing: PackageBuilder.Packing) throws {
        #expect(
            try Self.code {
                $0.packing = packing
                $0.editFile = { $0.append(0) }
            } == .trailingData)
    }

    @Test(.rules("PKG-5")) func refusesEverythingElseBeforeTrailingBytes() throws {
        #expect(
            try Self.code {
                $0.editFile = { $0.append(0) }
                $0.end = [UInt8](repeating: 0, count: 512)
            } == .payloadCorrupt)
    }

    @Test(.rules("PAY-1", "PAY-2", "POL-13")) func judgesWhatStandsBeforeABadChunk() throws {
        // The bad member ends in the first chunk, the second chunk is damaged or missing.
        for damage: @Sendable (inout [UInt8]) -> Void in [{ $0[70_000] ^= 1 }, { $0.removeLast($0.count - 65536) }] {
            #expect(
                try Self.code {
                    $0.files["assets/big.bin"] = Self.big
                    $0.editMembers = { $0[1].kind = 0x32 }
                    $0.damagePayload = damage
                } == .unsafeMember)
        }
    }

    @Test(.rules("PAY-1", "POL-13")) func aBadChunkFailsAtItsFirstByte() throws {
        // The bad member stands in the first chunk too: the chunk comes first.
        #expect(
            try Self.code {
                $0.files["assets/big.bin"] = Self.big
                $0.editMembers = { $0[1].kind = 0x32 }
                $0.damagePayload = { $0[60_000] ^= 1 }
            } == .payloadCorrupt)
    }

    @Test(.rules("PAY-2")) func refusesAFileThatShrinksWhileItIsRead() throws {
        var package = PackageBuilder()
        package.files["assets/big.bin"] = Self.big
        let file = package.build()
        let chain = try PackageBuilder.chain(of: file)
        var input = ShrinkingInput(bytes: Array(file[Int(chain.payloadOffset)...]), endsAfter: 100_000)
        let code = try refusalCode {
            try PayloadVerifier.run(chain, input: &input, limits: Limits(), sink: nil, monitor: Monitor())
        }
        #expect(code == .truncated)
    }

    // MARK: - Members

    @Test(.rules("SUM-1")) func refusesAnotherFirstMember() throws {
        #expect(try Self.code(member: 0) { $0.name = Array("sums".utf8) } == .manifestMismatch)
        #expect(try Self.code(member: 0) { $0.name = Array("../sums".utf8) } == .unsafePath)
        #expect(try Self.code { $0.editArchive = { $0 = [UInt8](repeating: 0, count: 1024) } } == .manifestMismatch)
    }

    @Test(.rules("SUM-2")) func refusesAListOfAnotherDigest() throws {
        #expect(try Self.code { $0.editHeader = { $0.payload.manifest = SHA256.hash([]) } } == .manifestMismatch)
    }

    @Test(.rules("SUM-5")) func refusesAnotherNumberOfFiles() throws {
        #expect(try Self.code { $0.editHeader = { $0.payload.files += 1 } } == .manifestMismatch)
    }

    @Test(.rules("SUM-6")) func refusesMissingExtraAndExchangedMembers() throws {
        let edits: [@Sendable (inout [TarMember]) -> Void] = [
            { $0.removeLast() }, { $0.remove(at: 2) }, { $0.append(TarMember("z", [1])) }, { $0.swapAt(2, 3) },
            { $0.insert($0[1], at: 1) }, { $0[3].name = Array("other.js".utf8) }, { $0.insert($0[0], at: 0) },
        ]
        for edit in edits {
            var package = PackageBuilder()
            package.editMembers = edit
            package.editHeader = { $0.payload.unpackedSize += 1000 }
            #expect(try package.refusal() == .manifestMismatch)
        }
    }

    @Test(.rules("SUM-6")) func aMissingFileOfNoBytesIsMissed() throws {
        var package = PackageBuilder()
        package.files["z.bin"] = []
        #expect(try package.refusal() == nil)
        package.editMembers = { $0.removeLast() }
        #expect(try package.refusal() == .manifestMismatch)
    }

    @Test(.rules("SUM-6", "TAR-14")) func aMissingFileFailsAtTheEndMark() throws {
        // Bytes behind the end mark come after it; half an end mark is none.
        let bytesBehind = [UInt8](repeating: 0, count: 1024) + [1]
        #expect(
            try Self.code {
                $0.editMembers = { $0.removeLast() }; $0.end = bytesBehind
            } == .manifestMismatch)
        let half = [UInt8](repeating: 0, count: 512) + [1]
        #expect(
            try Self.code {
                $0.editMembers = { $0.removeLast() }; $0.end = half
            } == .payloadCorrupt)
    }

    @Test(.rules("SUM-7"), arguments: [1, 2, 3]) func refusesAFileOfAnotherDigest(_ index: Int) throws {
        #expect(try Self.code(member: index) { $0.data[0] ^= 1 } == .manifestMismatch)
    }

    @Test(.rules("SUM-7", "TAR-13")) func judgesTheDataBeforeThePadding() throws {
        let code = try Self.code(member: 2) {
            $0.data[0] ^= 1
            $0.padding = [UInt8](repeating: 1, count: 512 - $0.data.count)
        }
        #expect(code == .manifestMismatch)
    }

    @Test(.rules("SUM-8"), arguments: [-1, 1]) func refusesAnotherUnpackedSize(_ difference: Int64) throws {
        #expect(try Self.code { $0.editHeader = { $0.payload.unpackedSize += difference } } == .manifestMismatch)
    }

    @Test(.rules("SUM-8", "TAR-11")) func refusesASizeThatIsTooLargeBeforeReadingIt() throws {
        let code = try Self.code {
            $0.editMembers = { $0.insert(.pax(TarMember.record("size", "9999999999999999")), at: 2) }
            $0.editHeader = { $0.payload.unpackedSize += 1 }
        }
        #expect(code == .manifestMismatch)
    }

    @Test(
        .rules("SUM-9", "JSN-6"),
        arguments: [
            "[]", "", "{}", #"{"id":"com.example.orders"}"#, #"{"build":42,"build":42,"#, #"{"build":42.0,"#,
            #"{"build":4.2e1,"#, #"{"build":-0,"#, #"{"build":"42","#, #"{"build":true,"#, #"{"build":43,"#,
            "\u{FEFF}{",
            #"{"Build":42,"#, #"{"build":42,"x":.5,"#, #"{"build":42,"x":"\ud800","#,
        ])
    func refusesAnotherAppJSON(_ start: String) throws {
        let rest = #""id":"com.example.orders","name":"Orders","version":"1.4.0"}"#
        let text = start.hasSuffix(",") ? start + rest : start
        #expect(try Self.code { $0.files["app.json"] = Array(text.utf8) } == .manifestMismatch)
    }

    @Test(.rules("SUM-9"), arguments: ["id", "name", "version"]) func refusesAnAppJSONOfAnotherApp(_ name: String)
        throws
    {
        #expect(
            try Self.code {
                var json = $0.app.json
                json[name] = .text("com.example.other")
                $0.files["app.json"] = JSONValue.object(json).serialized
            } == .manifestMismatch)
    }

    @Test(
        .rules("SUM-10", "SUM-15"),
        arguments: [
            (#"{"a":1,"b":[true,null,"x"]}"#, true), (#" { "b" : [ true , null , "\u0078" ] , "a" : 1 } "#, true),
            (#"{"a":1,"b":[null,true,"x"]}"#, false), (#"{"a":true,"b":[true,null,"x"]}"#, false), (#"{"a":1}"#, false),
            (#"{"a":1.0,"b":[true,null,"x"]}"#, false), (#"{"a":1,"b":[true,null,"x"],"c":{}}"#, false), ("[]", false),
            (#"{"a":1,"b":[true,null,"X"]}"#, false), (#"{"a":1,"a":1,"b":[true,null,"x"]}"#, false),
        ])
    func comparesCapabilitiesByTypeAndValue(_ text: String, _ isEqual: Bool) throws {
        let code = try Self.code {
            $0.capabilities = ["a": .integer(1), "b": .array([.boolean(true), .null, .text("x")])]
            $0.files["capabilities.json"] = Array(text.utf8)
        }
        #expect(code == (isEqual ? nil : .manifestMismatch))
    }

    @Test(.rules("SUM-12")) func refusesCodeThatTheCertificateDoesNotAllow() throws {
        #expect(
            try Self.code {
                $0.certificate.content = [.bytecode]
                $0.certificate.statesContent = true
            } == .contentNotCertified)
    }

    @Test(.rules("LIM-8", "LIM-9"), arguments: [(0, 16 << 20), (1, 1 << 20)])
    func boundsFilesThatAreHeldInMemory(_ index: Int, _ limit: Int) throws {
        for size in [limit, limit + 1] {
            let code = try Self.code {
                $0.editMembers = { $0[index].size = size }
                $0.editHeader = { $0.payload.unpackedSize += Int64(size) }
            }
            #expect(code == (size > limit ? .limitExceeded : .payloadCorrupt))
        }
    }

    @Test(.rules("PTH-1", "TAR-17")) func judgesThePathBeforeThePlace() throws {
        #expect(try Self.code(member: 2) { $0.name = Array("../x".utf8) } == .unsafePath)
        #expect(
            try Self.code(member: 2) {
                $0.name = Array("x".utf8); $0.size = 1 << 30
            } == .manifestMismatch)
    }

    // MARK: - Padding and end

    @Test(.rules("TAR-13")) func refusesPaddingThatIsNotZeros() throws {
        for index in 0...3 {
            let code = try Self.code(member: index) {
                $0.padding = [UInt8](repeating: 0, count: 511 - ($0.data.count - 1) % 512)
                if let last = $0.padding?.indices.last { $0.padding?[last] = 1 }
            }
            #expect(code == .payloadCorrupt)
        }
        let pax = try Self.code {
            $0.editMembers = {
                var pax = TarMember.pax()
                pax.data = TarMember.record("path", "assets/logo.svg")
                pax.padding = [UInt8](repeating: 1, count: 512 - pax.data.count)
                $0.insert(pax, at: 2)
            }
        }
        #expect(pax == .payloadCorrupt)
    }

    @Test(
        .rules("TAR-14", "LIM-12"),
        arguments: [
            (1024, true), (1025, true), (10_240, true), (1024 + 1 << 20, true), (1025 + 1 << 20, false), (512, false),
            (0, false), (1023, false),
        ])
    func wantsTwoBlocksOfZerosAndAtMostOneMiBMore(_ count: Int, _ isRight: Bool) throws {
        for packing in [PackageBuilder.Packing.none, .storedFrame, .zstd] {
            let code = try Self.code {
                $0.end = [UInt8](repeating: 0, count: count)
                $0.packing = packing
            }
            #expect(code == (isRight ? nil : .payloadCorrupt))
        }
    }

    @Test(.rules("TAR-14")) func refusesBytesBehindTheEndMark() throws {
        for at in [512, 1023, 1024, 5000, 9999] {
            var end = [UInt8](repeating: 0, count: 10_000)
            end[at] = 1
            #expect(try Self.code { $0.end = end } == .payloadCorrupt)
        }
    }

    @Test(.rules("TAR-15")) func refusesAnArchiveCutAnywhere() throws {
        let count = PackageBuilder().archive.count
        for kept in stride(from: 1, to: count, by: 97) {
            #expect(try Self.code { $0.editArchive = { $0.removeLast(count - kept) } } == .payloadCorrupt)
        }
    }

    // MARK: - Watching

    @Test(.rules("STO-14")) func stopsWhenTheCallerCancels() throws {
        let file = PackageBuilder().build()
        let chain = try PackageBuilder.chain(of: file)
        var input = BytesInput(Array(file[Int(chain.payloadOffset)...]))
        let trouble = #expect(throws: Trouble.self) {
            try PayloadVerifier.run(
                chain, input: &input, limits: Limits(), sink: nil, monitor: Monitor(isCancelled: { true }))
        }
        #expect(trouble?.code == .cancelled)
    }

    @Test(.rules("STO-14")) func stopsAmongBlocksThatHoldNothing() throws {
        var package = PackageBuilder()
        package.packing = .custom { data in
            // More than three chunks before the first byte of content.
            var frame = ZstdFrame(storing: data)
            frame.blocks = (0..<70_000).map { _ in .stored([]) } + frame.blocks
            return frame.encoded
        }
        let file = package.build()
        let chain = try PackageBuilder.chain(of: file)
        var input = BytesInput(Array(file[Int(chain.payloadOffset)...]))
        let done = Locked<Int64>(0)
        let trouble = #expect(throws: Trouble.self) {
            try PayloadVerifier.run(
                chain, input: &input, limits: Limits(), sink: nil,
                monitor: Monitor(
                    isCancelled: { done.withLock { $0 } > chain.payloadOffset },
                    progress: { bytes, _ in done.withLock { $0 = bytes } }))
        }
        #expect(trouble?.code == .cancelled)
        #expect(done.withLock { $0 } == chain.payloadOffset + chain.header.payload.chunkSize)
    }

    @Test(.rules("STO-14")) func stopsWithinAChunkThatHoldsMuch() throws {
        var package = PackageBuilder()
        package.packing = .zstd
        package.files["assets/zeros.bin"] = [UInt8](repeating: 0, count: 4 << 20)
        let file = package.build()
        let chain = try PackageBuilder.chain(of: file)
        #expect(chain.header.payload.chunks.count == 1)
        var input = BytesInput(Array(file[Int(chain.payloadOffset)...]))
        let done = Locked<Int64>(0)
        let sink = CollectingSink()
        let trouble = #expect(throws: Trouble.self) {
            try PayloadVerifier.run(
                chain, input: &input, limits: Limits(), sink: sink,
                monitor: Monitor(
                    isCancelled: { done.withLock { $0 } > chain.payloadOffset },
                    progress: { bytes, _ in done.withLock { $0 = bytes } }))
        }
        #expect(trouble?.code == .cancelled)
        #expect(!sink.files.contains { $0.path == "assets/zeros.bin" })
    }

    @Test func tellsItsProgressUpToTheEnd() throws {
        var package = PackageBuilder()
        package.files["assets/big.bin"] = Self.big
        let file = package.build()
        let chain = try PackageBuilder.chain(of: file)
        var input = BytesInput(Array(file[Int(chain.payloadOffset)...]))
        let seen = Locked<[Int64]>([])
        try PayloadVerifier.run(
            chain, input: &input, limits: Limits(), sink: nil,
            monitor: Monitor(progress: { done, total in
                #expect(total == file.count)
                seen.withLock { $0.append(done) }
            }))
        let told = seen.withLock { $0 }
        #expect(told == told.sorted() && told.first == chain.payloadOffset && told.last == Int64(file.count))
        #expect(told.count == chain.header.payload.chunks.count + 1)
    }
}

/// Ends early, as a file does that is cut while it is read.
private struct ShrinkingInput: PackageInput {
    var bytes: [UInt8]
    var endsAfter: Int
    var at = 0

    init(bytes: [UInt8], endsAfter: Int) {
        self.bytes = bytes
        self.endsAfter = endsAfter
    }

    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, endsAfter - at)
        buffer.copyBytes(from: bytes[at..<(at + count)])
        at += count
        return count
    }
}

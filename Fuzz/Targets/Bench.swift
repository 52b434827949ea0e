import FoundationEssentials
import NshTrust
import TestSupport

/// What the targets verify with: the roots, the clock, and keys to sign whatever the fuzzer comes up with.
enum Bench {
    /// When everything is judged: within the windows of the vectors' and the tests' certificates.
    static let now: Int64 = 1_764_470_100

    /// The roots: that of the vectors, those of the tests.
    static let roots: [PublicKey] = {
        guard let vectors = PublicKey(base64: "UOqEXB0uWnX1RtyECynPhRrrAyvZW9DXKWGz+YbrzQU=".utf8) else {
            fatalError("the vectors' first root is a key")
        }
        return [vectors, TestKey.root.publicKey, TestKey.secondRoot.publicKey]
    }()

    /// The tests' certificate, signed.
    private static let certificate = Envelope.signed(
        .certificate, PackageBuilder().certificate.serialized, by: [.root]
    ).serialized

    /// Everything that a package is judged with.
    static func verification(lists: [[UInt8]] = [], policy: Policy = Policy()) -> Verification {
        Verification(
            roots: roots, policy: policy, lists: lists.map { Verification.GivenList(name: "list", bytes: $0) },
            clock: .fixed(now))
    }

    // MARK: - Making

    /// Joins the parts of a package file.
    static func file(certificate: [UInt8], header: [UInt8], payload: [UInt8]) -> [UInt8] {
        guard let prefix = ContainerPrefix(certificateCount: certificate.count, headerCount: header.count) else {
            fatalError("envelopes are neither empty nor 4 GiB")
        }
        return prefix.serialized + certificate + header + payload
    }

    /// Makes a package of a payload and the header that fits it.
    ///
    /// - Parameters:
    ///   - payload: The payload.
    ///   - compression: What the header says of it.
    ///   - facts: What the header says of the archive in it.
    ///   - edit: Changes the header before it is signed.
    /// - Returns: The package file, validly signed.
    static func package(
        _ payload: [UInt8], _ compression: PackageHeader.Compression, _ facts: LooseArchive.Facts,
        edit: (inout PackageHeader) -> Void = { _ in }
    ) -> [UInt8] {
        let chunks = stride(from: 0, to: payload.count, by: 65536).map { start in
            SHA256.hash(Array(payload[start..<min(start + 65536, payload.count)]))
        }
        let builder = PackageBuilder()
        var header = PackageHeader(
            app: builder.app, capabilities: nil,
            payload: PackageHeader.Payload(
                chunkSize: 65536, chunks: chunks, compression: compression, files: facts.files,
                manifest: facts.manifest, size: Int64(payload.count), unpackedSize: facts.unpackedSize),
            minimumRuntime: nil, signedAt: builder.signedAt)
        edit(&header)
        return file(
            certificate: certificate, header: Envelope.signed(.package, header.serialized, by: [.release]).serialized,
            payload: payload)
    }

    /// Makes a package with any bytes as its header's payload.
    static func package(header: [UInt8], payload: [UInt8]) -> [UInt8] {
        file(
            certificate: certificate, header: Envelope.signed(.package, header, by: [.release]).serialized,
            payload: payload)
    }

    // MARK: - Judging

    /// Judges a package file in memory.
    ///
    /// - Parameters:
    ///   - file: The package's bytes.
    ///   - lists: Revocation lists given to the verification.
    ///   - sink: What receives the files.
    /// - Returns: The chain, or the code.
    /// - Throws: `BrokenProperty`.
    static func verify(
        _ file: [UInt8], lists: [[UInt8]] = [], sink: (any PayloadSink)? = nil
    ) throws -> Judged<VerifiedChain> {
        try judged {
            var input = BytesInput(file)
            var established = Established()
            return try verification(lists: lists).verify(
                &input, store: nil, sink: sink, monitor: Monitor(), established: &established)
        }
    }

    /// Judges a package whole, in pieces and into a directory, and compares what comes out.
    ///
    /// - Parameter file: The package's bytes.
    /// - Returns: The code, or `accepted`.
    /// - Throws: `BrokenProperty`.
    static func judge(_ file: [UInt8]) throws -> String {
        let whole = CollectingSink()
        let verdict = try verify(file, sink: whole)
        let pieced = CollectingSink()
        let streamed = try judged {
            var input = PiecesInput(file)
            var established = Established()
            return try verification().verify(
                &input, store: nil, sink: pieced, monitor: Monitor(), established: &established)
        }
        try require(
            verdict.word == streamed.word, "whole it is \(verdict.word), in pieces it is \(streamed.word)")
        try require(
            whole.files.elementsEqual(pieced.files) { $0 == $1 }, "in pieces it holds other files than whole")
        if let chain = verdict.value {
            try require(chain.digest == streamed.value?.digest, "in pieces it has another digest than whole")
            try Extracted.check(whole.files, against: chain.header.payload)
        }
        if whole.files.count > 1 || whole.openPath != nil {
            try Extracted.check(file, verdict: verdict.word, files: whole.files, payload: verdict.value?.header.payload)
        }
        return verdict.word
    }
}

/// A package that comes in pieces, as from a connection: mostly small ones, of lengths that the bytes themselves choose.
struct PiecesInput: PackageInput {
    private let bytes: [UInt8]
    private var at = 0
    private var state: UInt64

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        state = fingerprint(Array(bytes.suffix(64))) | 1
    }

    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let wanted = 1 + Int(state >> 33) % (state >> 60 == 0 ? 16 : 1500)
        let count = min(buffer.count, bytes.count - at, wanted)
        bytes.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[at..<(at + count)])) }
        at += count
        return count
    }
}

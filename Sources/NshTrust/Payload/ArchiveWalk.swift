/// Goes through the archive of a payload member by member and holds each against the signed list of files.
///
/// For a member, in this order: its header block by itself, its path, whether it is the one that `SHA256SUMS` has next,
/// its size, its data.
///
/// - Spec: TAR-13 … TAR-15, SUM-1 … SUM-12, PTH-1 … PTH-8, LIM-8, LIM-9, LIM-12
struct ArchiveWalk {
    private let stream: ArchiveStream
    private let header: PackageHeader
    private let content: Set<Certificate.Content>
    private let limits: Limits
    private let isShared: Bool
    private let sink: (any PayloadSink)?
    private var gate = TarGate()
    private var unpackedSize: Int64 = 0

    /// Zeros that may stand behind the end mark.
    private static let zerosMax = 1 << 20

    /// Prepares to go through an archive.
    ///
    /// - Parameters:
    ///   - stream: The archive.
    ///   - chain: What was signed.
    ///   - limits: The bounds of the host.
    ///   - isShared: Whether files may be hashed on a thread of its own, behind the stream.
    ///   - sink: What receives the files.
    init(_ stream: ArchiveStream, chain: VerifiedChain, limits: Limits, isShared: Bool, sink: (any PayloadSink)?) {
        self.stream = stream
        self.isShared = isShared
        header = chain.header
        content = chain.certificate.certificate.content
        self.limits = limits
        self.sink = sink
    }

    /// Reads the archive to its end.
    mutating func run() throws -> PayloadSummary {
        let (list, directories) = try readList()
        let digests = isShared ? FileDigests(list, behind: stream) : FileDigests(list)
        let end = Result { try readFiles(of: list, digests) }
        // A file whose digest is another lies before whatever else was met.
        try digests.finish()
        try end.get()
        return PayloadSummary(files: list.count, directories: directories, unpackedSize: unpackedSize)
    }

    // MARK: - Members

    /// Reads everything behind the list.
    private mutating func readFiles(of list: FileList, _ digests: FileDigests) throws {
        var cursor = FileList.Cursor()
        while let size = try nextFile() {
            guard let entry = list.next(&cursor), gate.path.withUnsafeBytes({ list.hasPath($0, at: entry) }) else {
                // A path of the list has been judged; of any other one the path counts before its place.
                try PathRules.check(gate.path)
                let found = Printable.escaped(bytes: gate.path)
                throw Self.mismatch("the archive holds “\(found)” where SHA256SUMS has another file or none")
            }
            try readFile(entry, digests, size: size)
        }
        if let entry = list.next(&cursor) {
            throw Self.mismatch("the archive does not hold “\(Printable.escaped(list.path(of: entry)))”")
        }
        guard unpackedSize == header.payload.unpackedSize else {
            throw Self.mismatch(
                "the files have \(unpackedSize) bytes together, the header says \(header.payload.unpackedSize)")
        }
        try readEnd()
    }

    private mutating func readList() throws -> (list: FileList, directories: Int) {
        guard let size = try nextFile() else { throw Self.mismatch("the archive is empty") }
        guard gate.path.elementsEqual(FileList.path.utf8) else {
            try PathRules.check(gate.path)
            let found = Printable.escaped(bytes: gate.path)
            throw Self.mismatch("the archive begins with “\(found)”, expected SHA256SUMS")
        }
        try judgeSize(size, maximum: FileList.maxBytes)
        let bytes = try collect(Int(size))
        let judged = try FileList.judged(
            bytes, digest: SHA256.hash(bytes), header: header, content: content, limits: limits)
        try beginFile(size)
        try bytes.withUnsafeBytes { try sink?.write($0) }
        try sink?.endFile()
        try readPadding(behind: size)
        return judged
    }

    private mutating func readFile(_ entry: FileList.Entry, _ digests: FileDigests, size: Int64) throws {
        let declaration = Declaration(path: gate.path)
        try judgeSize(size, maximum: declaration == nil ? nil : Declaration.maxBytes)
        try beginFile(size)
        if let declaration {
            let declared = try collect(Int(size), digests)
            try declared.withUnsafeBytes { try sink?.write($0) }
            try digests.endFile(entry)
            try declaration.judge(declared, header: header)
        } else {
            try passOn(size, digests)
            try digests.endFile(entry)
        }
        try sink?.endFile()
        try readPadding(behind: size)
    }

    private func beginFile(_ size: Int64) throws {
        try gate.path.withUnsafeBytes { try sink?.beginFile($0, size: size) }
    }

    private mutating func judgeSize(_ size: Int64, maximum: Int?) throws(Refusal) {
        if let maximum, size > maximum {
            throw Refusal(
                .limitExceeded, "\(Printable.escaped(bytes: gate.path)) has \(size) bytes, the limit is \(maximum)")
        }
        guard size <= header.payload.unpackedSize - unpackedSize else {
            throw Self.mismatch(
                "with “\(Printable.escaped(bytes: gate.path))”, which has \(size) bytes, the files have more than the "
                    + "\(header.payload.unpackedSize) bytes that the header says")
        }
        unpackedSize += size
    }

    // MARK: - Bytes

    /// Reads header blocks up to the next file, whose path the gate then has.
    ///
    /// - Returns: The file's size, or nil behind the end mark.
    private mutating func nextFile() throws -> Int64? {
        while true {
            switch try announce() {
            case .file(let size): return size
            case .pax(let count):
                guard try stream.exactly(count, { try gate.takePax($0) }) != nil else { throw Self.cut("a pax header") }
                try readPadding(behind: Int64(count))
            case .zeros:
                let isZero = try stream.exactly(TarGate.blockCount) { TarGate.isZeros($0) }
                guard let isZero else { throw Self.cut("its end mark") }
                guard isZero else { throw Self.corrupt("one block of zeros is followed by something else") }
                return nil
            }
        }
    }

    private mutating func announce() throws -> TarGate.Announcement {
        guard let announcement = try stream.exactly(TarGate.blockCount, { try gate.announce($0) }) else {
            throw Self.cut("a header block, or before its end mark")
        }
        return announcement
    }

    /// Hands a file's bytes to the digests and to the sink as they come.
    private func passOn(_ size: Int64, _ digests: FileDigests) throws {
        var left = size
        while left > 0 {
            let piece = try stream.piece(upTo: Int(left))
            guard !piece.isEmpty else { throw Self.cut("a file") }
            digests.add(piece)
            try sink?.write(piece)
            left -= Int64(piece.count)
        }
    }

    /// Reads a file that is looked into, after its size was bounded.
    private func collect(_ size: Int, _ digests: FileDigests? = nil) throws -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size)
        while bytes.count < size {
            let piece = try stream.piece(upTo: size - bytes.count)
            guard !piece.isEmpty else { throw Self.cut("a file") }
            digests?.add(piece)
            bytes += piece
        }
        return bytes
    }

    private func readPadding(behind size: Int64) throws {
        let count = Int(-size & Int64(TarGate.blockCount - 1))
        guard count > 0 else { return }
        guard let isZero = try stream.exactly(count, { TarGate.isZeros($0) }) else {
            throw Self.cut("padding")
        }
        guard isZero else { throw Self.corrupt("the padding behind a file is not zeros") }
    }

    private func readEnd() throws {
        var zeros = 0
        while true {
            let piece = try stream.piece(upTo: Self.zerosMax + 1 - zeros)
            if piece.isEmpty { return }
            guard TarGate.isZeros(piece) else { throw Self.corrupt("something stands behind its end mark") }
            zeros += piece.count
            guard zeros <= Self.zerosMax else {
                throw Self.corrupt("more than \(Self.zerosMax) zeros stand behind its end mark")
            }
        }
    }

    // MARK: - Refusals

    private static func mismatch(_ problem: String) -> Refusal { Refusal(.manifestMismatch, problem) }
    private static func cut(_ place: String) -> Refusal { corrupt("it ends within \(place)") }
    private static func corrupt(_ problem: String) -> Refusal {
        Refusal(.payloadCorrupt, "the archive is damaged: \(problem)")
    }
}

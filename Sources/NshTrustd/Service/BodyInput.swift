import NshTrust

/// The body of a request as the bytes of a package.
struct BodyInput: PackageInput {
    private let body: BodyReader
    private var piece: ArraySlice<UInt8> = []

    /// Reads a body from its start.
    init(_ body: BodyReader) { self.body = body }

    /// Waits for bytes of the client and hands them on.
    ///
    /// - Throws: `cancelled` when the client has left before the end, or the server stops.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        if piece.isEmpty {
            guard let next = try body.next() else { return 0 }
            piece = next[...]
        }
        let count = min(piece.count, buffer.count)
        piece.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0.prefix(count))) }
        piece.removeFirst(count)
        return count
    }
}

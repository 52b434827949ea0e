internal import NshTrust

/// Where a payload is written: in an open file, from an offset on.
struct PayloadPlace: Sendable {
    /// The open file; its owner keeps it open.
    let descriptor: Int32
    /// Where the payload starts in the file.
    let start: Int64
    /// What to call the file in messages.
    let what: String

    /// Writes bytes at an offset in the payload.
    ///
    /// - Throws: `storeFull`, `ioFailure`.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
        try OutputFile.write(bytes, to: descriptor, at: start + offset, what: what)
    }

    /// The first bytes of the payload, to be read.
    func slice(_ count: Int64) -> FileSlice {
        FileSlice(descriptor: descriptor, start: start, count: count, name: what)
    }
}

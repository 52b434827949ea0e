/// Writes the files of a payload beneath a directory as they are verified.
///
/// Until the payload is accepted what it has written is nobody's: the caller removes it after a refusal.
///
/// - Spec: SUM-16
package final class DirectorySink: PayloadSink {
    private let writer: TreeWriter

    /// Makes a sink.
    ///
    /// - Parameter directory: An empty directory.
    /// - Throws: `ioFailure` when the process has no descriptor left.
    package init(_ directory: borrowing Directory) throws(Trouble) { writer = try TreeWriter(into: directory) }

    /// Creates the file.
    package func beginFile(_ path: UnsafeRawBufferPointer, size: Int64) throws { try writer.begin(path) }

    /// Writes the bytes.
    package func write(_ bytes: UnsafeRawBufferPointer) throws { try writer.write(bytes) }

    /// Closes the file.
    package func endFile() throws { try writer.end() }
}

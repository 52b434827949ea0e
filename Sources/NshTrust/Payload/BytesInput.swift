/// A package that lies in memory.
package struct BytesInput: PackageInput {
    private let bytes: [UInt8]
    private var at = 0

    /// Starts at the first byte.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Reads the next bytes.
    package mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(buffer.count, bytes.count - at)
        bytes.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[at..<(at + count)])) }
        at += count
        return count
    }
}

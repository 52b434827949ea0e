import CSodium
internal import NshTrust

/// A passphrase in locked memory, wiped when it goes.
///
/// It comes from a terminal, a file or a descriptor, never from an argument or the environment, where other processes
/// could read it.
public struct Passphrase: ~Copyable, Sendable {
    private let memory: SecretMemory
    private let count: Int

    /// The longest passphrase, in bytes.
    public static let maximumCount = 4096

    /// Takes the bytes over and wipes the caller's array.
    ///
    /// - Parameter bytes: 1–4096 bytes, taken as they are; empty afterwards.
    /// - Throws: `badRequest` for none or too many.
    public init(wiping bytes: inout [UInt8]) throws {
        defer { Sodium.wipe(&bytes) }
        let count = bytes.count
        memory = try publicly {
            try Self.check(count)
            return try SecretMemory(count: count) { buffer in buffer.copyBytes(from: bytes) }
        }
        self.count = count
    }

    /// Takes what a body reads into locked memory; one line end after it is not part of the passphrase.
    ///
    /// - Parameter read: Writes at most the buffer's 4099 bytes and returns how many.
    /// - Throws: `badRequest` for none or more than 4096 bytes, or what `read` throws.
    package init(reading read: (UnsafeMutableRawBufferPointer) throws -> Int) throws {
        var filled = 0
        let memory = try SecretMemory(count: Self.maximumCount + 3) { buffer in
            buffer.initializeMemory(as: UInt8.self, repeating: 0)
            filled = try read(buffer)
            if filled > 0, buffer[filled - 1] == 0x0A { filled -= 1 }
            if filled > 0, buffer[filled - 1] == 0x0D { filled -= 1 }
        }
        try Self.check(filled)
        self.memory = memory
        count = filled
    }

    private static func check(_ count: Int) throws(Trouble) {
        guard count > 0 else { throw Trouble(.badRequest, "the passphrase is empty") }
        guard count <= maximumCount else {
            throw Trouble(.badRequest, "a passphrase has at most \(maximumCount) bytes")
        }
    }

    /// Lends the bytes; they must not be kept.
    borrowing func withBytes<Result>(_ body: (UnsafePointer<UInt8>, Int) throws -> Result) rethrows -> Result {
        try memory.withBytes { try body($0, count) }
    }

    /// Tells whether two entries of a passphrase are the same, in a time that does not depend on where they differ.
    public borrowing func matches(_ other: borrowing Passphrase) -> Bool {
        withBytes { bytes, count in
            other.withBytes { otherBytes, otherCount in
                count == otherCount && sodium_memcmp(bytes, otherBytes, count) == 0
            }
        }
    }
}

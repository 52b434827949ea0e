import CSodium
internal import NshTrust
internal import Synchronization

/// Bytes that are kept out of swap and core files, fenced by guard pages, and wiped when their owner goes.
///
/// Locking is libsodium's `sodium_mlock`, which the kernel may refuse when the process may lock no more memory; the
/// bytes are fenced and wiped all the same, and `isRefusedALock` says so.
struct SecretMemory: ~Copyable, @unchecked Sendable {
    // Sendable: the memory is written only inside `init`, made read-only before it returns, and freed by its one owner.
    private let base: UnsafeMutableRawPointer

    /// The number of bytes, at least 1.
    let count: Int

    /// Allocates the memory and lets the body fill it.
    ///
    /// - Parameters:
    ///   - count: The number of bytes, at least 1.
    ///   - fill: Writes the bytes, all of them.
    /// - Throws: `ioFailure` when the memory cannot be had, or what `fill` throws.
    init(count: Int, fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
        try Sodium.prepare()
        guard let base = sodium_malloc(count) else {
            throw Trouble(.ioFailure, "cannot allocate \(count) bytes of locked memory")
        }
        // It has been tried already, but only this tells how it went.
        if sodium_mlock(base, count) != 0 { Self.refused.store(true, ordering: .relaxed) }
        do {
            try fill(UnsafeMutableRawBufferPointer(start: base, count: count))
            guard sodium_mprotect_readonly(base) == 0 else {
                throw Trouble(.ioFailure, "cannot protect locked memory")
            }
        } catch {
            sodium_free(base)
            throw error
        }
        self.base = base
        self.count = count
    }

    deinit { sodium_free(base) }

    private static let refused = Atomic(false)

    /// Whether the system has refused to lock what this process holds: then it may be written to swap.
    static var isRefusedALock: Bool { refused.load(ordering: .relaxed) }

    /// Lends the bytes; they must not be kept.
    borrowing func withBuffer<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(UnsafeRawBufferPointer(start: base, count: count))
    }

    /// Lends the bytes; they must not be kept.
    borrowing func withBytes<Result: ~Copyable>(
        _ body: (UnsafePointer<UInt8>) throws -> Result
    ) rethrows -> Result {
        try body(UnsafePointer(base.assumingMemoryBound(to: UInt8.self)))
    }
}

/// libsodium's own state.
enum Sodium {
    private static let isReady: Bool = sodium_init() >= 0

    /// Makes libsodium ready; done once for the process.
    ///
    /// - Throws: `ioFailure` when the system gives no random numbers: then no key may be made or used.
    static func prepare() throws(Trouble) {
        guard isReady else { throw Trouble(.ioFailure, "libsodium cannot start: no source of random numbers") }
    }

    /// Returns random bytes that nobody can predict.
    static func randomBytes(_ count: Int) throws(Trouble) -> [UInt8] {
        try prepare()
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            if let base = buffer.baseAddress { randombytes_buf(base, count) }
            filled = count
        }
    }

    /// Overwrites bytes in a way that no optimiser drops.
    static func wipe(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { buffer in
            if let base = buffer.baseAddress { sodium_memzero(base, buffer.count) }
        }
        bytes.removeAll()
    }
}

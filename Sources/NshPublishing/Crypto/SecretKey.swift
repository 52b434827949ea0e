import CSodium
package import NshTrust

/// An Ed25519 secret key in locked memory, wiped when it goes.
///
/// It cannot be copied, printed, compared or encoded, and nothing gives its bytes away but sealing it into a key file. Its
/// public half is always computed from the seed, never taken from a file: signing with a public half that somebody
/// altered would leak the key.
public struct SecretKey: ~Copyable, Sendable {
    /// libsodium's form: the seed, then the public key.
    private let memory: SecretMemory
    /// The public half, computed from the seed.
    package let publicKey: PublicKey

    /// Whether the system has refused to lock the memory of a key or passphrase of this process, which `ulimit -l` allows;
    /// they may then be written to swap, wiped though they are in memory.
    public static var mayReachSwap: Bool { SecretMemory.isRefusedALock }

    /// The public half in base64: the content of a `.pub` file without its line feed.
    public var publicKeyText: String { publicKey.base64 }

    /// Makes a new key from the system's random numbers.
    ///
    /// - Throws: `ioFailure` when the system gives no random numbers or no memory.
    public static func generate() throws -> SecretKey {
        try publicly {
            try SecretKey { seed in
                if let base = seed.baseAddress { randombytes_buf(base, seed.count) }
            }
        }
    }

    /// Makes the key of a seed that the caller holds.
    ///
    /// The caller's array stays unlocked memory that this cannot wipe: for tests and for keys that come from elsewhere.
    ///
    /// - Parameter seed: 32 bytes of full entropy.
    /// - Throws: `malformed` for any other number of bytes: neither an expanded secret key of 64 bytes nor one of 96 is a
    ///   seed.
    public init(seed: [UInt8]) throws {
        self = try publicly {
            guard seed.count == Self.seedCount else {
                throw Refusal.malformed("a secret key has a seed of \(Self.seedCount) bytes, not \(seed.count)")
            }
            return try SecretKey { $0.copyBytes(from: seed) }
        }
    }

    /// Makes the key of a seed that the body writes into locked memory.
    ///
    /// - Parameter fill: Writes the 32 bytes of the seed, all of them.
    /// - Throws: What `fill` throws, or `ioFailure` without memory.
    init(fillingSeed fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
        let seed = try SecretMemory(count: Self.seedCount, fill: fill)
        var bytes = [UInt8](repeating: 0, count: 32)
        memory = try SecretMemory(count: Int(crypto_sign_SECRETKEYBYTES)) { buffer in
            guard let base = buffer.bindMemory(to: UInt8.self).baseAddress else { return }
            _ = seed.withBytes { crypto_sign_seed_keypair(&bytes, base, $0) }
        }
        guard let publicKey = PublicKey(bytes) else { fatalError("a public key has 32 bytes") }
        self.publicKey = publicKey
    }

    /// Returns the envelope with this key's signature added as its last.
    package borrowing func sign(_ envelope: Envelope) -> Envelope {
        var bytes = [UInt8](repeating: 0, count: Self.signatureCount)
        let message = envelope.signedBytes
        // Fails only for a key that is none: this one was made by libsodium.
        let status = memory.withBytes { crypto_sign_detached(&bytes, nil, message, UInt64(message.count), $0) }
        precondition(status == 0, "crypto_sign_detached")
        return Envelope(
            kind: envelope.kind, payload: envelope.payload,
            signatures: envelope.signatures + [Envelope.Signature(keyID: publicKey.id, bytes: bytes)])
    }

    /// Bytes of a signature.
    static var signatureCount: Int { Int(crypto_sign_BYTES) }

    /// Bytes of a seed.
    static let seedCount = 32

    /// Lends the 32 bytes of the seed, for sealing them into a key file.
    borrowing func withSeed<Result>(_ body: (UnsafePointer<UInt8>) throws -> Result) rethrows -> Result {
        try memory.withBytes(body)
    }
}

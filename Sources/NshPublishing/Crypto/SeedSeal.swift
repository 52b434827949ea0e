import CSodium
internal import NshTrust

/// How much work a guess at the passphrase costs.
public struct KeyDerivationCost: Hashable, Sendable {
    /// Passes over the memory, 1…16.
    package let operations: Int64
    /// Bytes of memory, 8 KiB…1 GiB.
    package let memory: Int64

    /// What key files are made with: 3 passes over 256 MiB.
    public static let standard = KeyDerivationCost(operations: 3, memory: 256 << 20)

    /// Chooses another cost: for tests, which cannot wait.
    package init(operations: Int64, memory: Int64) {
        self.operations = operations
        self.memory = memory
    }
}

/// Seals the seed of a secret key under a passphrase: Argon2id, then XChaCha20-Poly1305 (IETF).
///
/// - Spec: KEY-7
struct SeedSeal {
    /// Bytes of a salt.
    static let saltCount = Int(crypto_pwhash_SALTBYTES)
    /// Bytes of a nonce.
    static let nonceCount = Int(crypto_aead_xchacha20poly1305_ietf_NPUBBYTES)
    /// Bytes that sealing adds.
    static let overhead = Int(crypto_aead_xchacha20poly1305_ietf_ABYTES)

    /// 16 bytes.
    let salt: [UInt8]
    /// 24 bytes.
    let nonce: [UInt8]
    /// The cost of deriving the key.
    let cost: KeyDerivationCost
    /// What the seal covers besides the seed.
    let associatedData: [UInt8]

    /// Returns the sealed seed, 48 bytes.
    ///
    /// - Returns: The seed and its tag.
    /// - Throws: `ioFailure` when the memory that the cost asks for cannot be had.
    func seal(_ key: borrowing SecretKey, under passphrase: borrowing Passphrase) throws -> [UInt8] {
        let derived = try derive(passphrase)
        var sealed = [UInt8](repeating: 0, count: SecretKey.seedCount + Self.overhead)
        _ = derived.withBytes { derived in
            key.withSeed { seed in
                crypto_aead_xchacha20poly1305_ietf_encrypt(
                    &sealed, nil, seed, UInt64(SecretKey.seedCount), associatedData, UInt64(associatedData.count), nil,
                    nonce, derived)
            }
        }
        return sealed
    }

    /// Opens a sealed seed.
    ///
    /// - Parameters:
    ///   - sealed: 48 bytes.
    ///   - passphrase: What may open it.
    /// - Returns: The key.
    /// - Throws: `wrongPassphrase` when it does not open, for whatever reason; `ioFailure` without memory.
    func open(_ sealed: [UInt8], with passphrase: borrowing Passphrase) throws -> SecretKey {
        let derived = try derive(passphrase)
        return try SecretKey { seed in
            let status = derived.withBytes { derived in
                crypto_aead_xchacha20poly1305_ietf_decrypt(
                    seed.bindMemory(to: UInt8.self).baseAddress, nil, nil, sealed, UInt64(sealed.count), associatedData,
                    UInt64(associatedData.count), nonce, derived)
            }
            guard status == 0 else {
                throw Trouble(.wrongPassphrase, "the passphrase does not open the key file, or the file was altered")
            }
        }
    }

    private func derive(_ passphrase: borrowing Passphrase) throws -> SecretMemory {
        try SecretMemory(count: Int(crypto_aead_xchacha20poly1305_ietf_KEYBYTES)) { key in
            guard let base = key.baseAddress else { return }
            let status = passphrase.withBytes { text, count in
                text.withMemoryRebound(to: CChar.self, capacity: count) { text in
                    crypto_pwhash(
                        base, UInt64(key.count), text, UInt64(count), salt, UInt64(cost.operations),
                        Int(cost.memory), crypto_pwhash_ALG_ARGON2ID13)
                }
            }
            guard status == 0 else {
                throw Trouble(.ioFailure, "cannot derive the key: \(cost.memory) bytes of memory are needed")
            }
        }
    }
}

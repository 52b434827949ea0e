import CSodium
package import NshTrust

/// An Ed25519 key pair made from a fixed seed, so that tests sign the same bytes each time they run.
public struct TestKey: Sendable {
    /// The public half.
    package let publicKey: PublicKey
    private let secretKey: [UInt8]

    /// Makes the key whose seed is one byte repeated 32 times.
    public init(seed: UInt8) {
        var publicBytes = [UInt8](repeating: 0, count: Int(crypto_sign_PUBLICKEYBYTES))
        var secretBytes = [UInt8](repeating: 0, count: Int(crypto_sign_SECRETKEYBYTES))
        let seedBytes = [UInt8](repeating: seed, count: Int(crypto_sign_SEEDBYTES))
        guard sodium_init() >= 0, crypto_sign_seed_keypair(&publicBytes, &secretBytes, seedBytes) == 0,
            let key = PublicKey(publicBytes)
        else { fatalError("libsodium makes a key from any seed") }
        publicKey = key
        secretKey = secretBytes
    }

    /// The root that tests pin.
    public static let root = TestKey(seed: 1)
    /// A second root.
    public static let secondRoot = TestKey(seed: 2)
    /// The release key of the tests' certificate.
    public static let release = TestKey(seed: 3)
    /// A key that nobody vouches for.
    public static let stranger = TestKey(seed: 4)

    /// The seed and the public half, as libsodium keeps them.
    package var secret: [UInt8] { secretKey }

    /// Signs bytes.
    ///
    /// - Returns: 64 bytes.
    public func sign(_ message: [UInt8]) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: Int(crypto_sign_BYTES))
        crypto_sign_detached(&signature, nil, message, UInt64(message.count), secretKey)
        return signature
    }
}

extension Envelope {
    /// Makes a signed envelope.
    ///
    /// - Parameters:
    ///   - kind: What the payload is.
    ///   - payload: The payload's bytes, well formed or not.
    ///   - keys: Who signs, in order.
    ///   - edit: Changes the signatures.
    /// - Returns: The envelope with one signature a key.
    package static func signed(
        _ kind: Kind, _ payload: [UInt8], by keys: [TestKey], edit: ((inout [Signature]) -> Void)? = nil
    ) -> Envelope {
        let unsigned = Envelope(kind: kind, payload: payload)
        var signatures = keys.map { key in
            Signature(keyID: key.publicKey.hash.shortHex, bytes: key.sign(unsigned.signedBytes))
        }
        edit?(&signatures)
        return Envelope(kind: kind, payload: payload, signatures: signatures)
    }
}

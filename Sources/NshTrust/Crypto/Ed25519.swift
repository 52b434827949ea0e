import CSodium

/// Ed25519 verification, strict: small-order keys, non-canonical points and S ≥ L are refused by libsodium.
///
/// - Spec: KEY-4, KEY-5
enum Ed25519 {
    /// Whether libsodium is ready; done once, and nothing verifies without it.
    private static let isReady: Bool = sodium_init() >= 0

    /// Tells whether the signature is by that key over those bytes.
    ///
    /// - Parameters:
    ///   - signature: Any bytes; anything but 64 of them is no signature, and never reaches libsodium.
    ///   - message: The signed bytes.
    ///   - key: The key.
    /// - Returns: False for everything that is not exactly a signature.
    static func verifies(_ signature: [UInt8], of message: [UInt8], by key: PublicKey) -> Bool {
        guard isReady, signature.count == Int(crypto_sign_BYTES) else { return false }
        return crypto_sign_verify_detached(signature, message, UInt64(message.count), key.bytes) == 0
    }

    /// Tells whether the bytes encode a point of the curve that is not of small order.
    ///
    /// By a small-order key anything could be signed. libsodium's test also refuses most points outside the main
    /// subgroup (1.0.18 lets some of them pass), which is stricter than needed; verification never relies on it.
    static func isUsable(_ key: PublicKey) -> Bool {
        guard isReady else { return false }
        return crypto_core_ed25519_is_valid_point(key.bytes) == 1
    }
}

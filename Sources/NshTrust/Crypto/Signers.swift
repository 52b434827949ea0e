/// The proof that certain keys signed a certain envelope; only the counting below makes one.
///
/// - Spec: ENV-7, ENV-8
package struct Signers: Sendable {
    /// The keys that signed, in the order in which they were asked about, none twice.
    package let keys: [PublicKey]
    /// What they signed.
    package let envelope: Envelope

    /// Counts the distinct keys whose signature verifies: the one place where signatures are counted.
    ///
    /// A key id is a hint that puts a key first; a signature of another length, by an unknown key or that does not
    /// verify is passed over.
    ///
    /// - Parameters:
    ///   - envelope: What may have been signed.
    ///   - candidates: The keys that count.
    package init(of envelope: Envelope, among candidates: [PublicKey]) {
        var found: [PublicKey] = []
        let signatures = envelope.signatures.filter { $0.bytes.count == 64 }
        for key in candidates where !found.contains(key) {
            let hint = key.hash.shortHex
            let hinted = signatures.filter { $0.keyID == hint } + signatures.filter { $0.keyID != hint }
            let signed = hinted.contains { Ed25519.verifies($0.bytes, of: envelope.signedBytes, by: key) }
            if signed { found.append(key) }
        }
        keys = found
        self.envelope = envelope
    }
}

extension PublicKey {
    /// SHA-256 of the 32 bytes: how lists and the store name the key.
    ///
    /// - Spec: KEY-10
    package var hash: Digest { SHA256.hash(bytes) }

    /// The first 16 hex digits of the hash: a hint for people and look-ups.
    package var id: String { hash.shortHex }

    /// Whether the key can be trusted as a root: a point of the curve, not of small order.
    ///
    /// - Spec: KEY-2
    package var isUsableAsRoot: Bool { Ed25519.isUsable(self) }
}

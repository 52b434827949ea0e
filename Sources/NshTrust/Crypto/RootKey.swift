/// A public key that was found fit to be a root, which costs as much as verifying a signature: it is found once.
///
/// - Spec: KEY-2
package struct RootKey: Hashable, Sendable {
    /// The key.
    package let key: PublicKey

    /// Judges a key; nil for one that nobody can honestly hold.
    package init?(_ key: PublicKey) {
        guard key.isUsableAsRoot else { return nil }
        self.key = key
    }
}

/// The root keys that a process trusts: each once, up to a limit, none that anybody could sign by.
///
/// - Spec: KEY-2, LIM-7
package struct PinnedRoots: Sendable {
    /// The keys in the order in which they were added.
    package private(set) var keys: [PublicKey] = []
    private let limit: Int

    /// Makes an empty set.
    ///
    /// - Parameter limit: The most keys, 1 or more.
    package init(limit: Int) { self.limit = limit }

    /// Reads the content of a `.pub` file as a root key.
    ///
    /// - Throws: `malformed` for anything but base64 of 32 bytes with at most one line feed after it, and for a key that
    ///   cannot be a root.
    /// - Spec: KEY-1, KEY-2
    package static func key(fromFile content: [UInt8]) throws(Refusal) -> RootKey {
        guard let key = PublicKey(fileContent: content) else {
            throw .malformed("a root key is base64 of 32 bytes, the content of a .pub file")
        }
        return try root(key)
    }

    /// Judges a key that is to be a root.
    ///
    /// - Throws: `malformed` for one that cannot be.
    /// - Spec: KEY-2
    package static func root(_ key: PublicKey) throws(Refusal) -> RootKey {
        guard let root = RootKey(key) else {
            throw .malformed("root \(key.id) is no point that an honest key has: anybody could sign by it")
        }
        return root
    }

    /// Adds a key; one that is there already changes nothing.
    ///
    /// - Throws: `limitExceeded` for one too many.
    package mutating func add(_ root: RootKey) throws(Refusal) {
        if keys.contains(root.key) { return }
        guard keys.count < limit else {
            throw Refusal(.limitExceeded, "\(keys.count) roots are trusted, the limit is \(limit)")
        }
        keys.append(root.key)
    }
}

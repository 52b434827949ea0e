import NshTrust

/// A trust store with the roots of this command line.
enum PinnedStore {
    /// Opens a store and pins the roots; one that a list in force has withdrawn is passed over with a warning.
    ///
    /// - Parameters:
    ///   - path: The state directory.
    ///   - judging: The options and the roots.
    ///   - isReadOnly: Whether nothing may be made, migrated or written.
    ///   - console: Where the warnings go.
    /// - Returns: The store; it trusts nobody when every root was withdrawn.
    /// - Throws: A code of the store; `limitExceeded` for too many roots.
    static func open(
        _ path: String, _ judging: Judging, isReadOnly: Bool, _ console: Console
    ) throws -> TrustCore {
        let core = try TrustCore(
            directory: path, options: judging.options, access: isReadOnly ? .readOnly : .readWrite,
            users: .oneThread)
        for root in judging.roots.roots {
            do {
                try core.addRoot(root.root)
            } catch let refusal as Refusal where refusal.code == .rootWithdrawn {
                try console.warning("\(Terminal.safe(root.path)) is passed over: \(refusal.message)")
            }
        }
        return core
    }
}

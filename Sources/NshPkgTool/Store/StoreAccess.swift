import NshTrust

/// Opens the trust store that the `store` verbs look into or work on.
enum StoreAccess {
    /// Opens a store that exists.
    ///
    /// - Parameters:
    ///   - path: The state directory.
    ///   - isReadOnly: Whether nothing is made, migrated or removed.
    /// - Returns: What may be asked of it and done to it, in the name of this process.
    /// - Throws: `Trouble`: `noSuchFile` when there is no store, or a code of the store.
    static func open(_ path: String, isReadOnly: Bool) throws -> StoreAdministration {
        // With write access a missing store would be made: an empty one is never what these verbs are after.
        var state = try StateDirectory.open(path, access: .readOnly)
        if !isReadOnly {
            // Looking into one is not enough: what a crash left in it is undone with write access only.
            if try state.databaseFiles().isEmpty { _ = try state.openStore() }
            state = try StateDirectory.open(path)
        }
        return StoreAdministration(state: state, store: try state.openStore())
    }
}

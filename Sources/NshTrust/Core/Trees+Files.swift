extension Trees {
    /// Tells whether a tree is there, each of its files is what was signed, and nothing else is in it.
    ///
    /// - Parameters:
    ///   - tree: Its path, relative to the state directory.
    ///   - manifest: SHA-256 of its `SHA256SUMS`.
    /// - Returns: False for the first thing that is not as it was signed.
    /// - Throws: `storeUnsafe`, `ioFailure`.
    /// - Spec: POL-20
    package func isIntact(_ tree: String, manifest: Digest) throws -> Bool {
        guard let directory = try state.root.directory(beneath: tree) else { return false }
        return try InstalledTree.flaw(in: directory, manifest: manifest, depth: .files) == nil
    }
}

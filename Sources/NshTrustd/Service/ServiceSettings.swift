/// How much the service takes on.
struct ServiceSettings: Hashable, Sendable {
    /// Bytes that a package may have, sent or named by its path.
    var maximumPackageBytes: Int64
    /// How many packages named by paths are worked on at once, at least 1.
    var workers: Int

    /// Makes settings.
    ///
    /// - Parameters:
    ///   - maximumPackageBytes: Bytes that a package may have.
    ///   - workers: How many packages named by paths are worked on at once.
    init(maximumPackageBytes: Int64 = 8 << 30, workers: Int = 2) {
        self.maximumPackageBytes = maximumPackageBytes
        self.workers = max(workers, 1)
    }
}

import NshTrust

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

/// What was read from the directories of roots and of lists; asked from any thread, and must not wait.
protocol ConfigurationStatus: Sendable {
    /// The roots that files name and this process trusts, or would if no list had withdrawn them.
    var rootFiles: [RootFile] { get }
    /// The files that name no root that can be trusted.
    var badRoots: [BadFile] { get }
    /// The files that hold no list that can be applied.
    var badLists: [BadFile] { get }
}

/// A root and the file that names it.
struct RootFile: Hashable, Sendable {
    /// The key.
    let key: PublicKey
    /// The file's path.
    let file: String
}

/// A file that could not be used.
struct BadFile: Hashable, Sendable {
    /// Its path.
    let file: String
    /// One line for people, escaped.
    let message: String
}

/// Where the service says what an operator should know; called from any thread.
protocol ServiceLog: Sendable {
    /// Writes one line.
    ///
    /// - Parameters:
    ///   - level: How much it matters.
    ///   - message: One line for people; untrusted text in it has been escaped.
    ///   - fields: What programs want of it, in this order.
    func write(_ level: LogLevel, _ message: String, _ fields: JSONObject)
}

extension ServiceLog {
    /// Writes one line that says everything in its message.
    func write(_ level: LogLevel, _ message: String) { write(level, message, [:]) }
}

import NshTrust

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

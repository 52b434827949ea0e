internal import NshTrust

/// A file that is to be packed.
struct SourceFile: Sendable {
    /// Where its bytes are.
    enum Content: Sendable {
        /// In the directory that is published, at this path below it, and when it had last changed when it was found, in
        /// nanoseconds since 1970 UTC.
        case tree(String, changedAt: Int64)
        /// In the spool of an archive, from this offset on.
        case spool(Int64)
        /// Here.
        case bytes([UInt8])
    }

    /// Its path in the package.
    let path: [UInt8]
    /// Its bytes as they were when it was found.
    let size: Int64
    /// Where its bytes are.
    let content: Content

    /// The path for people.
    var shown: String { Printable.escaped(bytes: path, limit: 1024) }
}

/// A file that keeps a package from being made.
struct SourceProblem: Sendable {
    /// Its path.
    let path: [UInt8]
    /// What a reader would refuse it with.
    let code: RefusalCode
    /// What is wrong, as the end of a sentence about the path.
    let problem: String

    /// The path for people.
    var shown: String { Printable.escaped(bytes: path, limit: 1024) }
}

/// What was found in a directory or an archive.
struct SourceInventory: Sendable {
    /// The files that can be packed as far as their kind goes.
    var files: [SourceFile] = []
    /// What cannot be packed.
    var problems: [SourceProblem] = []
    /// Directories that hold nothing, which a package has no room for.
    var emptyDirectories: [[UInt8]] = []
    private let limit: Int64

    /// Starts an inventory.
    ///
    /// - Parameter filesMax: The most files that it takes.
    init(filesMax: Int64) { limit = filesMax }

    /// Adds a file.
    ///
    /// - Throws: `limitExceeded` for one file too many.
    mutating func add(_ file: SourceFile) throws(Refusal) {
        guard files.count + problems.count < limit else {
            throw Refusal(.limitExceeded, "there are more than \(limit) files; a package holds no more")
        }
        files.append(file)
    }

    /// Adds a problem.
    ///
    /// - Throws: `limitExceeded` for one file too many.
    mutating func add(_ code: RefusalCode, _ path: [UInt8], _ problem: String) throws(Refusal) {
        guard files.count + problems.count < limit else {
            throw Refusal(.limitExceeded, "there are more than \(limit) files; a package holds no more")
        }
        problems.append(SourceProblem(path: path, code: code, problem: problem))
    }

    /// Tells what is wrong with a name that some program left behind; nil for any other name.
    static func strayProblem(of name: some Collection<UInt8>) -> String? {
        let isKnown = strayNames.contains { name.elementsEqual($0.utf8) }
        let isAppleDouble = name.starts(with: "._".utf8)
        guard isKnown || isAppleDouble || Array(name).last == 0x7E else { return nil }
        return "is left over from another program, not part of the app; delete it, or --include-stray"
    }

    private static let strayNames: [String] = [".DS_Store", "Thumbs.db", ".git"]
}

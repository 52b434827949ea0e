import NshPublishing
import NshTrust

/// A root key and the file that names it.
struct NamedRoot: Hashable, Sendable {
    /// The key, found fit to be a root.
    let root: RootKey
    /// The file it was read from.
    let path: String

    /// The key.
    var key: PublicKey { root.key }
}

/// The roots that this machine or this command line trusts, and what stood in the way of others.
struct TrustedRoots: Sendable {
    /// Where roots are looked for.
    enum Place: String, Sendable {
        case options = "--root"
        case environment = "$NSH_TRUST_ROOTS"
        case user = "the user’s roots.d"
        case machine = "/etc/nsh-trust/roots.d"
    }

    /// A root file that cannot be used.
    struct BadFile: Sendable {
        /// The file.
        let path: String
        /// Why not.
        let failure: Failure
    }

    /// Where these were found; nil when there are none.
    var place: Place?
    /// The roots in the order of their files; a key that two files name comes once.
    var roots: [NamedRoot] = []
    /// Files that cannot be used: verifying with them would mean less than was meant, so it is an error.
    var bad: [BadFile] = []
    /// The places that were looked at, for the message when there is nothing.
    var looked: [String] = []

    /// The keys.
    var keys: [PublicKey] { roots.map(\.key) }

    /// The files that name the keys, by key hash.
    var files: [String: String] {
        Dictionary(roots.map { ($0.key.hash.hex, $0.path) }, uniquingKeysWith: { first, _ in first })
    }
}

/// Finds the trusted roots: `--root`, else `$NSH_TRUST_ROOTS`, else the user's, else the machine's.
enum RootLookup {
    private static let machineDirectory = "/etc/nsh-trust/roots.d"

    /// Looks for roots.
    ///
    /// What was named on purpose, by option or variable, must be there and is never made up for by another place.
    ///
    /// - Parameters:
    ///   - options: The values of `--root`: files or directories.
    ///   - environment: Where the variables are.
    /// - Returns: What was found, and what stood in the way; perhaps nothing.
    static func find(options: [String], environment: Environment) -> TrustedRoots {
        if !options.isEmpty { return read(options, place: .options) }
        if let variable = environment["NSH_TRUST_ROOTS"] {
            return read(variable.split(separator: ":").map(String.init), place: .environment)
        }
        var looked: [String] = []
        if let user = userDirectory(environment) {
            let found = read([user], place: .user, mayBeMissing: true)
            if !found.roots.isEmpty || !found.bad.isEmpty { return found }
            looked.append(user)
        }
        var found = read([machineDirectory], place: .machine, mayBeMissing: true)
        found.looked = looked + [machineDirectory]
        return found
    }

    /// Where the user's own roots are: `$XDG_CONFIG_HOME/nsh-trust/roots.d`, by default below `$HOME/.config`.
    static func userDirectory(_ environment: Environment) -> String? {
        if let base = environment["XDG_CONFIG_HOME"], base.utf8.first == 0x2F { return base + "/nsh-trust/roots.d" }
        return environment["HOME"].map { $0 + "/.config/nsh-trust/roots.d" }
    }

    private static func read(_ paths: [String], place: TrustedRoots.Place, mayBeMissing: Bool = false) -> TrustedRoots {
        var found = TrustedRoots()
        found.looked = paths
        for path in paths {
            do {
                for file in try files(path, mayBeMissing: mayBeMissing) { add(file, to: &found) }
            } catch {
                found.bad.append(TrustedRoots.BadFile(path: path, failure: Failure(error)))
            }
        }
        if !found.roots.isEmpty { found.place = place }
        return found
    }

    private static func files(_ path: String, mayBeMissing: Bool) throws(Trouble) -> [String] {
        switch try Lookup.kind(path) {
        case .missing where mayBeMissing: []
        case .missing: throw Trouble(.noSuchFile, "\(Terminal.safe(path)) is not there")
        case .other: [path]
        case .directory:
            try Lookup.names(in: path).filter { $0.utf8.suffix(4).elementsEqual(".pub".utf8) }.map { "\(path)/\($0)" }
        }
    }

    private static func add(_ file: String, to found: inout TrustedRoots) {
        do {
            let key = try KeyFiles.publicKey(at: file)
            guard let root = RootKey(key) else {
                throw Refusal.malformed("\(Terminal.safe(file)) holds a weak key that cannot be a root")
            }
            if !found.keys.contains(key) { found.roots.append(NamedRoot(root: root, path: file)) }
        } catch {
            found.bad.append(TrustedRoots.BadFile(path: file, failure: Failure(error)))
        }
    }

    /// Requires that there is a root and that no root file is bad.
    ///
    /// - Throws: `Failure`: `noTrustedRoots`, or what is wrong with the first bad file.
    static func required(_ found: TrustedRoots) throws -> TrustedRoots {
        if let bad = found.bad.first {
            let others = found.bad.count > 1 ? " (and \(found.bad.count - 1) more)" : ""
            throw Failure(
                .error, bad.failure.kind == .error ? bad.failure.code : TroubleCode.ioFailure.rawValue,
                "root file \(Terminal.safe(bad.path)) cannot be used\(others): \(bad.failure.message)",
                hint:
                    "mend it or move it away; until then nothing is verified, since a missing root could mean less trust"
            )
        }
        guard !found.roots.isEmpty else { throw nothingFound(found) }
        return found
    }

    /// What is said when there is no root.
    static func nothingFound(_ found: TrustedRoots) -> Trouble {
        let places = found.looked.map { Terminal.safe($0) }.joined(separator: ", ")
        return Trouble(
            .noTrustedRoots,
            "no root key is trusted" + (places.isEmpty ? "" : "; there is none in \(places)"))
    }
}

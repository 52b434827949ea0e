import NshCommandLine
import NshPublishing
import NshTrust

/// What the options of `verify`, `open` and `extract` ask for, read and checked before anything else happens.
struct Judging {
    /// The trusted roots; there is at least one.
    let roots: TrustedRoots
    /// Lists that were given.
    let lists: [Verification.GivenList]
    /// The options of the library.
    let options: NshTrust.Options
    /// The clock.
    let clock: WallClock

    /// The options that this reads.
    static let shared: [Option] = [
        .root, .threshold, .revocations, .runtime, .maximumListAge, .atSigning,
    ]

    /// Those that this reads for a verb that records nothing: what a store accepts, it accepts now.
    static let unrecorded: [Option] = shared + [.at]

    /// Reads the options and the files that they name.
    ///
    /// - Throws: `UsageError`, `Failure` (no root, a bad root file), or what reading a list throws.
    init(_ invocation: Invocation) throws {
        let arguments = invocation.arguments
        var options = try Self.options(arguments)
        let clock = try Self.clock(arguments)
        options.clock = { clock.now() }
        self.options = options
        self.clock = clock
        lists = try arguments.values("revocations").map { path in
            let limit = Int(options.limits.revocationListBytes)
            let bytes = try InputFile.read(path, limit: limit, what: "the revocation list")
            return Verification.GivenList(name: path, bytes: consume bytes)
        }
        roots = try RootLookup.required(
            RootLookup.find(options: arguments.values("root"), environment: invocation.environment))
    }

    /// Reads what does not need a file.
    ///
    /// - Throws: `UsageError`.
    static func options(_ arguments: Arguments) throws -> NshTrust.Options {
        var options = NshTrust.Options()
        if let text = arguments.value("threshold") {
            options.rootThreshold = Int(try OptionValue.integer(text, "threshold", in: 1...16))
        }
        if let text = arguments.value("max-list-age") {
            options.maximumListAgeSeconds = try OptionValue.duration(text, "max-list-age")
        }
        if arguments.has("at-signing") { options.expiry = .atSigningOnly }
        if let text = arguments.value("runtime") {
            guard RuntimeVersion(text) != nil else {
                throw UsageError("--runtime is 1 to 4 numbers joined by dots, not “\(Terminal.safe(text))”")
            }
            options.runtime = text
        }
        return options
    }

    /// A verification that no store takes part in.
    ///
    /// - Throws: `limitExceeded` for more roots than may be pinned, `badRequest`.
    func verification() throws -> Verification {
        var pinned = PinnedRoots(limit: options.limits.pinnedRoots)
        for named in roots.roots { try pinned.add(named.root) }
        return Verification(roots: pinned.keys, policy: try options.policy(), lists: lists, clock: clock)
    }

    /// The clock that `--at` sets, or the system's.
    ///
    /// - Throws: `UsageError`.
    static func clock(_ arguments: Arguments) throws(UsageError) -> WallClock {
        guard let text = arguments.value("at") else { return .system }
        return .fixed(try OptionValue.time(text, "at"))
    }
}

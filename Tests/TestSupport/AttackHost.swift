import FoundationEssentials
package import NshTrust
package import Testing

/// A trust store under attack: pinned roots, a state directory of its own, a clock that the test sets.
///
/// ```swift
/// let host = try AttackHost()
/// var package = PackageBuilder(build: 7)
/// package.signedBy = [.stranger]
/// try host.mustRefuse(package, .badSignature)
/// ```
package final class AttackHost: Sendable {
    /// The directory that holds the state directory and the packages.
    package let directory: TemporaryDirectory
    /// The clock, in seconds since 1970 UTC.
    package let clock: Locked<Int64>
    /// The store.
    package let core: TrustCore

    /// Makes a store in a new directory.
    ///
    /// - Parameters:
    ///   - roots: The roots to pin.
    ///   - edit: What the host asks for.
    /// - Throws: What opening a store or pinning a root throws.
    package convenience init(
        roots: [TestKey] = [.root], _ edit: (inout NshTrust.Options) -> Void = { _ in }
    ) throws {
        try self.init(TemporaryDirectory(), Locked(PackageBuilder.now), roots, .readWrite, edit)
    }

    private init(
        _ directory: TemporaryDirectory, _ clock: Locked<Int64>, _ roots: [TestKey], _ access: StateDirectory.Access,
        _ edit: (inout NshTrust.Options) -> Void
    ) throws {
        self.directory = directory
        self.clock = clock
        var options = NshTrust.Options()
        options.clock = { clock.withLock { $0 } }
        edit(&options)
        core = try TrustCore(directory: directory.path + "/state", options: options, access: access)
        for root in roots { try core.addRoot(root.publicKey) }
    }

    /// Opens the same state directory once more, as another process or the same one after a restart would.
    package func again(
        roots: [TestKey] = [.root], access: StateDirectory.Access = .readWrite,
        _ edit: (inout NshTrust.Options) -> Void = { _ in }
    ) throws -> AttackHost {
        try AttackHost(directory, clock, roots, access, edit)
    }

    /// The state directory.
    package var state: String { directory.path + "/state" }

    /// What the state directory holds.
    package var contents: StoreContents { get throws { try StoreContents(of: state) } }

    // MARK: - Asking

    /// Writes a package to a file and opens it.
    @discardableResult
    package func open(_ package: PackageBuilder) throws -> NshPackage { try open(file: write(package.build())) }

    /// Opens a package file.
    @discardableResult
    package func open(file: String) throws -> NshPackage { try core.open(path: file) }

    /// Applies a list.
    @discardableResult
    package func apply(_ list: ListBuilder) throws -> NshRevocationUpdate { try core.applyRevocations(list.build()) }

    /// The code with which opening a package fails; nil when it is accepted.
    package func code(_ package: PackageBuilder) throws -> NshError.Code? {
        let file = try write(package.build())
        return Self.code { try open(file: file) }
    }

    /// The code of what the body throws; nil when it throws nothing.
    package static func code(_ body: () throws -> some Any) -> NshError.Code? {
        do {
            _ = try body()
            return nil
        } catch {
            return NshError(wrapping: error).code
        }
    }

    /// The highest accepted build of the app.
    package func build(of app: String = "com.example.orders") throws -> Int64? {
        try core.store.read { try $0.acceptedBuild(of: PackageBuilder.id(app)) }?.build
    }

    /// Writes a file beside the state directory.
    package func write(_ bytes: [UInt8], as name: String? = nil) throws -> String {
        try directory.write(name ?? "\(SHA256.hash(bytes).hex).nshpkg", bytes)
    }

    // MARK: - Holding it to a refusal

    /// Expects that a package is refused by every way into the store, and that nothing is left of it.
    ///
    /// It is verified and opened from a file and from a stream of bytes: the same code each time; no tree, nothing
    /// staged, no row changed, and the decision log longer by the two refused opens alone.
    package func mustRefuse(
        _ package: PackageBuilder, _ code: NshError.Code, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try mustRefuse(file: package.build(), code, sourceLocation: sourceLocation)
    }

    /// Expects that the bytes of a package file are refused by every way into the store.
    package func mustRefuse(
        file bytes: [UInt8], _ code: NshError.Code, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let file = try write(bytes)
        let before = try contents
        let ways: [(name: String, run: () throws -> Any)] = [
            ("verify", { try self.core.verify(path: file) }),
            (
                "verify of a stream",
                {
                    var input = BytesInput(bytes)
                    return try self.core.verify(&input)
                }
            ),
            ("open", { try self.core.open(path: file) }),
            (
                "open of a stream",
                {
                    var input = BytesInput(bytes)
                    return try self.core.open(&input, length: nil)
                }
            ),
        ]
        for way in ways {
            #expect(Self.code(way.run) == code, "\(way.name)", sourceLocation: sourceLocation)
        }
        let after = try contents
        #expect(after.files == before.files, "the trees are untouched", sourceLocation: sourceLocation)
        #expect(after.rows == before.rows, "the store is untouched", sourceLocation: sourceLocation)
        let logged = code.isRefusal ? 2 : 0
        #expect(after.events - before.events == logged, "the log has each refused open", sourceLocation: sourceLocation)
    }

    /// Expects that a list is refused and that the store is as it was, its log too.
    package func mustRefuse(
        list: ListBuilder, _ code: NshError.Code, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try mustRefuse(listBytes: list.build(), code, sourceLocation: sourceLocation)
    }

    /// Expects that the bytes of a list are refused and that the store is as it was, its log too.
    package func mustRefuse(
        listBytes bytes: [UInt8], _ code: NshError.Code, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let before = try contents
        let found = Self.code { try core.applyRevocations(bytes) }
        #expect(found == code, "applied", sourceLocation: sourceLocation)
        let rehearsed = Self.code { try core.applyRevocations(bytes, dryRun: true) }
        #expect(rehearsed == code, "rehearsed", sourceLocation: sourceLocation)
        #expect(try contents == before, "the store is untouched", sourceLocation: sourceLocation)
    }
}

extension NshError.Code {
    /// Whether the code is a verdict, not the lack of one.
    fileprivate var isRefusal: Bool { RefusalCode(rawValue: rawValue) != nil }
}

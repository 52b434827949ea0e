import FoundationEssentials
import TestSupport
import Testing

@testable import NshTrust

/// A host of one test: a state directory, packages on disk, and a clock that the test moves.
final class Host: Sendable {
    let directory: TemporaryDirectory
    let clock = Locked<Int64>(PackageBuilder.now)

    init() throws { directory = try TemporaryDirectory() }

    var state: URL { URL(fileURLWithPath: directory.path + "/state") }

    /// Opens the store with the default root pinned.
    func trust(_ edit: (inout NshTrust.Options) -> Void = { _ in }) throws -> NshTrust {
        var options = NshTrust.Options()
        let clock = clock
        options.clock = { clock.withLock { $0 } }
        edit(&options)
        let trust = try NshTrust(stateDirectory: state, options: options)
        try trust.addRoot(TestKey.root.publicKey.base64)
        return trust
    }

    /// Writes a file beside the state directory.
    func file(_ name: String, _ bytes: [UInt8]) throws -> URL {
        let url = URL(fileURLWithPath: directory.path + "/" + name)
        try Data(bytes).write(to: url)
        return url
    }

    /// Writes a package of a build.
    func package(build: Int64, _ edit: (inout PackageBuilder) -> Void = { _ in }) throws -> URL {
        var builder = PackageBuilder()
        builder.app.build = build
        edit(&builder)
        return try file("orders-\(build)-\(UInt32.random(in: 0...UInt32.max)).nshpkg", builder.build())
    }

    /// A revocation list of the default root.
    func list(_ sequence: Int64, by roots: [TestKey] = [.root], _ edit: (inout RevocationList) -> Void = { _ in })
        -> String
    {
        var list = RevocationList(
            issuer: roots[0].publicKey.hash, sequence: sequence, issuedAt: PackageBuilder.now - 100 + sequence)
        edit(&list)
        return String(
            decoding: Envelope.signed(.revocations, list.serialized, by: roots).serialized, as: UTF8.self)
    }

    /// Everything beneath the state directory but the database, as paths.
    var tree: [String] {
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: state.path)) ?? []
        return names.filter { !$0.hasPrefix("trust.sqlite") }.sorted()
    }

    /// Entries of the staging directory.
    var staged: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: state.path + "/staging")) ?? []
    }
}

/// Runs the body, which must throw an `NshError`, and returns it.
func nshError(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async -> NshError? {
    do {
        try await body()
        Issue.record("nothing was thrown", sourceLocation: sourceLocation)
        return nil
    } catch {
        if error as? NshError == nil { Issue.record("not an NshError: \(error)", sourceLocation: sourceLocation) }
        return error as? NshError
    }
}

import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import NshTrust

/// `openPackage` as an engine calls it.
@Suite("Opening packages")
struct OpenPackageTests {
    let host: Host
    init() throws { host = try Host() }

    private func installed(_ trust: NshTrust) throws -> Int? {
        try trust.acceptedBuild(forApp: "com.example.orders")?.build
    }

    @Test("a good package is extracted and accepted", .rules("POL-18", "STO-1", "SUM-16"))
    func opens() async throws {
        let trust = try host.trust()
        let package = try await trust.openPackage(at: try host.package(build: 5))
        #expect(package.info.id == "com.example.orders" && package.info.build == 5 && package.info.version == "1.4.0")
        #expect(try installed(trust) == 5)
        let bundle = package.directory.appendingPathComponent("bundle.js")
        #expect(try Data(contentsOf: bundle) == Data("console.log('orders')\n".utf8))
        #expect(package.report.certificate?.publisher == "Example Ltd")
        #expect(package.storageDirectoryName == "com.example.orders")
        #expect(try FileManager.default.attributesOfItem(atPath: bundle.path)[.posixPermissions] as? Int == 0o644)
        let assets = package.directory.appendingPathComponent("assets").path
        #expect(try FileManager.default.attributesOfItem(atPath: assets)[.posixPermissions] as? Int == 0o755)
        #expect(host.staged.isEmpty)
    }

    @Test("an older build is refused and changes nothing", .rules("POL-10", "POL-21"))
    func refusesRollback() async throws {
        let trust = try host.trust()
        _ = try await trust.openPackage(at: try host.package(build: 5))
        _ = try await trust.openPackage(at: try host.package(build: 6))
        let before = host.tree
        let events = try trust.events().count
        let error = await nshError {
            _ = try await trust.openPackage(at: try host.package(build: 5) { $0.files["x"] = [1] })
        }
        #expect(error?.code == .rolledBack && error?.isRefusal == true)
        #expect(error?.report?.info?.build == 5)
        #expect("refused: \(try #require(error))".hasPrefix("refused: build 5 is older than build 6, accepted 2025-"))
        #expect(try installed(trust) == 6)
        #expect(host.tree == before)
        let last = try #require(try trust.events().last)
        #expect(try trust.events().count == events + 1)
        #expect(
            last.kind == "refused" && last.code == .rolledBack && last.app == "com.example.orders" && last.build == 5)
    }

    @Test("a damaged payload leaves nothing", .rules("POL-21", "STO-14")) func refusesDamage() async throws {
        let trust = try host.trust()
        let url = try host.package(build: 5) { builder in
            builder.files["assets/big"] = [UInt8](repeating: 7, count: 300_000)
            builder.damagePayload = { $0[250_000] ^= 1 }
        }
        let error = await nshError { _ = try await trust.openPackage(at: url) }
        #expect(error?.code == .payloadCorrupt)
        #expect(try installed(trust) == nil)
        #expect(host.staged.isEmpty && !host.tree.contains { $0.hasSuffix("bundle.js") })
    }

    @Test("a damaged package is neither verified nor remembered", .rules("POL-17")) func verifyChangesNothing()
        async throws
    {
        let trust = try host.trust()
        let report = try await trust.verifyPackage(at: try host.package(build: 5))
        #expect(report.info?.build == 5 && report.files == 3 && report.unpackedSize != nil)
        #expect(try installed(trust) == nil)
        #expect(try trust.events().allSatisfy { $0.kind == "rootAdded" })
        let damaged = try host.package(build: 5) { $0.damagePayload = { $0[0] ^= 1 } }
        let error = await nshError { _ = try await trust.verifyPackage(at: damaged) }
        #expect(error?.code == .payloadCorrupt && error?.report?.files == nil && error?.report?.info?.build == 5)
        #expect(try trust.events().allSatisfy { $0.kind == "rootAdded" })
    }

    @Test("what was not established is absent", .rules("ENV-10")) func reportsOnlyTheEstablished() async throws {
        let trust = try host.trust()
        let stranger = await nshError {
            _ = try await trust.verifyPackage(at: try host.package(build: 5) { $0.certifiedBy = [.stranger] })
        }
        #expect(
            stranger?.code == .untrustedRoot && stranger?.report?.certificate == nil && stranger?.report?.info == nil)
        let forged = await nshError {
            _ = try await trust.verifyPackage(at: try host.package(build: 5) { $0.signedBy = [.stranger] })
        }
        #expect(forged?.code == .badSignature && forged?.report?.certificate != nil && forged?.report?.info == nil)
    }

    @Test("without a root nothing is judged", .rules("POL-22")) func needsARoot() async throws {
        let trust = try NshTrust(stateDirectory: host.state)
        let url = try host.package(build: 5)
        #expect(await nshError { _ = try await trust.openPackage(at: url) }?.code == .noTrustedRoots)
        #expect(await nshError { _ = try await trust.verifyPackage(at: url) }?.code == .noTrustedRoots)
        #expect(await nshError { _ = try trust.updateRevocations(host.list(1)) }?.code == .noTrustedRoots)
    }

    @Test(
        "paths that are no package file", .rules("STO-10"),
        arguments: [
            ("missing", NshError.Code.noSuchFile), (".", .notARegularFile), ("state/trust.sqlite", .notARegularFile),
            ("a\u{0}b", .noSuchFile),
        ]) func refusesOtherPaths(_ name: String, _ code: NshError.Code) async throws
    {
        let trust = try host.trust()
        let path = host.directory.path + "/" + name
        let error = await nshError { _ = try await trust.openPackage(at: URL(fileURLWithPath: path)) }
        #expect(error?.code == code, "\(error?.message ?? "")")
        #expect(error?.isRefusal == false)
    }

    @Test("FIFOs and devices are not waited for", .rules("STO-10")) func refusesSpecialFiles() async throws {
        let trust = try host.trust()
        let fifo = host.directory.path + "/fifo"
        #expect(mkfifo(fifo, 0o600) == 0)
        for path in [fifo, "/dev/zero", "/proc/self/mem"] {
            let error = await nshError { _ = try await trust.openPackage(at: URL(fileURLWithPath: path)) }
            #expect(error?.isRefusal == false, "\(path): \(error?.description ?? "")")
        }
    }

    @Test("an installed package is opened from its header", .rules("POL-20")) func reopens() async throws {
        let trust = try host.trust()
        let url = try host.package(build: 5) { $0.files["assets/big"] = [UInt8](repeating: 7, count: 300_000) }
        let first = try await trust.openPackage(at: url)
        let events = try trust.events().count
        // The payload is damaged, which nobody notices who does not read it.
        var bytes = Array(try Data(contentsOf: url))
        bytes[bytes.count - 5000] ^= 1
        try Data(bytes).write(to: url)
        let second = try await trust.openPackage(at: url)
        #expect(second.directory == first.directory && second.digest == first.digest)
        #expect(try trust.events().count == events)
        // Its length still counts.
        try Data(bytes.dropLast()).write(to: url)
        #expect(await nshError { _ = try await trust.openPackage(at: url) }?.code == .truncated)
        try Data(bytes + [0]).write(to: url)
        #expect(await nshError { _ = try await trust.openPackage(at: url) }?.code == .trailingData)
    }

    @Test(
        "a tree that is not whole is extracted again", .rules("POL-20"),
        arguments: [
            NshTrust.Options.TreeCheck.fileList, .everyFile,
        ]) func mendsTrees(_ check: NshTrust.Options.TreeCheck) async throws
    {
        let trust = try host.trust { $0.treeCheck = check }
        let url = try host.package(build: 5)
        let directory = try await trust.openPackage(at: url).directory
        let victim = directory.appendingPathComponent(check == .everyFile ? "bundle.js" : "SHA256SUMS")
        try Data("changed".utf8).write(to: victim)
        let again = try await trust.openPackage(at: url)
        #expect(again.directory == directory)
        let expected = check == .everyFile ? "console.log('orders')\n" : "changed"
        let found = String(decoding: try Data(contentsOf: victim), as: UTF8.self)
        #expect(check == .everyFile ? found == expected : found != expected)
    }

    @Test("a tree whose list is no plain file is extracted again", .rules("POL-20"), arguments: ["directory", "link"])
    func mendsLists(_ kind: String) async throws {
        let trust = try host.trust()
        let url = try host.package(build: 5)
        let directory = try await trust.openPackage(at: url).directory
        let list = directory.appendingPathComponent("SHA256SUMS").path
        try FileManager.default.removeItem(atPath: list)
        #expect((kind == "link" ? symlink("app.json", list) : mkdir(list, 0o755)) == 0)
        let again = try await trust.openPackage(at: url)
        #expect(again.directory == directory)
        #expect(try FileManager.default.attributesOfItem(atPath: list)[.type] as? FileAttributeType == .typeRegular)
    }

    @Test("the same content signed again is accepted", .rules("POL-10")) func acceptsResigned() async throws {
        let trust = try host.trust()
        let first = try await trust.openPackage(at: try host.package(build: 5))
        let second = try await trust.openPackage(at: try host.package(build: 5) { $0.signedAt += 1 })
        #expect(first.digest != second.digest)
        #expect(try installed(trust) == 5)
        let other = await nshError {
            _ = try await trust.openPackage(at: try host.package(build: 5) { $0.files["extra"] = [1] })
        }
        #expect(other?.code == .buildConflict)
    }

    @Test("a descriptor and a stream give what the path gives", arguments: [1, 7, 4096, 1 << 20])
    func opensStreams(_ piece: Int) async throws {
        let trust = try host.trust()
        let url = try host.package(build: 5)
        let bytes = Array(try Data(contentsOf: url))
        let file = try FileHandleForTests(url)
        #expect(try await trust.verifyPackage(fileDescriptor: file.descriptor).info?.build == 5)
        #expect(try await trust.verifyPackage(from: Pieces(bytes, of: piece)).info?.build == 5)
        let package = try await trust.openPackage(from: Pieces(bytes, of: piece))
        #expect(try await trust.openPackage(fileDescriptor: file.descriptor).digest == package.digest)
        #expect(try await trust.openPackage(from: Pieces(bytes, of: piece)).digest == package.digest)
        let cut = await nshError { _ = try await trust.openPackage(from: Pieces(Array(bytes.dropLast()), of: piece)) }
        #expect(cut?.code == .truncated)
        let longer = await nshError { _ = try await trust.verifyPackage(from: Pieces(bytes + [0], of: piece)) }
        #expect(longer?.code == .trailingData)
    }

    @Test("a stream that fails is not a package that ends") func reportsFailingStreams() async throws {
        let trust = try host.trust()
        let bytes = Array(try Data(contentsOf: try host.package(build: 5)))
        let error = await nshError {
            _ = try await trust.openPackage(from: Pieces(Array(bytes.prefix(bytes.count / 2)), of: 100, fails: true))
        }
        #expect(error?.code == .ioFailure)
        #expect(host.staged.isEmpty)
    }

    @Test("cancelling leaves nothing behind", .rules("STO-14")) func cancels() async throws {
        let trust = try host.trust()
        let url = try host.package(build: 5) { $0.files["assets/big"] = Noise.bytes(8 << 20) }
        let (started, cancelled) = (Locked(false), Locked(false))
        let task = Task {
            try await trust.openPackage(at: url) { _ in
                started.withLock { $0 = true }
                while !cancelled.withLock({ $0 }) { usleep(1000) }
            }
        }
        while !started.withLock({ $0 }) { try await Task.sleep(nanoseconds: 1_000_000) }
        task.cancel()
        cancelled.withLock { $0 = true }
        let error = await nshError { _ = try await task.value }
        #expect(error?.code == .cancelled)
        #expect(try installed(trust) == nil && host.staged.isEmpty)
        #expect(try await trust.openPackage(at: url).info.build == 5)
    }

    @Test("progress rises to the whole") func reportsProgress() async throws {
        let trust = try host.trust()
        let url = try host.package(build: 5) { $0.files["assets/big"] = Noise.bytes(4 << 20) }
        let seen = Locked<[NshProgress]>([])
        _ = try await trust.openPackage(at: url) { progress in seen.withLock { $0.append(progress) } }
        let all = seen.withLock { $0 }
        #expect(all.count > 2 && zip(all, all.dropFirst()).allSatisfy { $0.done <= $1.done })
        #expect(all.last?.done == all.last?.total)
    }
}

/// Bytes handed out in pieces, as a download would.
struct Pieces: AsyncSequence, Sendable {
    struct Broken: Error {}
    let bytes: [UInt8]
    let size: Int
    let fails: Bool

    init(_ bytes: [UInt8], of size: Int, fails: Bool = false) {
        self.bytes = bytes
        self.size = size
        self.fails = fails
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        let pieces: Pieces
        var at = 0

        mutating func next() async throws -> [UInt8]? {
            guard at < pieces.bytes.count else {
                if pieces.fails { throw Broken() }
                return nil
            }
            let end = Swift.min(at + pieces.size, pieces.bytes.count)
            defer { at = end }
            return Array(pieces.bytes[at..<end])
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pieces: self) }
}

/// An open file of a test.
final class FileHandleForTests {
    let descriptor: Int32
    init(_ url: URL) throws {
        descriptor = open(url.path, O_RDONLY)
        guard descriptor >= 0 else { throw VectorError("cannot open \(url.path)") }
    }
    deinit { close(descriptor) }
}

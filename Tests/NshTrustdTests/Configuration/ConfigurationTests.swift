import Glibc
import NshTrust
import TestSupport
import Testing

@testable import NshTrustd

/// Roots and lists in directories.
struct ConfigurationTests {
    private let directory: TemporaryDirectory
    private let core: TrustCore
    private let configuration: Configuration

    init() throws {
        directory = try TemporaryDirectory()
        mkdir("\(directory.path)/roots", 0o755)
        mkdir("\(directory.path)/lists", 0o755)
        var options = NshTrust.Options()
        options.busyTimeoutSeconds = 0
        core = try TrustCore(directory: "\(directory.path)/state", options: options, modes: .daemon)
        configuration = Configuration(
            core, roots: "\(directory.path)/roots", lists: "\(directory.path)/lists", log: Log(format: .json),
            retryInterval: 0)
    }

    private func put(_ key: TestKey, _ name: String) throws {
        try directory.write("roots/\(name)", Array((key.publicKey.base64 + "\n").utf8))
        chmod("\(directory.path)/roots/\(name)", 0o644)
    }

    private func list(_ sequence: Int64, by key: TestKey) -> [UInt8] {
        let list = RevocationList(
            issuer: key.publicKey.hash, sequence: sequence, issuedAt: PackageBuilder.now - 100 + sequence)
        return Envelope.signed(.revocations, list.serialized, by: [key]).serialized
    }

    @Test
    func trustsTheRootsThatFilesName() throws {
        try put(.root, "a.pub")
        try put(.secondRoot, "b.pub")
        try put(.stranger, "c.txt")
        try put(.stranger, ".d.pub")
        configuration.reload(all: true)
        #expect(core.roots == [TestKey.root.publicKey, TestKey.secondRoot.publicKey])
        #expect(configuration.rootFiles.map(\.file) == ["a", "b"].map { "\(directory.path)/roots/\($0).pub" })
        #expect(configuration.badRoots.isEmpty)
    }

    @Test(.attack("M18"))
    func trustsNoLongerTheRootWhoseFileWent() throws {
        try put(.root, "a.pub")
        configuration.reload(all: true)
        directory.remove("roots/a.pub")
        configuration.reload(all: false)
        #expect(core.roots.isEmpty)
    }

    @Test(.attack("M18"))
    func noticesAFileThatComes() throws {
        configuration.reload(all: true)
        #expect(core.roots.isEmpty)
        try put(.root, "a.pub")
        configuration.reload(all: false)
        #expect(core.roots == [TestKey.root.publicKey])
    }

    /// Makes the system refuse to open a file for as long as the result lives: who has a lease on it is asked first.
    private func obstruct(_ path: String) -> OwnedDescriptor {
        let descriptor = OwnedDescriptor(owning: open("\(directory.path)/\(path)", O_WRONLY | O_CLOEXEC))
        // Linux has these; the C library shows them to those alone who ask for its extensions.
        let (setSignal, setLease): (Int32, Int32) = (10, 1024)
        // The signal is one that nobody minds.
        #expect(fcntl(descriptor.raw, setSignal, SIGURG) == 0 && fcntl(descriptor.raw, setLease, Int32(F_WRLCK)) == 0)
        return descriptor
    }

    @Test(.attack("M18"))
    func readsAgainWhatTheSystemDidNotLetItRead() throws {
        try put(.root, "a.pub")
        try directory.write("lists/a.json", list(1, by: .root))
        let root = obstruct("roots/a.pub")
        configuration.reload(all: false)
        #expect(core.roots.isEmpty && configuration.badRoots.map(\.file) == ["\(directory.path)/roots/a.pub"])
        _ = consume root
        let list = obstruct("lists/a.json")
        configuration.reload(all: false)
        #expect(core.roots == [TestKey.root.publicKey] && configuration.badRoots.isEmpty)
        #expect(try core.store.read { try $0.listsInForce() }.isEmpty)
        #expect(configuration.badLists.map(\.file) == ["\(directory.path)/lists/a.json"])
        _ = consume list
        configuration.reload(all: false)
        #expect(try core.store.read { try $0.listsInForce() }.count == 1)
        #expect(configuration.badLists.isEmpty)
    }

    @Test(.attack("M12"))
    func passesOverBadFilesAndNamesThem() throws {
        try put(.root, "good.pub")
        try directory.write("roots/nonsense.pub", Array("not a key".utf8))
        try put(.secondRoot, "exposed.pub")
        chmod("\(directory.path)/roots/exposed.pub", 0o666)
        try put(.secondRoot, "target")
        directory.link("roots/link.pub", to: "target")
        mkfifo("\(directory.path)/roots/pipe.pub", 0o644)
        try directory.write("roots/large.pub", [UInt8](repeating: 65, count: 5000))
        configuration.reload(all: true)
        #expect(core.roots == [TestKey.root.publicKey])
        let bad = Set(configuration.badRoots.map { $0.file.split(separator: "/").last.map(String.init) ?? "" })
        #expect(bad == ["nonsense.pub", "exposed.pub", "link.pub", "pipe.pub", "large.pub"])
    }

    @Test
    func trustsNobodyWhenOthersMayWriteTheDirectory() throws {
        try put(.root, "a.pub")
        chmod("\(directory.path)/roots", 0o777)
        configuration.reload(all: true)
        #expect(core.roots.isEmpty)
        #expect(configuration.badRoots.map(\.file) == ["\(directory.path)/roots"])
    }

    @Test(.attack("C22"))
    func appliesListsOfRootsAndNamesTheOthers() throws {
        try put(.root, "a.pub")
        try directory.write("lists/1.json", list(1, by: .root))
        try directory.write("lists/2.json", list(1, by: .stranger))
        configuration.reload(all: true)
        #expect(try core.store.read { try $0.listsInForce() }.map(\.list.sequence) == [1])
        #expect(configuration.badLists.map(\.file) == ["\(directory.path)/lists/2.json"])
        // Older ones may well lie beside newer ones.
        try directory.write("lists/3.json", list(2, by: .root))
        configuration.reload(all: false)
        #expect(try core.store.read { try $0.listsInForce() }.map(\.list.sequence) == [2])
        #expect(configuration.badLists.map(\.file) == ["\(directory.path)/lists/2.json"])
    }

    @Test
    func noticesWhoMayChangeFilesAndDirectory() throws {
        try put(.root, "a.pub")
        configuration.reload(all: true)
        chmod("\(directory.path)/roots/a.pub", 0o666)
        configuration.reload(all: false)
        #expect(core.roots.isEmpty)
        chmod("\(directory.path)/roots/a.pub", 0o644)
        configuration.reload(all: false)
        #expect(core.roots == [TestKey.root.publicKey])
        chmod("\(directory.path)/roots", 0o777)
        configuration.reload(all: false)
        #expect(core.roots.isEmpty)
    }

    @Test
    func readsAgainWhatABusyStoreDidNotTake() throws {
        try put(.root, "a.pub")
        configuration.reload(all: true)
        try directory.write("lists/1.json", list(1, by: .root))
        let other = try TrustCore(directory: "\(directory.path)/state", options: NshTrust.Options(), modes: .daemon)
        try other.store.commit { _ in configuration.reload(all: false) }
        #expect(configuration.badLists.map(\.file) == ["\(directory.path)/lists/1.json"])
        configuration.reload(all: false)
        #expect(configuration.badLists.isEmpty)
        #expect(try core.store.read { try $0.listsInForce() }.map(\.list.sequence) == [1])
    }
}

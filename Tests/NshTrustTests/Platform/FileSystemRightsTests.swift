import Glibc
import NshTrust
import TestSupport
import Testing

/// Opening files with another user's rights; only root can try.
@Suite(.rules("STO-16"), .enabled(if: geteuid() == 0, "needs root")) struct FileSystemRightsTests {
    let directory: TemporaryDirectory
    private let user = FileSystemRights(uid: 12345, gid: 12345, groups: [])

    init() throws {
        directory = try TemporaryDirectory()
        #expect(chmod(directory.path, 0o755) == 0)
    }

    private func file(_ name: String, mode: mode_t, owner: uid_t, group: gid_t) throws -> String {
        let path = try directory.write(name, [1, 2, 3])
        #expect(chown(path, owner, group) == 0 && chmod(path, mode) == 0)
        return path
    }

    private func code(_ path: String, _ rights: FileSystemRights? = nil) throws -> TroubleCode? {
        do {
            if let rights {
                _ = try rights.perform { try PackageFile.open(path, noMagicLinks: true) }
            } else {
                _ = try PackageFile.open(path)
            }
            return nil
        } catch let trouble as Trouble {
            return trouble.code
        }
    }

    @Test func opensWhatTheUserMayOpenAndNothingElse() throws {
        #expect(FileSystemRights.canBeAssumed)
        let own = try file("own", mode: 0o600, owner: 12345, group: 0)
        let roots = try file("roots", mode: 0o600, owner: 0, group: 0)
        #expect(try code(own, user) == nil)
        #expect(try code(roots, user) == .ioFailure)
        #expect(try code(own, FileSystemRights(uid: 12346, gid: 12345, groups: [])) == .ioFailure)
        #expect(try code(roots) == nil)
    }

    @Test func groupsCountPrimaryAndSupplementary() throws {
        let path = try file("group", mode: 0o640, owner: 0, group: 23456)
        #expect(try code(path, user) == .ioFailure)
        #expect(try code(path, FileSystemRights(uid: 12345, gid: 23456, groups: [])) == nil)
        #expect(try code(path, FileSystemRights(uid: 12345, gid: 12345, groups: [40000, 23456, 7])) == nil)
        #expect(try code(path, FileSystemRights(uid: 12345, gid: 12345, groups: [0])) == .ioFailure)
    }

    @Test func aDirectoryThatTheUserMayNotEnterHidesWhatIsInIt() throws {
        let path = try file("open", mode: 0o644, owner: 12345, group: 0)
        #expect(chmod(directory.path, 0o700) == 0)
        #expect(try code(path, user) == .ioFailure)
        #expect(try code(path) == nil)
    }

    @Test func takesItsOwnRightsBackWhateverTheWorkDoes() throws {
        struct Failed: Error {}
        let before = try status()
        #expect(throws: Failed.self) { try user.perform { throw Failed() } }
        #expect(try status() == before)
        let inside = try FileSystemRights(uid: 12345, gid: 777, groups: [9, 8]).perform { try status() }
        #expect(inside.uid == "0\t0\t0\t12345" && inside.gid == "0\t0\t0\t777" && inside.groups == "8 9 ")
        #expect(try status() == before)
    }

    @Test func otherThreadsKeepTheirs() async throws {
        let before = try status()
        let roots = try file("roots", mode: 0o600, owner: 0, group: 0)
        let pool = WorkerPool(maximumThreads: 1)
        // The thread of the pool was there before.
        _ = try await pool.runBlocking { _ in try status() }
        let entered = Locked(false)
        let left = CancellationFlag()
        async let stranger: Void = WorkerPool(maximumThreads: 1).runBlocking { _ in
            try user.perform {
                entered.withLock { $0 = true }
                while !left.isRaised { MonotonicTime.sleep(nanoseconds: 1_000_000) }
            }
        }
        while !entered.withLock({ $0 }) { try await Task.sleep(nanoseconds: 1_000_000) }
        #expect(try await pool.runBlocking { _ in try status() } == before)
        #expect(try await pool.runBlocking { _ in try code(roots) } == nil)
        left.raise()
        try await stranger
    }

    @Test(arguments: [
        FileSystemRights(uid: .max, gid: 1, groups: []), FileSystemRights(uid: 1, gid: .max, groups: []),
        FileSystemRights(uid: 1, gid: 1, groups: [.max]),
        FileSystemRights(uid: 1, gid: 1, groups: Array(0..<65537)),
    ])
    func whatTheSystemRefusesIsNotTakenForDone(_ rights: FileSystemRights) throws {
        let before = try status()
        var hasRun = false
        let trouble = #expect(throws: Trouble.self) { try rights.perform { hasRun = true } }
        #expect(trouble?.code == .ioFailure && !hasRun)
        #expect(try status() == before)
    }

    @Test func magicLinksAreRefusedAndPlainOnesFollowed() throws {
        let path = try file("own", mode: 0o600, owner: 12345, group: 0)
        directory.link("link", to: path)
        #expect(try code(directory.path("link"), user) == nil)
        let held = OwnedDescriptor(owning: open(path, O_RDONLY))
        let magic = "/proc/self/fd/\(held.raw)"
        #expect(try code(magic) == nil)
        #expect(try code(magic, user) == .ioFailure)
        #expect(try code("/proc/self/root\(path)", user) == .ioFailure)
    }

    /// What the kernel says of the calling thread.
    private struct Status: Hashable, Sendable {
        var uid = ""
        var gid = ""
        var groups = ""
    }

    private func status() throws -> Status {
        var status = Status()
        let file = try #require(fopen("/proc/thread-self/status", "r"))
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 65536)
        while fgets(&line, Int32(line.count), file) != nil {
            let letters = line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }
            let text = String(decoding: letters, as: UTF8.self)
            let parts = text.split(separator: "\t", maxSplits: 1, omittingEmptySubsequences: false)
            switch parts.first {
            case "Uid:": status.uid = String(parts[1])
            case "Gid:": status.gid = String(parts[1])
            case "Groups:": status.groups = String(parts[1])
            default: break
            }
        }
        return status
    }
}

import FoundationEssentials
import Glibc
import NshTrust
import TestSupport
import Testing

@Suite struct PackageFileTests {
    private static func code(
        _ path: String, forbidden: Set<FileIdentity> = [], noMagicLinks: Bool = false
    ) throws -> TroubleCode? {
        do {
            _ = try PackageFile.open(path, forbidden: forbidden, noMagicLinks: noMagicLinks)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func opensAFileAndALinkToIt() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write("a.nshpkg", [1, 2, 3])
        #expect(symlink("a.nshpkg", "\(directory.path)/link") == 0)
        for name in [path, "\(directory.path)/link"] {
            let file = try PackageFile.open(name)
            #expect(file.length == 3)
            var input = FileInput(descriptor: file.descriptor.raw, name: file.name)
            #expect(try input.bytes(upTo: 10) == [1, 2, 3])
        }
    }

    @Test func refusesEverythingElse() throws {
        let directory = try TemporaryDirectory()
        #expect(mkfifo("\(directory.path)/pipe", 0o644) == 0)
        #expect(try Self.code("\(directory.path)/absent") == .noSuchFile)
        #expect(try Self.code("") == .noSuchFile)
        #expect(try Self.code("/etc/passwd\0x") == .noSuchFile)
        for path in [directory.path, "\(directory.path)/pipe", "/dev/null", "/dev/zero", "/"] {
            #expect(try Self.code(path) == .notARegularFile)
        }
    }

    /// Reading one may wait for ever, consume what others wait for, or read this process's memory.
    @Test(.rules("STO-10"), arguments: ["/proc/self/mem", "/proc/self/environ", "/proc/version", "/sys/kernel/notes"])
    func refusesTheKernelsOwnFiles(_ path: String) throws {
        guard access(path, F_OK) == 0 else { return }
        #expect(try Self.code(path) == .notARegularFile)
        let descriptor = OwnedDescriptor(owning: open(path, O_RDONLY))
        let trouble = #expect(throws: Trouble.self) { _ = try PackageFile.duplicate(descriptor.raw) }
        #expect(trouble?.code == .notARegularFile)
    }

    @Test func refusesTheStoresDatabaseByAnyName() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write("state.sqlite")
        let identity = try #require(try directory.open().status(of: "state.sqlite")).identity
        #expect(link(path, "\(directory.path)/hard") == 0)
        #expect(symlink(path, "\(directory.path)/soft") == 0)
        for name in [path, "\(directory.path)/hard", "\(directory.path)/soft"] {
            #expect(try Self.code(name, forbidden: [identity]) == .notARegularFile)
            #expect(try Self.code(name, forbidden: [identity], noMagicLinks: true) == .noSuchFile)
        }
        let descriptor = OwnedDescriptor(owning: open(path, O_RDONLY))
        let trouble = #expect(throws: Trouble.self) {
            _ = try PackageFile.duplicate(descriptor.raw, forbidden: [identity])
        }
        #expect(trouble?.code == .notARegularFile)
    }

    @Test func leavesTheCallersDescriptorAlone() throws {
        let directory = try TemporaryDirectory()
        let caller = OwnedDescriptor(owning: open(try directory.write("a", Noise.bytes(10)), O_RDONLY))
        #expect(lseek(caller.raw, 4, SEEK_SET) == 4)
        do {
            let file = try PackageFile.duplicate(caller.raw)
            var input = FileInput(descriptor: file.descriptor.raw, name: "a")
            #expect(try input.bytes(upTo: 20) == Noise.bytes(10))
        }
        #expect(lseek(caller.raw, 0, SEEK_CUR) == 4)
    }
}

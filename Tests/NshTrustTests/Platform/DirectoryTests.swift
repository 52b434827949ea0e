import CLinux
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import NshTrust

@Suite struct DirectoryTests {
    let temporary: TemporaryDirectory
    init() throws { temporary = try TemporaryDirectory() }

    private func directory() throws -> Directory { try Directory.open(temporary.path) }

    private func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: temporary.path(name)))
    }

    @Test func makesDirectoryWithExactlyTheModeAskedFor() throws {
        let made = try directory().makeDirectory("a", permissions: 0o777)
        #expect(try made.status().permissions == 0o777)
        #expect(code { _ = try directory().makeDirectory("a", permissions: 0o700) } == "exists")
    }

    @Test func openOrMakeRefusesLinksAndFiles() throws {
        #expect(symlink("/tmp", temporary.path("link")) == 0)
        try write("x", to: "file")
        for name in ["link", "file"] {
            #expect(code { _ = try directory().openOrMakeDirectory(name, permissions: 0o700) } == "storeUnsafe")
            #expect(code { _ = try directory().directory(beneath: name) } == "storeUnsafe")
        }
    }

    @Test(arguments: ["..", "a/../../x", "/etc", "link/x"]) func neverLeavesTheDirectory(path: String) throws {
        #expect(symlink("/etc", temporary.path("link")) == 0 && mkdir(temporary.path("a"), 0o700) == 0)
        #expect(code { _ = try directory().directory(beneath: path) } == "storeUnsafe")
    }

    /// Where the system does not know openat2, the names are walked one by one.
    @Test(arguments: ["a", "a/b", "a//b/", "a/file", ".", "none", "a/none", "none/b", "a/file/", "a/file/b"])
    func walksNamesAsTheSystemDoes(path: String) throws {
        #expect(mkdir(temporary.path("a"), 0o700) == 0 && mkdir(temporary.path("a/b"), 0o700) == 0)
        try write("x", to: "a/file")
        let directory = try directory()
        let opened = nsh_open_beneath(directory.raw, path, O_RDONLY, 0)
        let walked = nsh_walk_beneath(directory.raw, path, O_RDONLY, 0)
        guard opened >= 0, walked >= 0 else {
            #expect(opened == walked)
            return
        }
        let one = OwnedDescriptor(owning: opened)
        let other = OwnedDescriptor(owning: walked)
        let expected = try FileStatus.of(descriptor: one.raw, path).identity
        #expect(try FileStatus.of(descriptor: other.raw, path).identity == expected)
    }

    @Test(arguments: ["..", "a/../..", "a/..", "/etc", "/", "link", "link/hostname", "a/link", ""])
    func walkingNeverLeavesTheDirectory(path: String) throws {
        #expect(mkdir(temporary.path("a"), 0o700) == 0)
        #expect(symlink("/etc", temporary.path("link")) == 0 && symlink("..", temporary.path("a/link")) == 0)
        #expect(nsh_walk_beneath(try directory().raw, path, O_RDONLY, 0) < 0)
    }

    @Test func opensOnlyRegularFiles() throws {
        #expect(mkfifo(temporary.path("pipe"), 0o600) == 0 && mkdir(temporary.path("a"), 0o700) == 0)
        #expect(symlink("/etc/hostname", temporary.path("link")) == 0)
        for name in ["pipe", "a", "link"] { #expect(code { _ = try directory().openFile(name) } == "notARegularFile") }
        #expect(code { _ = try directory().openFile("none") } == "noSuchFile")
    }

    @Test func renamesOnlyToAFreeName() throws {
        try write("a", to: "a")
        try write("b", to: "b")
        #expect(try !directory().rename("a", to: directory(), as: "b"))
        #expect(try directory().rename("a", to: directory(), as: "c"))
        #expect(temporary.names() == ["b", "c"])
    }

    @Test(.attack("H22")) func removesDeepTreeWithLinksAndStrangeNames() throws {
        var path = "tree"
        for level in 0..<40 { #expect(mkdir(temporary.path(path), 0o700) == 0); path += "/\(level)" }
        try write("x", to: "tree/0/file")
        #expect(symlink(temporary.path, temporary.path("tree/0/up")) == 0)
        #expect(mkfifo(temporary.path("tree/pipe"), 0o600) == 0)
        let bytes: [CChar] = Array(temporary.path("tree/").utf8CString.dropLast()) + [-1, -2, 0]
        #expect(close(open(bytes, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)) == 0)
        try write("outside", to: "outside")
        try directory().removeTree("tree")
        #expect(temporary.names() == ["outside"])
        try directory().removeTree("tree")
    }

    @Test func givesUpOnATreeDeeperThanAnyOfOurs() throws {
        var path = "tree"
        for _ in 0..<80 { #expect(mkdir(temporary.path(path), 0o700) == 0); path += "/d" }
        #expect(code { try directory().removeTree("tree") } == "ioFailure")
    }

    @Test func listsNamesOnceEach() throws {
        for name in ["b", "a", "ü"] { try write("", to: name) }
        #expect(try directory().textNames() == ["a", "b", "ü"])
        #expect(try directory().textNames() == ["a", "b", "ü"])
    }

    @Test func resolvesLinksAboveIt() throws {
        #expect(mkdir(temporary.path("real"), 0o700) == 0 && mkdir(temporary.path("real/inner"), 0o700) == 0)
        #expect(symlink(temporary.path("real"), temporary.path("link")) == 0)
        let resolved = try Directory.open(temporary.path("link/inner//")).resolvedPath()
        #expect(resolved.hasSuffix("/real/inner"))
    }

    @Test func saysWhatAnOpenOfNothingMeans() {
        #expect(code { _ = try Directory.open("/nonexistent/x") } == "noSuchFile")
        #expect(code { _ = try Directory.open("/etc/hostname") } == "storeUnsafe")
    }
}

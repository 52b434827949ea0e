import FoundationEssentials
import Glibc
import NshTrust
import TestSupport
import Testing

@Suite struct DirectorySinkTests {
    private static func sample() -> PackageBuilder {
        var package = PackageBuilder()
        package.packing = .zstd
        package.files["assets/a/b/c/deep.txt"] = [1]
        package.files["assets/a/b/shallow.txt"] = [2]
        package.files["assets/a-b/other.txt"] = []
        package.files["assets/日本語/画面.js"] = Noise.bytes(300_000)
        return package
    }

    @Test(.rules("SUM-16", "SUM-6")) func writesTheFilesAndNothingElse() throws {
        let target = try TemporaryDirectory()
        let package = Self.sample()
        try package.verify(sink: try DirectorySink(try target.open()))
        let expected =
            [("SHA256SUMS", package.sums)]
            + package.allFiles.map { (String(decoding: $0.path, as: UTF8.self), $0.data) }
        for (path, data) in expected { #expect(try target.read(path) == data) }
        let directories = ["assets", "assets/a", "assets/a-b", "assets/a/b", "assets/a/b/c", "assets/日本語"]
        #expect(Set(try target.contents()) == Set(expected.map(\.0) + directories))
    }

    @Test(.rules("SUM-16"), arguments: [0o000, 0o022, 0o077, 0o777] as [mode_t])
    func givesTheSameModesWhateverTheMask(_ mask: mode_t) throws {
        // The mask is the whole process's, so this thread first gets one of its own.
        typealias Unshare = @convention(c) (Int32) -> Int32
        let symbol = try #require(dlsym(nil, "unshare"))
        try #require(unsafeBitCast(symbol, to: Unshare.self)(0x200) == 0)
        let target = try TemporaryDirectory()
        let directory = try target.open()
        let before = umask(mask)
        defer { umask(before) }
        try Self.sample().verify(sink: try DirectorySink(directory))
        for name in try target.contents() {
            let isDirectory = try directory.status(of: name)?.kind == .directory
            #expect(try target.permissions(of: name) == (isDirectory ? 0o755 : 0o644), "\(name)")
        }
    }

    @Test(.rules("SUM-16", "TAR-16")) func appliesNothingOfTheArchive() throws {
        let target = try TemporaryDirectory()
        var package = Self.sample()
        package.editMembers = { members in
            for index in members.indices where members[index].kind == 0x30 {
                members[index].fields[100] = Array("0004777\0".utf8)
                members[index].fields[108] = Array("0001750\0".utf8)
                members[index].fields[136] = Array("00000000001\0".utf8)
            }
        }
        let before = time(nil)
        try package.verify(sink: try DirectorySink(try target.open()))
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(target.path)/bundle.js")
        #expect(try target.permissions(of: "bundle.js") == 0o644)
        #expect(try target.open().status(of: "bundle.js")?.owner == geteuid())
        let modified = try #require(attributes[.modificationDate] as? Date)
        #expect(modified.timeIntervalSince1970 >= Double(before) - 1)
    }

    @Test func replacesAndFollowsNothing() throws {
        let plants: [(TemporaryDirectory) throws -> Void] = [
            { try $0.write("app.json", [1]) },
            { $0.link("app.json", to: "/dev/null") },
            { $0.link("assets", to: "/") },
            { try $0.write("assets/x", [1]) },
        ]
        for plant in plants {
            let target = try TemporaryDirectory()
            try plant(target)
            let directory = try target.open()
            let trouble = #expect(throws: Trouble.self) { try Self.sample().verify(sink: try DirectorySink(directory)) }
            #expect(trouble?.code == .ioFailure)
        }
    }

    @Test(.attack("I10")) func saysThatTheDiskIsFull() throws {
        #expect(Directory.failed(ENOSPC, "cannot write x").code == .storeFull)
        #expect(Directory.failed(EDQUOT, "cannot write x").code == .storeFull)
    }

    @Test func leavesNoDescriptorOpen() throws {
        func count() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
        let target = try TemporaryDirectory()
        let directory = try target.open()
        // Other tests open files at the same time, so a leak shows only when there are many.
        let before = try count()
        let package = PackageBuilder().build()
        for index in 0..<200 {
            let inner = try directory.makeDirectory("\(index)", permissions: 0o755)
            try PackageBuilder.verify(package, sink: try DirectorySink(inner))
        }
        #expect(try count() < before + 200)
    }
}

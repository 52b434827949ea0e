import FoundationEssentials
import Glibc
import NshTrust
import TestSupport
import Testing

@Suite struct InstalledTreeTests {
    /// Installs a package, lets the body change the tree, and returns its flaw.
    private static func flaw(
        _ depth: InstalledTree.Depth, ignoring: Set<String> = [],
        _ change: (TemporaryDirectory) throws -> Void = { _ in }
    ) throws -> String? {
        let target = try TemporaryDirectory()
        var package = PackageBuilder()
        package.files["assets/a/b.txt"] = [1]
        package.files["assets/a-b.txt"] = [2]
        package.files["assets/big.bin"] = Noise.bytes(300_000)
        try package.verify(sink: try DirectorySink(try target.open()))
        try change(target)
        let manifest = SHA256.hash(package.sums)
        return try InstalledTree.flaw(in: try target.open(), manifest: manifest, depth: depth, ignoring: ignoring)
    }

    @Test(.rules("SUM-2", "SUM-7")) func findsAWholeTreeWhole() throws {
        #expect(try Self.flaw(.list) == nil)
        #expect(try Self.flaw(.files) == nil)
    }

    @Test(.rules("SUM-2")) func findsAnotherList() throws {
        for depth in [InstalledTree.Depth.list, .files] {
            #expect(try Self.flaw(depth) { try $0.write("SHA256SUMS", [1]) } != nil)
            #expect(try Self.flaw(depth) { $0.remove("SHA256SUMS") } != nil)
            let linked = try Self.flaw(depth) {
                try $0.write("other", try $0.read("SHA256SUMS"))
                $0.remove("SHA256SUMS")
                $0.link("SHA256SUMS", to: "other")
            }
            #expect(linked != nil)
        }
    }

    @Test(.rules("SUM-6", "SUM-7")) func findsWhatWasChangedAddedOrTaken() throws {
        let changes: [(String, (TemporaryDirectory) throws -> Void)] = [
            ("has digest", { try $0.write("assets/a/b.txt", [9]) }),
            ("has digest", { try $0.write("assets/big.bin", Noise.bytes(300_001)) }),
            ("is missing", { $0.remove("bundle.js") }),
            (
                "has “assets/a/b.txt”",
                {
                    $0.remove("assets/a/b.txt")
                    $0.remove("assets/a")
                }
            ),
            ("is empty", { $0.remove("assets/a/b.txt") }),
            ("has “app.json”", { try $0.write("a", [1]) }),
            ("is not listed", { try $0.write("z", [1]) }),
            ("is not listed", { try $0.write("z/z", [1]) }),
            ("is empty", { mkdir("\($0.path)/z", 0o755) }),
            ("is not a plain file", { $0.link("z", to: "app.json") }),
            ("is not a plain file", { mkfifo("\($0.path)/z", 0o644) }),
            ("is not listed", { try $0.write("\u{7F}") }),
        ]
        for (expected, change) in changes {
            let flaw = try Self.flaw(.files, change)
            #expect(flaw?.contains(expected) == true, "\(flaw ?? "none"), expected \(expected)")
        }
    }

    @Test(.rules("SUM-6", "SUM-7")) func findsANameThatIsNotUTF8() throws {
        let flaw = try Self.flaw(.files) { target in
            let path = Array(target.path.utf8CString.dropLast()) + [0x2F, -1, 0]
            let file = path.withUnsafeBufferPointer { open($0.baseAddress!, O_CREAT | O_WRONLY, 0o644) }  // not empty
            precondition(file >= 0 && close(file) == 0)
        }
        #expect(flaw?.contains("is not listed") == true)
    }

    @Test(.rules("SUM-2")) func findsAnotherListOfTheRightForm() throws {
        let other = PackageBuilder().sums
        #expect(try Self.flaw(.list) { try $0.write("SHA256SUMS", other) }?.contains("signed with") == true)
    }

    @Test(.rules("SUM-2", "PTH-1")) func findsAListThatNoPackageMayHave() throws {
        for path in ["../x", "a//b"] {
            let target = try TemporaryDirectory()
            let sums = FileList.serialized([(Array(path.utf8), SHA256.hash([1]))])
            try target.write("SHA256SUMS", sums)
            let flaw = try InstalledTree.flaw(in: try target.open(), manifest: SHA256.hash(sums), depth: .list)
            #expect(flaw?.contains("lists the path") == true, "\(flaw ?? "none")")
        }
    }

    @Test(.rules("SUM-2", "LIM-8")) func readsNoListThatIsTooLong() throws {
        let flaw = try Self.flaw(.list) { #expect(truncate("\($0.path)/SHA256SUMS", 1 << 42) == 0) }
        #expect(flaw?.contains("SHA256SUMS has") == true)
    }

    @Test(.rules("SUM-6", "SUM-7", "LIM-21")) func findsADirectoryBelowEveryPackage() throws {
        let flaw = try Self.flaw(.files) { target in
            let name = String(repeating: "z", count: 250)
            try target.write(Array(repeating: name, count: 5).joined(separator: "/") + "/x", [1])
        }
        #expect(flaw?.contains("is deeper than any package") == true)
    }

    @Test(.rules("SUM-7")) func whatCannotBeLookedAtIsNoFlaw() throws {
        let target = try TemporaryDirectory()
        let package = PackageBuilder()
        try package.verify(sink: try DirectorySink(try target.open()))
        chmod(target.path, 0o755)
        chmod("\(target.path)/assets", 0)
        defer { chmod("\(target.path)/assets", 0o755) }
        let manifest = SHA256.hash(package.sums)
        func look() throws -> String? {
            try InstalledTree.flaw(in: try target.open(), manifest: manifest, depth: .files)
        }
        let error = #expect(throws: Trouble.self) {
            // Root may look at everything.
            if FileSystemRights.canBeAssumed {
                _ = try FileSystemRights(uid: 12345, gid: 12345, groups: []).perform(look)
            } else {
                _ = try look()
            }
        }
        #expect(error?.code == .ioFailure)
    }

    @Test func passesOverNamesOfTheStore() throws {
        #expect(try Self.flaw(.files, ignoring: [".lease"]) { try $0.write(".lease") } == nil)
        #expect(try Self.flaw(.files, ignoring: [".lease"]) { try $0.write("assets/.lease") } != nil)
    }

    @Test(.rules("SUM-2")) func looksOnlyAtTheListWhenAsked() throws {
        #expect(try Self.flaw(.list) { try $0.write("assets/a/b.txt", [9]) } == nil)
    }
}

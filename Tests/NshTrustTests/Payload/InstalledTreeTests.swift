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
        return try InstalledTree.flaw(
            in: try target.open(), manifest: SHA256.hash(package.sums), depth: depth, ignoring: ignoring)
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

    @Test func findsANameThatIsNotUTF8() throws {
        let flaw = try Self.flaw(.files) { target in
            let path = Array(target.path.utf8CString.dropLast()) + [0x2F, -1, 0]
            let file = path.withUnsafeBufferPointer { open($0.baseAddress!, O_CREAT | O_WRONLY, 0o644) }  // not empty
            precondition(file >= 0 && close(file) == 0)
        }
        #expect(flaw?.contains("is not listed") == true)
    }

    @Test func passesOverNamesOfTheStore() throws {
        #expect(try Self.flaw(.files, ignoring: [".lease"]) { try $0.write(".lease") } == nil)
        #expect(try Self.flaw(.files, ignoring: [".lease"]) { try $0.write("assets/.lease") } != nil)
    }

    @Test(.rules("SUM-2")) func looksOnlyAtTheListWhenAsked() throws {
        #expect(try Self.flaw(.list) { try $0.write("assets/a/b.txt", [9]) } == nil)
    }
}

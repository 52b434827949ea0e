import CArchive
import Glibc
import TestSupport
import Testing

@testable import NshPublishing
@testable import NshTrust

/// An entry of an archive that a test makes.
struct ArchiveEntry: Sendable {
    enum Kind: Sendable {
        case file(String), directory, link(String), hardLink(String), device
    }

    let path: String
    let kind: Kind

    static func file(_ path: String, _ text: String) -> ArchiveEntry { ArchiveEntry(path: path, kind: .file(text)) }
}

/// Formats in which tests make archives.
enum ArchiveForm: String, CaseIterable, Sendable {
    case tar, tarGz, tarBz2, tarXz, tarZst, zip

    /// Writes an archive.
    func write(_ entries: [ArchiveEntry], to path: String) {
        let archive = archive_write_new()
        defer { archive_write_free(archive) }
        let locale = newlocale(1 << LC_CTYPE, "C.UTF-8", nil)
        let before = uselocale(locale)
        defer {
            uselocale(before)
            freelocale(locale)
        }
        if self == .zip {
            archive_write_set_format_zip(archive)
        } else {
            archive_write_set_format_pax_restricted(archive)
        }
        switch self {
        case .tarGz: archive_write_add_filter_gzip(archive)
        case .tarBz2: archive_write_add_filter_bzip2(archive)
        case .tarXz: archive_write_add_filter_xz(archive)
        case .tarZst: archive_write_add_filter_zstd(archive)
        case .tar, .zip: break
        }
        precondition(archive_write_open_filename(archive, path) == ARCHIVE_OK)
        for item in entries {
            let entry = archive_entry_new()
            defer { archive_entry_free(entry) }
            archive_entry_set_pathname(entry, item.path)
            archive_entry_set_perm(entry, 0o755)
            var data: [UInt8] = []
            switch item.kind {
            case .file(let text):
                data = Array(text.utf8)
                archive_entry_set_filetype(entry, 0o100000)
            case .directory: archive_entry_set_filetype(entry, 0o040000)
            case .link(let target):
                archive_entry_set_filetype(entry, 0o120000)
                archive_entry_set_symlink(entry, target)
            case .hardLink(let target):
                archive_entry_set_filetype(entry, 0o100000)
                archive_entry_set_hardlink(entry, target)
            case .device: archive_entry_set_filetype(entry, 0o020000)
            }
            archive_entry_set_size(entry, Int64(data.count))
            precondition(archive_write_header(archive, entry) >= ARCHIVE_WARN)
            _ = archive_write_data(archive, data, data.count)
        }
        precondition(archive_write_close(archive) == ARCHIVE_OK)
    }
}

@Suite struct ArchiveTests {
    private let bench = PublishingBench()

    private static let app = PublishingBench.app.sorted { $0.key > $1.key }.map { ArchiveEntry.file($0.key, $0.value) }

    private static let large = String(repeating: "0123456789abcdef\n", count: 50_000)

    private func publish(_ entries: [ArchiveEntry], as form: ArchiveForm = .tar) throws {
        form.write(entries, to: bench.scratch.file("archive"))
        try bench.publish("archive", to: "archive.nshpkg")
    }

    @Test(.rules("PKG-17"), arguments: ArchiveForm.allCases)
    func anArchiveGivesTheSamePackageAsTheDirectory(form: ArchiveForm) throws {
        bench.scratch.write("app/assets/é", "x")
        var entries = Self.app + [.file("assets/é", "x")]
        entries.insert(ArchiveEntry(path: "assets/", kind: .directory), at: 0)
        bench.scratch.write("app/assets/large", Self.large)
        try bench.publish()
        entries.append(.file("./assets/large", Self.large))
        try publish(entries, as: form)
        #expect(bench.scratch.read("archive.nshpkg") == bench.scratch.read("out.nshpkg"))
        #expect(bench.scratch.names == ["app", "archive", "archive.nshpkg", "out.nshpkg"])
    }

    @Test(
        .rules("PTH-1"), arguments: ["../x", "/etc/x", "a/../../x", "a//b", "a/./b", "a\\b", "con"],
        [ArchiveForm.tar, .zip])
    func refusesHostileNames(path: String, form: ArchiveForm) throws {
        // libarchive reads a backslash in a zip as the separator that Windows programs meant.
        if path.contains("\\"), form == .zip { return }
        expectRefusal(.unsafePath) { try publish(Self.app + [.file(path, "x")], as: form) }
        #expect(bench.problems.count == 1)
        #expect(!bench.scratch.exists("x"))
    }

    @Test func refusesANameThatStandsTwice() {
        expectRefusal(.unsafePath) { try publish(Self.app + [.file("./bundle.js", "other")]) }
    }

    @Test(.rules("TAR-4")) func refusesLinksAndDevicesAndNamesAllOfThem() {
        expectRefusal(.unsafeMember) {
            try publish(
                Self.app + [
                    ArchiveEntry(path: "link", kind: .link("bundle.js")),
                    ArchiveEntry(path: "hard", kind: .hardLink("bundle.js")),
                    ArchiveEntry(path: "device", kind: .device),
                ])
        }
        #expect(bench.problems == ["unsafeMember device", "unsafeMember hard", "unsafeMember link"])
    }

    @Test func followsLinksThatStayInside() throws {
        bench.options.symbolicLinks = .followed
        try publish(
            [ArchiveEntry(path: "assets/early", kind: .link("../bundle.js"))] + Self.app + [
                ArchiveEntry(path: "hard", kind: .hardLink("bundle.js")),
                ArchiveEntry(path: "twice", kind: .link("assets/early")),
            ])
        for name in ["assets/early", "hard", "twice"] {
            bench.scratch.write("app/" + name, PublishingBench.app["bundle.js"]!)
        }
        try bench.publish()
        #expect(bench.scratch.read("archive.nshpkg") == bench.scratch.read("out.nshpkg"))
    }

    @Test func followsNoLinkOutOrInCircles() {
        bench.options.symbolicLinks = .followed
        expectRefusal(.unsafeMember) {
            try publish(
                Self.app + [
                    ArchiveEntry(path: "a", kind: .link("b")), ArchiveEntry(path: "b", kind: .link("a")),
                    ArchiveEntry(path: "out", kind: .link("../x")),
                    ArchiveEntry(path: "absolute", kind: .link("/etc/passwd")),
                    ArchiveEntry(path: "folder", kind: .link("assets")),
                ])
        }
        #expect(bench.problems.count == 5)
    }

    @Test func refusesWhatOtherProgramsLeaveBehindOnce() {
        expectRefusal(.unsafePath) {
            try publish(Self.app + [.file(".git/a", "x"), .file(".git/b", "x"), .file("assets/.DS_Store", "x")])
        }
        #expect(bench.problems == ["unsafePath .git", "unsafePath assets/.DS_Store"])
    }

    @Test(.rules("LIM-21")) func namesAPathThatIsTooLongByItsBeginning() {
        let long = Array(repeating: String(repeating: "d", count: 99), count: 60).joined(separator: "/")
        expectRefusal(.unsafePath) { try publish(Self.app + [.file(long, "x")]) }
        #expect(bench.problems.count == 1)
        #expect((bench.problems.first?.utf8.count ?? 0) < 1100)
    }

    @Test(.rules("LIM-3", "LIM-4")) func countsEntriesOfEveryKindAgainstTheLimits() {
        bench.options.limits.files = 6
        bench.options.limits.directories = 6
        bench.options.symbolicLinks = .followed
        let names = (0..<7).map { "n\($0)" }
        expectRefusal(.limitExceeded) { try publish(names.map { .file($0, "") }) }
        expectRefusal(.limitExceeded) { try publish(names.map { ArchiveEntry(path: $0, kind: .directory) }) }
        expectRefusal(.limitExceeded) { try publish(names.map { ArchiveEntry(path: $0, kind: .link("n")) }) }
        expectRefusal(.limitExceeded) { try publish(names.map { ArchiveEntry(path: $0, kind: .device) }) }
    }

    @Test func reportsEmptyDirectories() throws {
        try publish(Self.app + [ArchiveEntry(path: "empty/", kind: .directory)])
        #expect(bench.notes.contains { $0.hasPrefix("empty is empty") })
    }

    @Test(.rules("LIM-5")) func stopsUnpackingAtTheLimit() throws {
        bench.options.limits.unpackedBytes = 1000
        expectRefusal(.limitExceeded) {
            try publish(Self.app + [.file("zeros", String(repeating: "0", count: 1_000_000))], as: .tarGz)
        }
        #expect(bench.scratch.names == ["app", "archive"])
    }

    @Test(arguments: ["", "not an archive", "PK\u{3}\u{4}"]) func refusesWhatIsNoArchive(text: String) {
        bench.scratch.write("archive", text)
        #expect(throws: (any Error).self) { try bench.publish("archive", to: "archive.nshpkg") }
        #expect(bench.scratch.names == ["app", "archive"])
    }

    @Test(arguments: [ArchiveForm.tar, .tarGz, .zip]) func refusesAnArchiveThatIsCut(form: ArchiveForm) {
        form.write(Self.app + [.file("x", String(repeating: "abcdefgh", count: 1000))], to: bench.scratch.file("whole"))
        let whole = bench.scratch.read("whole")
        bench.scratch.write("archive", whole.prefix(whole.count / 2))
        #expect(throws: (any Error).self) { try bench.publish("archive", to: "archive.nshpkg") }
        #expect(!bench.scratch.exists("archive.nshpkg"))
    }
}

import Glibc
import TestSupport
import Testing

@testable import NshPublishing
@testable import NshTrust

/// A directory with a small app, and what it takes to publish it.
final class PublishingBench {
    static let time: Int64 = 1_764_470_000
    let scratch = Scratch()
    var options = PackageOptions()
    let remarks = Locked<[PackagingRemark]>([])

    init(files: [String: String] = PublishingBench.app) {
        for (name, text) in files { scratch.write("app/" + name, text) }
        options.compression = .none
    }

    static let app = [
        "app.json": #"{"id":"com.example.orders","name":"Orders","version":"1.4.0","build":42,"ratio":1.50}"#,
        "bundle.js": "console.log('hello')\n",
        "assets/texts/en.json": #"{"title":"Orders"}"#,
        "assets/images/logo.svg": "<svg/>",
    ]

    static func certificate(
        apps: [String] = ["com.example.*"], content: [String]? = nil, key: UInt8 = 2, notAfter: Int64 = 1_795_996_800
    ) throws -> SignedDocument {
        let request = CertificateRequest(
            key: try TestKeys.key(key).publicKeyText, publisher: "Example Ltd", apps: apps, notBefore: 1_764_460_800,
            notAfter: notAfter, content: content)
        return try request.draft(serial: [UInt8](repeating: 7, count: 16)).signed(by: TestKeys.key(1))
    }

    @discardableResult
    func publish(
        _ source: String = "app", to output: String = "out.nshpkg", certificate: SignedDocument? = nil, key: UInt8 = 2,
        time: Int64 = PublishingBench.time
    ) throws -> PublishedPackage {
        var observer = PackagingObserver()
        let remarks = remarks
        observer.remark = { remark in remarks.withLock { $0.append(remark) } }
        let publisher = PackagePublisher(certificate: try certificate ?? Self.certificate(), options: options)
        return try publisher.publish(
            scratch.file(source), to: scratch.file(output), signedBy: TestKeys.key(key), at: time, observer: observer)
    }

    var problems: [String] {
        remarks.withLock { $0 }.compactMap {
            if case .problem(let path, let code, _) = $0 { "\(code) \(path)" } else { nil }
        }
    }

    var notes: [String] { remarks.withLock { $0 }.compactMap { if case .note(let text) = $0 { text } else { nil } } }
}

@Suite struct PackagePublisherTests {
    private let bench = PublishingBench()

    private func contents(_ name: String = "out.nshpkg") throws -> (header: PackageHeader, files: [String: [UInt8]]) {
        let file = try PackageFile(reading: bench.scratch.file(name))
        let header = try PackageHeader(
            parsing: file.header.envelope.signedBytes, in: file.header.envelope.payloadRange)
        let bytes = bench.scratch.read(name)
        var at = bytes.count - Int(header.payload.size)
        var files: [String: [UInt8]] = [:]
        var gate = TarGate()
        while true {
            let announcement = try bytes[at..<(at + 512)].withUnsafeBytes { try gate.announce($0) }
            at += 512
            switch announcement {
            case .zeros: return (header, files)
            case .pax(let count):
                try bytes[at..<(at + count)].withUnsafeBytes { try gate.takePax($0) }
                at += (count + 511) / 512 * 512
            case .file(let size):
                files[String(decoding: gate.path, as: UTF8.self)] = Array(bytes[at..<(at + Int(size))])
                at += (Int(size) + 511) / 512 * 512
            }
        }
    }

    @Test(.rules("PKG-6", "PKG-7", "PKG-11", "SUM-1", "SUM-4", "SUM-9", "SUM-16"))
    func packsADirectoryAndSaysWhatItHolds() throws {
        let made = try bench.publish()
        let (header, files) = try contents()
        #expect(Set(files.keys) == Set(PublishingBench.app.keys).union(["SHA256SUMS"]))
        for (name, text) in PublishingBench.app { #expect(files[name] == Array(text.utf8)) }
        #expect(header.app.id.text == "com.example.orders")
        #expect(header.app.build == 42)
        #expect(header.signedAt == PublishingBench.time)
        #expect(header.payload.files == 4)
        #expect(header.capabilities == nil)
        #expect(made.files == 4)
        #expect(made.unpackedSize == header.payload.unpackedSize)
        #expect(made.packageSize == Int64(bench.scratch.read("out.nshpkg").count))
        #expect(made.certificate == .notChecked)
        #expect(made.digest == SHA256.hash(header.serialized).hex)
        #expect(bench.scratch.mode("out.nshpkg") & 0o600 == 0o600)
    }

    @Test(.rules("PKG-17"), arguments: [PackageOptions.Compression.none, .zstd(level: 9), .zstd(level: 3)])
    func sameInputGivesTheSameBytes(compression: PackageOptions.Compression) throws {
        bench.options.compression = compression
        bench.scratch.write("app/assets/large", (0..<1_500_000).map { UInt8(truncatingIfNeeded: $0 * 7919 >> 7) })
        try bench.publish(to: "a.nshpkg")
        // Another directory, made in another order, with other times and modes.
        let other = PublishingBench(files: [:])
        other.options.compression = compression
        other.scratch.write("app/assets/large", bench.scratch.read("app/assets/large"), mode: 0o600)
        for (name, text) in PublishingBench.app.sorted(by: { $0.key > $1.key }) {
            other.scratch.write("app/" + name, text)
        }
        var old = [timeval(tv_sec: 1, tv_usec: 0), timeval(tv_sec: 1, tv_usec: 0)]
        utimes(other.scratch.file("app/bundle.js"), &old)
        try other.publish(to: "b.nshpkg")
        #expect(bench.scratch.read("a.nshpkg") == other.scratch.read("b.nshpkg"))
    }

    @Test(.rules("PKG-17")) func leavesTheDirectoryAsItWasAndNothingBesideThePackage() throws {
        bench.options.id = "com.example.other"
        try bench.publish()
        #expect(bench.scratch.read("app/app.json") == Array(PublishingBench.app["app.json"]!.utf8))
        #expect(bench.scratch.names == ["app", "out.nshpkg"])
    }

    // MARK: - app.json and capabilities.json

    @Test(.rules("SUM-9")) func optionsReplaceMembersOfAppJSONAndKeepTheOthers() throws {
        bench.options.build = 43
        bench.options.version = "1.5.0"
        try bench.publish()
        let (header, files) = try contents()
        #expect(header.app.build == 43)
        #expect(
            String(decoding: files["app.json"]!, as: UTF8.self)
                == #"{"build":43,"id":"com.example.orders","name":"Orders","ratio":1.50,"version":"1.5.0"}"# + "\n")
    }

    @Test(.rules("SUM-9")) func optionsThatChangeNothingLeaveTheBytesAlone() throws {
        bench.options.build = 42
        try bench.publish()
        #expect(try contents().files["app.json"] == Array(PublishingBench.app["app.json"]!.utf8))
    }

    @Test(.rules("SUM-9")) func makesAppJSONOfTheFourOptions() throws {
        unlink(bench.scratch.file("app/app.json"))
        expectTrouble(.badRequest) { try bench.publish() }
        bench.options.id = "com.example.new"
        bench.options.name = "New"
        bench.options.version = "1"
        expectTrouble(.badRequest) { try bench.publish() }
        bench.options.build = 1
        try bench.publish()
        #expect(
            try contents().files["app.json"]
                == Array(#"{"build":1,"id":"com.example.new","name":"New","version":"1"}"#.utf8) + [0x0A])
    }

    @Test(
        .rules("SUM-9", "JSN-1", "JSN-3"),
        arguments: [
            "", "[]", "{", #"{"id":"com.example.orders","name":"Orders","version":"1"}"#,
            #"{"id":"a.b","id":"a.b","name":"n","version":"1","build":1}"#, "\u{FEFF}{}",
        ])
    func refusesAnAppJSONThatReadersRefuse(text: String) throws {
        bench.scratch.write("app/app.json", text)
        expectRefusal(.manifestMismatch) { try bench.publish() }
    }

    @Test(
        .rules("PKG-7", "APP-1", "TXT-1"),
        arguments: [
            #"{"id":"orders","name":"n","version":"1","build":1}"#,
            #"{"id":"a.b","name":"","version":"1","build":1}"#,
            #"{"id":"a.b","name":"n","version":1,"build":1}"#,
            #"{"id":"a.b","name":"n","version":"1","build":-1}"#,
            #"{"id":"a.b","name":"n","version":"1","build":1.0}"#,
            #"{"id":"a.b","name":"n","version":"1","build":"1"}"#,
        ])
    func refusesAnAppThatNoHeaderCanDescribe(text: String) throws {
        bench.scratch.write("app/app.json", text)
        expectRefusal(.malformed) { try bench.publish() }
    }

    @Test(.rules("LIM-9")) func takesAnAppJSONOfOneMebibyteAndNoMore() throws {
        let base = #"{"id":"com.example.a","name":"n","version":"1","build":1,"x":""#
        let fill = (1 << 20) - base.utf8.count - 2
        bench.scratch.write("app/app.json", base + String(repeating: "a", count: fill) + "\"}")
        try bench.publish()
        bench.scratch.write("app/app.json", base + String(repeating: "a", count: fill + 1) + "\"}")
        expectRefusal(.limitExceeded) { try bench.publish() }
    }

    @Test(.rules("SUM-10", "PKG-8")) func putsCapabilitiesIntoTheHeader() throws {
        let text = #"{ "network": {"hosts": ["api.example.com"]}, "limit": -3, "none": null }"#
        bench.scratch.write("app/capabilities.json", text)
        try bench.publish()
        let (header, files) = try contents()
        #expect(header.capabilities?["limit"] == .integer(-3))
        #expect(files["capabilities.json"] == Array(text.utf8))
    }

    @Test(.rules("SUM-10"), arguments: ["[]", #"{"a":1.5}"#, #"{"a":1,"a":1}"#, ""])
    func refusesCapabilitiesThatReadersRefuse(text: String) {
        bench.scratch.write("app/capabilities.json", text)
        expectRefusal(.manifestMismatch) { try bench.publish() }
    }

    @Test(.rules("LIM-13")) func refusesCapabilitiesThatNestTooDeepForAHeader() {
        bench.scratch.write(
            "app/capabilities.json", String(repeating: #"{"a":"#, count: 16) + "1" + String(repeating: "}", count: 16))
        expectRefusal(.malformed) { try bench.publish() }
    }

    @Test(.rules("PKG-9", "JSN-12")) func saysRuntimeAndAnnotations() throws {
        bench.options.minimumRuntime = "0.5.0"
        bench.options.annotations = ["commit": "abc", "branch": "main"]
        try bench.publish()
        let header = try contents().header
        #expect(header.minimumRuntime?.text == "0.5.0")
        #expect(header.annotations.entries.map(\.name) == ["branch", "commit"])
        bench.options.minimumRuntime = "01"
        expectRefusal(.malformed) { try bench.publish() }
    }

    // MARK: - What the certificate does not cover

    @Test(.rules("POL-6")) func refusesAnAppThatTheCertificateDoesNotCover() throws {
        expectRefusal(.appNotCertified) {
            try bench.publish(certificate: PublishingBench.certificate(apps: ["org.other.*"]))
        }
        #expect(!bench.scratch.exists("out.nshpkg"))
    }

    @Test(.rules("POL-7"), arguments: [1_764_460_799, 1_795_996_801] as [Int64])
    func refusesATimeOutsideTheWindow(time: Int64) {
        expectRefusal(.signedOutsideWindow) { try bench.publish(time: time) }
    }

    @Test(.rules("POL-7"), arguments: [1_764_460_800, 1_795_996_800] as [Int64])
    func bothEndsOfTheWindowBelongToIt(time: Int64) throws {
        try bench.publish(time: time)
    }

    @Test(.rules("SUM-12")) func refusesContentThatIsNotCertified() throws {
        expectRefusal(.contentNotCertified) {
            try bench.publish(certificate: PublishingBench.certificate(content: ["bytecode"]))
        }
        bench.scratch.write("app/bundle.nshc", "x")
        expectRefusal(.contentNotCertified) {
            try bench.publish(certificate: PublishingBench.certificate(content: ["source"]))
        }
        try bench.publish(certificate: PublishingBench.certificate(content: ["source", "bytecode"]))
    }

    @Test(.rules("POL-4")) func refusesAKeyThatTheCertificateDoesNotName() {
        expectRefusal(.badSignature) { try bench.publish(key: 3) }
    }

    @Test func refusesACertificateWithoutASignature() throws {
        let request = CertificateRequest(
            key: try TestKeys.key(2).publicKeyText, publisher: "E", apps: ["*"], notBefore: 0, notAfter: 1 << 40)
        expectRefusal(.malformed) { try bench.publish(certificate: request.draft()) }
    }

    @Test(.rules("POL-2")) func checksTheRootsThatAreGiven() throws {
        bench.options.trust.roots = [try TestKeys.key(1).publicKeyText]
        #expect(try bench.publish().certificate == .signedByRoots(bench.options.trust.roots))
        bench.options.trust.threshold = 2
        expectRefusal(.untrustedRoot) { try bench.publish() }
        bench.options.trust = CertificateTrust(roots: [try TestKeys.key(9).publicKeyText])
        expectRefusal(.untrustedRoot) { try bench.publish() }
    }

    @Test func saysWhenTheCertificateHasEnded() throws {
        try bench.publish(certificate: PublishingBench.certificate(notAfter: PublishingBench.time))
        #expect(bench.notes.contains { $0.contains("the certificate ended 2025-11-30T02:33:20Z") })
    }

    // MARK: - Files

    @Test(.rules("PTH-3", "PTH-4", "PTH-5", "PTH-7")) func namesEveryFileThatNoReaderTakes() throws {
        for name in ["con", "a:b", "dot.", "space ", "assets/a\nb", "assets/\\x"] {
            bench.scratch.write("app/" + name, "x")
        }
        expectRefusal(.unsafePath) { try bench.publish() }
        #expect(
            bench.problems == [
                "unsafePath a:b", "unsafePath assets/\\\\x", "unsafePath assets/a\\u{A}b", "unsafePath con",
                "unsafePath dot.", "unsafePath space ",
            ])
    }

    @Test(.rules("PTH-1")) func namesFilesThatAreNotUTF8() throws {
        let name = bench.scratch.file("app/") + "x"
        var bytes = name.utf8.map { CChar(bitPattern: $0) }
        bytes[bytes.count - 1] = CChar(bitPattern: 0xFF)
        close(open(bytes + [0], O_CREAT | O_WRONLY, 0o644))
        expectRefusal(.unsafePath) { try bench.publish() }
        #expect(bench.problems.count == 1)
    }

    @Test(.rules("PTH-9")) func refusesNamesThatDifferOnlyInCase() {
        bench.scratch.write("app/assets/Readme", "x")
        bench.scratch.write("app/assets/README", "y")
        expectRefusal(.unsafePath) { try bench.publish() }
    }

    @Test(.rules("PTH-9")) func refusesAListOfItsOwnNameInTheDirectory() {
        bench.scratch.write("app/SHA256SUMS", "x")
        expectRefusal(.unsafePath) { try bench.publish() }
    }

    @Test(.rules("SUM-11")) func refusesAnAppWithoutABundle() {
        unlink(bench.scratch.file("app/bundle.js"))
        expectRefusal(.manifestMismatch) { try bench.publish() }
    }

    @Test func refusesWhatOtherProgramsLeaveBehindAndNamesAllOfIt() {
        for name in [".DS_Store", "assets/Thumbs.db", "assets/x~", ".git/config", "._a"] {
            bench.scratch.write("app/" + name, "x")
        }
        expectRefusal(.unsafePath) { try bench.publish() }
        #expect(
            bench.problems == [
                "unsafePath .DS_Store", "unsafePath ._a", "unsafePath .git", "unsafePath assets/Thumbs.db",
                "unsafePath assets/x~",
            ])
    }

    @Test func includesStraysOnRequestButNoNamesThatReadersRefuse() throws {
        for name in [".DS_Store", ".git/config", "x~"] { bench.scratch.write("app/" + name, "x") }
        bench.options.strayFiles = .included
        try bench.publish()
        #expect(try contents().files.keys.contains(".git/config"))
        bench.scratch.write("app/._a", "x")
        expectRefusal(.unsafePath) { try bench.publish() }
        #expect(bench.problems == ["unsafePath ._a"])
    }

    @Test(.rules("TAR-4")) func refusesLinksAndSpecialFilesAndNamesAllOfThem() {
        symlink("bundle.js", bench.scratch.file("app/link"))
        symlink("nowhere", bench.scratch.file("app/dangling"))
        mkfifo(bench.scratch.file("app/pipe"), 0o600)
        expectRefusal(.unsafeMember) { try bench.publish() }
        #expect(bench.problems == ["unsafeMember dangling", "unsafeMember link", "unsafeMember pipe"])
        #expect(!bench.scratch.exists("out.nshpkg"))
    }

    @Test func followsLinksThatStayInside() throws {
        bench.options.symbolicLinks = .followed
        symlink("../bundle.js", bench.scratch.file("app/assets/copy.js"))
        symlink(bench.scratch.file("app/assets/texts"), bench.scratch.file("app/words"))
        symlink("copy.js", bench.scratch.file("app/assets/again.js"))
        try bench.publish()
        let files = try contents().files
        let bundle = Array(PublishingBench.app["bundle.js"]!.utf8)
        #expect(files["assets/copy.js"] == bundle)
        #expect(files["assets/again.js"] == bundle)
        #expect(files["words/en.json"] == Array(PublishingBench.app["assets/texts/en.json"]!.utf8))
    }

    @Test func followsNoLinkOutOrInCircles() {
        bench.options.symbolicLinks = .followed
        bench.scratch.write("secret", "s")
        symlink("../../secret", bench.scratch.file("app/assets/out"))
        symlink("/etc/passwd", bench.scratch.file("app/passwd"))
        symlink("..", bench.scratch.file("app/assets/up"))
        symlink(".", bench.scratch.file("app/self"))
        symlink("nowhere", bench.scratch.file("app/dangling"))
        symlink("../app-other", bench.scratch.file("app/sibling"))
        bench.scratch.write("app-other/x", "x")
        expectRefusal(.unsafeMember) { try bench.publish() }
        #expect(
            bench.problems.map { $0.split(separator: " ").last.map(String.init) } == [
                "assets/out", "assets/up", "dangling", "passwd", "self", "sibling",
            ])
    }

    @Test func reportsEmptyDirectoriesAndPacksTheRest() throws {
        bench.scratch.write("app/empty/inner/x", "x")
        unlink(bench.scratch.file("app/empty/inner/x"))
        try bench.publish()
        #expect(bench.notes.contains { $0.hasPrefix("empty/inner is empty") })
    }

    @Test(.rules("LIM-3")) func countsFilesAgainstTheLimit() throws {
        bench.options.limits.files = 4
        try bench.publish()
        bench.options.limits.files = 3
        expectRefusal(.limitExceeded) { try bench.publish() }
    }

    @Test(.rules("LIM-4", "LIM-5")) func countsDirectoriesAndBytesAgainstTheLimits() throws {
        let size = try bench.publish().unpackedSize
        bench.options.limits.directories = 3
        bench.options.limits.unpackedBytes = size
        try bench.publish()
        bench.options.limits.unpackedBytes = size - 1
        expectRefusal(.limitExceeded) { try bench.publish() }
        bench.options.limits.unpackedBytes = size
        bench.options.limits.directories = 2
        expectRefusal(.limitExceeded) { try bench.publish() }
    }

    /// Publishes while the observer changes a file: that is refused, and nothing is left.
    private func expectRefusalOfAChange(_ changed: Locked<Bool>, _ observer: PackagingObserver) throws {
        let publisher = PackagePublisher(certificate: try PublishingBench.certificate(), options: bench.options)
        expectTrouble(.ioFailure) {
            _ = try publisher.publish(
                bench.scratch.file("app"), to: bench.scratch.file("out.nshpkg"), signedBy: TestKeys.key(2),
                at: PublishingBench.time, observer: observer)
        }
        #expect(changed.withLock { $0 })
        #expect(bench.scratch.names == ["app"])
    }

    @Test func refusesAFileThatIsWrittenToAfterItWasFound() throws {
        let path = bench.scratch.file("app/bundle.js")
        var observer = PackagingObserver()
        let changed = Locked(false)
        observer.progress = { _, _ in
            // Another file was read; this one has its turn later, with as many bytes as before.
            guard
                !changed.withLock({ was in
                    defer { was = true }; return was
                })
            else { return }
            var (before, after) = (stat(), stat())
            stat(path, &before)
            // Some file systems count time in coarse steps.
            repeat {
                let descriptor = open(path, O_WRONLY)
                _ = write(descriptor, "X", 1)
                close(descriptor)
                stat(path, &after)
            } while after.st_ctim.tv_sec == before.st_ctim.tv_sec && after.st_ctim.tv_nsec == before.st_ctim.tv_nsec
        }
        try expectRefusalOfAChange(changed, observer)
    }

    @Test func refusesAFileThatChangesBetweenItsTwoReadings() throws {
        bench.options.compression = .zstd(level: 3)
        let path = bench.scratch.file("app/bundle.js")
        var observer = PackagingObserver()
        let changed = Locked(false)
        observer.progress = { done, _ in
            // The first reading of all four files is over: the second must notice.
            guard done >= 120,
                !changed.withLock({ was in
                    defer { was = true }; return was
                })
            else { return }
            let descriptor = open(path, O_WRONLY)
            _ = write(descriptor, "X", 1)
            close(descriptor)
        }
        try expectRefusalOfAChange(changed, observer)
    }

    @Test func cancellationLeavesNothing() throws {
        var observer = PackagingObserver()
        let calls = Locked(0)
        observer.isCancelled = {
            calls.withLock {
                $0 += 1; return $0 > 6
            }
        }
        let publisher = PackagePublisher(certificate: try PublishingBench.certificate(), options: bench.options)
        expectTrouble(.cancelled) {
            _ = try publisher.publish(
                bench.scratch.file("app"), to: bench.scratch.file("out.nshpkg"), signedBy: TestKeys.key(2),
                at: PublishingBench.time, observer: observer)
        }
        #expect(bench.scratch.names == ["app"])
    }

    // MARK: - Places

    @Test func writesNothingIntoTheDirectory() {
        expectTrouble(.badRequest) { try bench.publish(to: "app/out.nshpkg") }
        expectTrouble(.badRequest) { try bench.publish(to: "app/assets/out.nshpkg") }
    }

    @Test func replacesAFileButNothingElse() throws {
        bench.scratch.write("out.nshpkg", "old")
        try bench.publish()
        #expect(bench.scratch.read("out.nshpkg").starts(with: ContainerPrefix.magic))
        mkdir(bench.scratch.file("folder"), 0o755)
        expectTrouble(.notARegularFile) { try bench.publish(to: "folder") }
        mkfifo(bench.scratch.file("pipe"), 0o600)
        expectTrouble(.notARegularFile) { try bench.publish(to: "pipe") }
        expectTrouble(.noSuchFile) { try bench.publish(to: "nowhere/out.nshpkg") }
        expectTrouble(.noSuchFile) { try bench.publish("nowhere") }
    }

    @Test func aRefusalLeavesTheOldPackage() {
        bench.scratch.write("out.nshpkg", "old")
        expectRefusal(.appNotCertified) {
            try bench.publish(certificate: PublishingBench.certificate(apps: ["org.other.*"]))
        }
        #expect(bench.scratch.read("out.nshpkg") == Array("old".utf8))
    }
}

import FoundationEssentials
import Glibc
import NshTrust
import TestSupport
import Testing

/// Validly signed archives that write elsewhere, write twice, hide members or hold other things than files.
///
/// Every package here is signed by the certified key and its digests fit: the signature is no excuse.
@Suite struct ArchiveAttacks {
    private let host: AttackHost

    init() throws { host = try AttackHost() }

    /// A package whose logo was replaced by other members.
    private static func package(instead members: [TarMember]) -> PackageBuilder {
        var package = PackageBuilder()
        package.editMembers = { $0.replaceSubrange(2...2, with: members) }
        return package
    }

    /// A member of a kind that leads somewhere.
    private static func link(_ name: String, to target: String, kind: Character = "2", fill: [UInt8] = []) -> TarMember
    {
        var member = TarMember(name, fill, kind: kind)
        member.fields[157] = Array(target.utf8.prefix(100))
        return member
    }

    @Test(
        .attack("H2", "H6", "H14", "H15", "H20", "H21"), .rules("TAR-4", "TAR-5", "POL-13"),
        arguments: [
            "/etc/shadow", "../..", "..", "a/..", "../outside", "assets/../../outside", ".", "app.json", "/", "//",
            "/proc/self/root/etc/passwd", "state/trust.sqlite", "SHA256SUMS", "",
        ])
    func noMemberIsALink(_ target: String) throws {
        for kind in ["1", "2"] as [Character] {
            try host.mustRefuse(
                Self.package(instead: [Self.link("assets/logo.svg", to: target, kind: kind)]), .unsafeMember)
        }
        guard !target.isEmpty else { return }
        // As a regular file with a link name, which some readers follow.
        let disguised = Self.link("assets/logo.svg", to: target, kind: "0", fill: Array("<svg/>\n".utf8))
        try host.mustRefuse(Self.package(instead: [disguised]), .unsafeMember)
    }

    @Test(
        .attack("H2", "H4", "H20", "H23"), .rules("TAR-4", "POL-13"),
        arguments: [
            "link then file through it", "two links in a chain", "link then directory", "link then slash", "link last",
        ])
    func nothingIsWrittenThroughALink(_ order: String) throws {
        let outside = host.directory.path + "/outside"
        try host.directory.write("outside/keep", [1])
        chmod(outside, 0o750)
        let link = Self.link("assets", to: outside)
        let file = TarMember("assets/logo.svg", Array("<svg/>\n".utf8))
        var directory = TarMember("assets/", kind: "5")
        directory.fields[100] = Array("0000777\0".utf8)
        let members =
            switch order {
            case "link then file through it": [link, file]
            case "two links in a chain":
                [link, Self.link("assets/more", to: ".."), TarMember("assets/more/x", [1]), file]
            case "link then directory": [link, directory, file]
            case "link then slash": [link, TarMember("assets/", Array("<svg/>\n".utf8))]
            default: [file, link]
            }
        var package = Self.package(instead: members)
        package.editHeader = { $0.payload.unpackedSize += 1 }
        try host.mustRefuse(package, .unsafeMember)
        #expect(try host.directory.permissions(of: "outside") == 0o750)
        #expect(try FileManager.default.contentsOfDirectory(atPath: outside) == ["keep"])
    }

    @Test(
        .attack("H4", "I3", "H21"), .rules("TAR-4"),
        arguments: Array("34567ABCDEIKLMNSVXZgs\0") as [Character])
    func everyOtherKindOfMemberIsRefused(_ kind: Character) throws {
        let member = TarMember("assets/logo.svg", Array("<svg/>\n".utf8), kind: kind)
        try host.mustRefuse(Self.package(instead: [member]), .unsafeMember)
    }

    @Test(
        .attack("H16", "G13"), .rules("TAR-7", "TAR-12", "PTH-3"),
        arguments: [0x00, 0x0A, 0x0D, 0x1B, 0x7F, 0x85, 0xFF] as [UInt8])
    func aNameWithSuchAByteIsRefused(_ byte: UInt8) throws {
        let name = Array("assets/a".utf8) + [byte] + Array("b.svg".utf8)
        // In the name field, where a NUL ends it, and in a pax header, where it does not.
        try host.mustRefuse(
            Self.package(instead: [TarMember(name, Array("<svg/>\n".utf8))]), byte == 0 ? .payloadCorrupt : .unsafePath)
        let pax = [TarMember.pax(TarMember.record("path", name)), TarMember("x", Array("<svg/>\n".utf8))]
        try host.mustRefuse(Self.package(instead: pax), .unsafePath)
    }

    @Test(
        .attack("G6"), .rules("TAR-9", "TAR-10", "TAR-11", "SUM-8"),
        arguments: ["0", "7", "8", "512", "100000", "8589934592", "9223372036854775807", "-1", "07", "7 "])
    func aSecondSizeHidesNothing(_ size: String) throws {
        let hidden = TarMember("assets/hidden.js", [1]).encoded
        let pax = [
            TarMember.pax(TarMember.record("size", size)),
            TarMember("assets/logo.svg", Array("<svg/>\n".utf8) + hidden),
        ]
        let isForm = size == "8589934592"
        try host.mustRefuse(Self.package(instead: pax), isForm ? .manifestMismatch : .payloadCorrupt)
        var twice = TarMember.record("size", "8589934592")
        twice += TarMember.record("size", "8589934593")
        try host.mustRefuse(Self.package(instead: [TarMember.pax(twice), pax[1]]), .payloadCorrupt)
    }

    @Test(.attack("G6"), .rules("TAR-3", "SUM-8", "SUM-6"), arguments: [0, 6, 8, 520, 1 << 30])
    func aSizeThatIsNotTheDataIsFound(_ size: Int) throws {
        var member = TarMember("assets/logo.svg", Array("<svg/>\n".utf8))
        member.size = size
        let expected = NshError.Code.manifestMismatch
        try host.mustRefuse(Self.package(instead: [member]), expected)
    }

    @Test(
        .attack("G6", "I3"), .rules("TAR-8", "TAR-10"),
        arguments: [
            [("GNU.sparse.map", "0,1,2,1")], [("GNU.sparse.major", "1"), ("GNU.sparse.minor", "0")],
            [("GNU.sparse.realsize", "1099511627776")], [("linkpath", "/etc/passwd")], [("SCHILY.xattr.user.x", "1")],
            [("path", "a"), ("path", "b")], [("uid", "0")], [("hdrcharset", "BINARY")],
        ] as [[(String, String)]])
    func aPaxHeaderSaysPathAndSizeOnly(_ records: [(String, String)]) throws {
        let pax = TarMember.pax(records.flatMap { TarMember.record($0.0, $0.1) })
        let file = TarMember("assets/logo.svg", Array("<svg/>\n".utf8))
        try host.mustRefuse(Self.package(instead: [pax, file]), .payloadCorrupt)
        try host.mustRefuse(Self.package(instead: [TarMember.pax(), TarMember.pax(), file]), .payloadCorrupt)
    }

    @Test(.attack("I3"), .rules("LIM-11")) func aMapOfAMillionRegionsIsNotEvenRead() throws {
        let map = (0..<1_000).map { "\($0 * 2),1" }.joined(separator: ",")
        let pax = TarMember.pax(TarMember.record("GNU.sparse.map", map))
        try host.mustRefuse(
            Self.package(instead: [pax, TarMember("assets/logo.svg", Array("<svg/>\n".utf8))]), .payloadCorrupt)
        var gnu = TarMember("assets/logo.svg", kind: "S")
        gnu.fields[386] = TarMember.octal(1_000_000, digits: 11)
        gnu.fields[482] = [1]
        try host.mustRefuse(Self.package(instead: [gnu]), .unsafeMember)
    }

    @Test(
        .attack("H19"), .rules("SUM-4", "SUM-6", "PTH-9", "PTH-10"),
        arguments: [
            (["d", "d"], .manifestMismatch), (["g", "g/k"], .unsafePath), (["g/k", "g"], .manifestMismatch),
            (["SHA256SUMS"], .unsafePath), (["sha256sums"], .unsafePath), (["assets/LOGO.svg"], .unsafePath),
            (["Assets/x"], .unsafePath), (["straße", "strasse"], .manifestMismatch),
            (["strasse", "straße"], .unsafePath),
            (["app.json/x"], .unsafePath),
        ] as [([String], NshError.Code)])
    func onePathIsOneFile(_ paths: [String], _ code: NshError.Code) throws {
        var package = PackageBuilder()
        let data: [UInt8] = [0x78]
        let added = paths.map { (Array($0.utf8), data) }
        let all = package.allFiles.map { ($0.path, $0.data) } + added
        // In the order of the bytes where that is possible; pairs that fall are written as they come.
        let isRising = zip(added, added.dropFirst()).allSatisfy { $0.0.lexicographicallyPrecedes($1.0) }
        let sorted = all.sorted { $0.0.lexicographicallyPrecedes($1.0) }
        let files = isRising ? sorted : package.allFiles.map { ($0.path, $0.data) } + added
        package.editSums = { sums in
            sums = files.flatMap { Array("\(SHA256.hash($0.1).hex)  ".utf8) + $0.0 + [0x0A] }
        }
        package.editMembers = { members in
            members = [members[0]] + files.flatMap { TarMember.file($0.0, $0.1) }
        }
        package.editHeader = { $0.payload.unpackedSize += Int64(added.count) }
        try host.mustRefuse(package, code)
    }

    @Test(.attack("H19", "G6"), .rules("SUM-6")) func aMemberThatComesTwiceIsOneTooMany() throws {
        var package = PackageBuilder()
        package.editMembers = { $0.insert($0[2], at: 2) }
        try host.mustRefuse(package, .manifestMismatch)
        package.editMembers = { $0.append($0[0]) }
        try host.mustRefuse(package, .manifestMismatch)
    }

    @Test(
        .attack("H24"), .rules("STO-6", "POL-20"),
        arguments: ["state/apps", "state/staging", "state/apps/com.example.orders"])
    func aDirectoryThatWasPutInTheWayIsNotFollowed(_ name: String) throws {
        try host.directory.write("outside/keep", [1])
        if name.hasSuffix("orders") { try host.open(PackageBuilder(app: "com.example.invoices")) }
        host.directory.remove(ifPresent: name)
        host.directory.link(name, to: host.directory.path + "/outside")
        let before = try host.directory.open().status(of: name)?.kind
        let code = try host.code(PackageBuilder())
        #expect(code == .storeUnsafe)
        #expect(try FileManager.default.contentsOfDirectory(atPath: host.directory.path + "/outside") == ["keep"])
        #expect(try host.directory.open().status(of: name)?.kind == before)
        #expect(try host.build() == nil)
    }

    @Test(.attack("H24"), .rules("STO-4", "POL-20")) func aTreeThatWasPutInTheWayIsNotTakenForOurs() throws {
        let package = PackageBuilder()
        let chain = try PackageBuilder.chain(of: package.build())
        let tree = Trees.path(of: chain.header.app.id, build: chain.header.app.build, digest: chain.digest)
        try host.directory.write("state/\(tree)/bundle.js", Array("planted".utf8))
        for part in ["state/apps", "state/apps/com.example.orders", "state/\(tree)"] {
            chmod(host.directory.path + "/" + part, 0o700)
        }
        let opened = try host.open(package)
        #expect(try host.directory.read("state/\(tree)/bundle.js") == package.files["bundle.js"])
        #expect(opened.directory.path.hasSuffix(tree))
    }

    @Test(.attack("H22"), .rules("STO-13"), arguments: ["prune", "clean up"]) func nothingIsDeletedThroughALink(
        _ how: String
    ) throws {
        try host.directory.write("outside/deep/keep", [1])
        try host.open(PackageBuilder(build: 1))
        try host.open(PackageBuilder(build: 2))
        let tree = try host.core.store.read { try $0.installedPackages(after: nil, apps: 1000) }.first {
            $0.app.build == 1
        }?.tree
        let path = "state/" + (try #require(tree))
        if how == "prune" {
            try FileManager.default.removeItem(atPath: host.directory.path + "/" + path)
            host.directory.link(path, to: host.directory.path + "/outside")
        } else {
            try FileManager.default.removeItem(atPath: "\(host.directory.path)/\(path)/assets")
            host.directory.link(path + "/assets", to: host.directory.path + "/outside/deep")
            host.directory.link("state/staging/abandoned", to: host.directory.path + "/outside")
        }
        _ = AttackHost.code { try host.core.administration().prune(keeping: 1) }
        _ = try host.again()
        #expect(try host.directory.read("outside/deep/keep") == [1])
        #expect(try host.build() == 2)
    }
}

import FoundationEssentials
import NshTrust
import TestSupport
import Testing

/// Ids and patterns that match more than was meant, and names that are used as paths.
@Suite struct NameAttacks {
    private let host: AttackHost

    init() throws { host = try AttackHost() }

    @Test(
        .attack("D2", "D9"), .rules("APP-3", "APP-4", "APP-5", "POL-6"),
        arguments: [
            ("com.example.*", "com.example.a", true), ("com.example.*", "com.example.a.b", true),
            ("com.example.*", "com.example", false), ("com.example.*", "com.examplefoo", false),
            ("com.example.*", "com.examplefoo.a", false), ("com.example.*", "COM.EXAMPLE.a", false),
            ("com.example.*", "xcom.example.a", false), ("com.example.*", "evil.com.example.app", false),
            ("com.example.app", "com.example.app", true), ("com.example.app", "com.example.app.evil.net", false),
            ("com.example.app", "com.example.appx", false), ("com.example.app", "com.example.App", false),
            ("com.example.app", "evil.com.example.app", false), ("*", "org.elsewhere", true),
        ])
    func aPatternCoversWholeSegments(_ pattern: String, _ id: String, _ isCovered: Bool) throws {
        var package = PackageBuilder(app: id)
        package.certificate.apps = [try #require(AppPattern(pattern))]
        if isCovered {
            #expect(try host.open(package).info.id == id)
        } else {
            try host.mustRefuse(package, .appNotCertified)
        }
    }

    @Test(
        .attack("D2", "D5", "D6"), .rules("APP-1", "LIM-19"),
        arguments: [
            "com.example.", "com.example..a", "..", "../a.b", "a/b", "a.b/../../c", ".hidden", "-rf.a", "a.-b", "con",
            "a.b.", "com.example.é", "com.example.e\u{301}", "com.example.ß", "com.example.\u{131}", "com．example.a",
            "com.example.a\u{200D}", "com.example.\u{202E}a", "com.example.a\\u0000", "com.example. a", "~.a", "",
            "a." + String(repeating: "b", count: 64), "a" + String(repeating: ".bbb", count: 64),
        ])
    func anIdOutsideTheGrammarIsNoId(_ id: String) throws {
        var package = PackageBuilder()
        package.certificate.apps = [.any]
        package.editHeaderBytes = { $0.replace("\"com.example.orders\"", with: "\"\(id)\"") }
        try host.mustRefuse(package, .malformed)
        var list = ListBuilder()
        list.editBytes = { $0.replace("\"minimumBuilds\":{}", with: "\"minimumBuilds\":{\"\(id)\":1}") }
        try host.mustRefuse(list: list, .malformed)
    }

    @Test(.attack("D6"), .rules("APP-6", "APP-7"), arguments: ["con.con", "nul.a", "a.CON", "com1.x", "_.-a"])
    func anIdGetsADirectoryOfItsOwnBelowTheApps(_ id: String) throws {
        guard let app = AppID(id) else {
            var package = PackageBuilder()
            package.editHeaderBytes = { $0.replace("\"com.example.orders\"", with: "\"\(id)\"") }
            return try host.mustRefuse(package, .malformed)
        }
        #expect(!app.directoryName.contains("/") && !app.directoryName.hasPrefix("."))
        var package = PackageBuilder(app: id)
        package.certificate.apps = [.any]
        let directory = try host.open(package).directory.path
        #expect(directory.contains("/state/apps/\(app.directoryName)/"))
    }

    @Test(
        .attack("D3"), .rules("APP-2"),
        arguments: [
            "[!a]", "[!a].b", "{a,b}", "{a,b}.c", "**", "com.*.x", "com.**", "*.*", "*.com", "com.example*", "com.?.a",
            "!com.example.a", "com.example.*.*", "com..*", ".*", "", "com", "com.example.*,org.*", "com.éxample.*",
            "com.example.\\u002a ",
        ])
    func aPatternOfAnotherLanguageIsRefused(_ pattern: String) throws {
        var package = PackageBuilder()
        package.editCertificateBytes = { $0.replace("\"com.example.*\"", with: "\"\(pattern)\"") }
        try host.mustRefuse(package, .malformed)
        package.editCertificateBytes = { $0.replace("\"com.example.*\"", with: "\"com.example.*\",\"\(pattern)\"") }
        try host.mustRefuse(package, .malformed)
    }

    @Test(
        .attack("D4", "E10"), .rules("JSN-4", "CRT-1"),
        arguments: [
            "\"excludes\":[\"com.example.orders\"]", "\"maximumBuild\":5", "\"\":0",
            "\"Apps\":[\"com.example.orders\"]",
        ])
    func aRestrictionThatIsNotKnownIsNotIgnored(_ member: String) throws {
        var package = PackageBuilder()
        package.editCertificateBytes = { $0.replace("{\"apps\"", with: "{\(member),\"apps\"") }
        try host.mustRefuse(package, .malformed)
    }

    @Test(
        .attack("D7", "G13", "G17", "H23"), .rules("PTH-1", "PTH-4", "TAR-17"),
        arguments: [
            "../../x.json", "assets/../../x.json", "assets/../x/type-info", "/etc/x", "//x", "assets//x", "assets/./x",
            "./assets/x", "assets/", "assets/x/", "..", ".", "assets/..", "assets\\..\\x", "C:/x", "c:x", "assets/a:b",
            "assets/a\u{1}b", "assets/a\u{1B}[31m", "assets/a\rb", "assets/a\nb", "assets/a\u{7F}", "assets/a\u{202E}b",
            "assets/con", "assets/nul.txt", "assets/a.", "assets/a ", "assets/._x", "assets/a*b", "assets/a?b", "-",
            "assets/e\u{301}", String(repeating: "a/", count: 32) + "a", "assets/" + String(repeating: "a", count: 256),
            String(repeating: "abcdefghi/", count: 102) + "abcdef",
        ])
    func aWholePathIsJudgedAndNothingRepaired(_ path: String) throws {
        // Listed and present under the name.
        var package = PackageBuilder()
        package.files[path] = [1]
        try host.mustRefuse(package, path.contains("\n") ? .manifestMismatch : .unsafePath)
        // Present under the name, listed under a harmless one.
        package = PackageBuilder()
        let members = TarMember.file(Array(path.utf8), Array("<svg/>\n".utf8))
        package.editMembers = { $0.replaceSubrange(2...2, with: members) }
        try host.mustRefuse(package, .unsafePath)
    }
}

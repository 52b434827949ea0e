import Glibc
import TestSupport
import Testing

@testable import NshPublishing
@testable import NshTrust

@Suite struct KeyFileTests {
    private let scratch = Scratch()

    private func sealed(_ name: String = "release", key: UInt8 = 1) throws {
        try KeyFiles.create(
            TestKeys.key(key), named: scratch.file(name), sealedWith: TestKeys.passphrase("correct horse"),
            cost: TestKeys.cheap)
    }

    private func document(_ name: String = "release.secret") throws -> JSONObject {
        try JSONReader.read(scratch.read(name), subject: "the file") { (reader: inout JSONReader) throws(Refusal) in
            try reader.tree(numbers: .integers)
        }
    }

    private func rewrite(_ object: JSONObject, _ name: String = "release.secret") {
        scratch.write(name, JSONValue.object(object).serialized, mode: 0o600)
    }

    private func open(_ passphrase: String = "correct horse") throws -> PublicKey {
        let file = try SecretKeyFile(reading: scratch.file("release.secret"))
        return try file.open { try TestKeys.passphrase(passphrase) }.publicKey
    }

    @Test func fileThatOnlyHoldsTheWordsIsNoKeyFile() throws {
        try sealed()
        #expect(try SecretKeyFile.isOne(scratch.file("release.secret")))
        let words = Array("\"nsh-secret-key-1\"".utf8)
        scratch.write("a.nshpkg", [0x89, 0x4E, 0x53, 0x48] + words, mode: 0o600)
        #expect(try !SecretKeyFile.isOne(scratch.file("a.nshpkg")))
        scratch.write("spaced", Array(" \n{".utf8) + words, mode: 0o600)
        #expect(try SecretKeyFile.isOne(scratch.file("spaced")))
    }

    @Test(.rules("KEY-1", "KEY-6", "KEY-7", "KEY-8")) func opensWhatItSealed() throws {
        try sealed()
        let file = try SecretKeyFile(reading: scratch.file("release.secret"))
        #expect(file.isSealed)
        #expect(file.warning == nil)
        #expect(try open() == TestKeys.key(1).publicKey)
        #expect(try KeyFiles.publicKey(at: scratch.file("release.pub")) == TestKeys.key(1).publicKey)
        #expect(scratch.read("release.pub").count == 45)
    }

    @Test(.rules("KEY-6")) func opensWhatItWroteUnsealedWithoutAskingForAPassphrase() throws {
        try KeyFiles.createUnsealed(TestKeys.key(2), named: scratch.file("open"))
        let file = try SecretKeyFile(reading: scratch.file("open.secret"))
        #expect(!file.isSealed)
        let key = try file.open { throw Trouble(.badRequest, "asked") }
        #expect(key.publicKey == (try TestKeys.key(2).publicKey))
    }

    @Test func twoSealsOfOneKeyDiffer() throws {
        try sealed("a")
        try sealed("b")
        #expect(scratch.read("a.secret") != scratch.read("b.secret"))
    }

    @Test(.rules("KEY-7")) func refusesAnotherPassphrase() throws {
        try sealed()
        expectTrouble(.wrongPassphrase) { _ = try open("correct horsf") }
    }

    @Test(
        .rules("KEY-7"),
        arguments: [
            ("nonce", JSONValue.text("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")),
            ("salt", .text("AAAAAAAAAAAAAAAAAAAAAA==")), ("operations", .integer(2)), ("memory", .integer(16384)),
            ("public", .text("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")),
            ("secret", .text(Base64.encode([UInt8](repeating: 7, count: 48)))),
        ])
    func whatDoesNotOpenIsAWrongPassphraseWhicheverMemberWasChanged(name: String, value: JSONValue) throws {
        try sealed()
        var object = try document()
        object[name] = value
        rewrite(object)
        expectTrouble(.wrongPassphrase) { _ = try open() }
    }

    @Test(.rules("KEY-7")) func spellingOfTheDocumentIsNotSealed() throws {
        try sealed()
        let text = String(decoding: scratch.read("release.secret"), as: UTF8.self)
        scratch.write("release.secret", text.split(separator: ",").joined(separator: " ,\n "))
        #expect(try open() == TestKeys.key(1).publicKey)
    }

    @Test(.attack("F8"), .rules("KEY-8")) func refusesAnUnsealedFileWhosePublicHalfWasAltered() throws {
        try KeyFiles.createUnsealed(TestKeys.key(1), named: scratch.file("release"))
        var object = try document()
        object["public"] = .text(try TestKeys.key(2).publicKeyText)
        rewrite(object)
        expectRefusal(.malformed) { _ = try open() }
    }

    @Test(.attack("F8"), .rules("KEY-8")) func refusesASealedFileThatSealsThePublicHalfOfAnotherKey() throws {
        let other = try TestKeys.key(2).publicKey
        let (salt, nonce) = ([UInt8](repeating: 1, count: 16), [UInt8](repeating: 2, count: 24))
        let open = SecretKeyDocument(
            protection: .sealed(TestKeys.cheap), nonce: nonce, salt: salt, publicKey: other, secret: [])
        let seal = SeedSeal(salt: salt, nonce: nonce, cost: TestKeys.cheap, associatedData: open.associatedData)
        let document = SecretKeyDocument(
            protection: .sealed(TestKeys.cheap), nonce: nonce, salt: salt, publicKey: other,
            secret: try seal.seal(TestKeys.key(1), under: TestKeys.passphrase("correct horse")))
        scratch.write("release.secret", document.serialized)
        expectRefusal(.malformed) { _ = try self.open() }
    }

    @Test(
        .attack("F9"),
        .rules("KEY-6", "LIM-25"),
        arguments: [
            ("cipher", JSONValue.text("none")), ("cipher", .text("aes256gcm")), ("cipher", .null),
            ("kdf", .text("none")), ("kdf", .text("argon2i")), ("format", .text("nsh-secret-key-2")),
            ("memory", .integer(1 << 30 + 1)), ("memory", .integer(8191)), ("memory", .text("8192")),
            ("operations", .integer(17)), ("operations", .integer(0)), ("operations", .integer(-1)),
            ("nonce", .text("AAAA")), ("salt", .text("")), ("public", .text("AAAA")),
            ("public", .text(Base64.encode([UInt8](repeating: 0, count: 64)))),
            ("secret", .text("")), ("secret", .text(Base64.encode([UInt8](repeating: 0, count: 32)))),
            ("secret", .text(Base64.encode([UInt8](repeating: 0, count: 64)))),
            ("secret", .text(Base64.encode([UInt8](repeating: 0, count: 96)))),
            ("comment", .text("none")), ("secret", nil), ("format", nil), ("public", nil),
        ] as [(String, JSONValue?)])
    func refusesASealedFileOfAnotherForm(name: String, value: JSONValue?) throws {
        try sealed()
        var object = try document()
        object[name] = value
        rewrite(object)
        expectRefusal(.malformed) { _ = try SecretKeyFile(reading: scratch.file("release.secret")) }
    }

    @Test(.attack("F9"), .rules("KEY-6"), arguments: [31, 33, 48, 64, 96])
    func refusesAnUnsealedSecretThatIsNoSeed(count: Int) throws {
        try KeyFiles.createUnsealed(TestKeys.key(1), named: scratch.file("release"))
        var object = try document()
        object["secret"] = .text(Base64.encode([UInt8](repeating: 3, count: count)))
        rewrite(object)
        expectRefusal(.malformed) { _ = try SecretKeyFile(reading: scratch.file("release.secret")) }
    }

    @Test(
        .rules("KEY-6"),
        arguments: [
            "", "{}", "[]", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n",
            "untrusted comment: minisign encrypted secret key\nAAAA\n", "-----BEGIN PRIVATE KEY-----\n",
        ])
    func refusesAFileThatIsNoKeyDocument(text: String) throws {
        scratch.write("release.secret", text)
        expectRefusal(.malformed) { _ = try SecretKeyFile(reading: scratch.file("release.secret")) }
    }

    @Test(.rules("LIM-25")) func readsTheGreatestCost() throws {
        try sealed()
        var object = try document()
        object["memory"] = .integer(1 << 30)
        object["operations"] = .integer(16)
        rewrite(object)
        #expect(try SecretKeyFile(reading: scratch.file("release.secret")).isSealed)
    }

    @Test(.attack("M4"), .rules("KEY-9")) func createsSecretsForTheirOwnerAloneWhateverTheUmask() throws {
        let old = umask(0)
        defer { umask(old) }
        try sealed()
        #expect(scratch.mode("release.secret") == 0o600)
    }

    @Test(.attack("M4"), .rules("KEY-9"), arguments: ["release.pub", "release.secret"])
    func overwritesNeitherFileAndLeavesNone(taken: String) throws {
        scratch.write(taken, "mine")
        expectTrouble(.exists) { try sealed() }
        expectTrouble(.exists) { try KeyFiles.checkFree(scratch.file("release")) }
        #expect(scratch.names == [taken])
        #expect(scratch.read(taken) == Array("mine".utf8))
    }

    @Test(.rules("KEY-9")) func aDanglingLinkIsInTheWayToo() throws {
        symlink("nowhere", scratch.file("release.secret"))
        expectTrouble(.exists) { try sealed() }
        #expect(!scratch.exists("nowhere"))
    }

    @Test(arguments: [0o640, 0o604, 0o660, 0o644] as [mode_t])
    func warnsOfASecretThatOthersCanUse(mode: mode_t) throws {
        try sealed()
        chmod(scratch.file("release.secret"), mode)
        let file = try SecretKeyFile(reading: scratch.file("release.secret"))
        #expect(file.warning?.contains("others may use the key") == true)
    }

    @Test func namesWhatIsNoFile() throws {
        expectTrouble(.noSuchFile) { _ = try SecretKeyFile(reading: scratch.file("none.secret")) }
        expectTrouble(.notARegularFile) { _ = try SecretKeyFile(reading: scratch.path) }
        expectTrouble(.noSuchFile) { _ = try KeyFiles.publicKey(at: scratch.file("none.pub")) }
    }

    @Test(
        .rules("KEY-1"),
        arguments: [
            "", "\n", "AAAA\n", " AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n\n", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB=\n",
        ])
    func refusesAPublicKeyFileOfAnotherForm(text: String) {
        scratch.write("x.pub", text)
        expectRefusal(.malformed) { _ = try KeyFiles.publicKey(at: scratch.file("x.pub")) }
    }

    @Test(arguments: ["pass\n", "pass", "pass\r\n"]) func aPassphraseFileMayEndItsLine(text: String) throws {
        let expected = try TestKeys.passphrase("pass")
        #expect(try Passphrase(readingFile: scratch.write("p", text)).matches(expected))
    }

    @Test(arguments: ["", "\n"]) func refusesAnEmptyPassphrase(text: String) {
        expectTrouble(.badRequest) { _ = try Passphrase(readingFile: scratch.write("p", text)) }
    }

    @Test func takesAPassphraseOf4096BytesAndNoMore() throws {
        let longest = String(repeating: "a", count: 4096)
        let expected = try TestKeys.passphrase(longest)
        #expect(try Passphrase(readingFile: scratch.write("p", longest + "\r\n")).matches(expected))
        for text in [longest + "a", longest + "aaaaaaa\n"] {
            expectTrouble(.badRequest) { _ = try Passphrase(readingFile: scratch.write("p", text)) }
            expectTrouble(.badRequest) { _ = try TestKeys.passphrase(text) }
        }
    }

    @Test(.attack("M5")) func printsNoSecretWhateverPrintsIt() throws {
        try KeyFiles.createUnsealed(TestKeys.key(7), named: scratch.file("open"))
        let file = try SecretKeyFile(reading: scratch.file("open.secret"))
        var dumped = ""
        dump(file, to: &dumped)
        for text in ["\(file)", String(reflecting: file), dumped, "\([file])", "\(Optional(file) as Any)"] {
            #expect(!text.contains("7, 7") && !text.contains("BwcHBw"))
        }
        do {
            _ = try SecretKey(seed: [UInt8](repeating: 7, count: 33))
        } catch {
            #expect(!"\(error)".contains("7, 7"))
        }
    }

    @Test func wipesTheCallersPassphrase() throws {
        var bytes = Array("secret".utf8)
        _ = try Passphrase(wiping: &bytes)
        #expect(bytes.isEmpty)
    }
}

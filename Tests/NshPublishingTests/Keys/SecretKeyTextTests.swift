import TestSupport
import Testing

@testable import NshPublishing
@testable import NshTrust

/// Parting a key file in locked memory changes nothing of what is read and what is refused.
@Suite struct SecretKeyTextTests {
    private let scratch = Scratch()
    private let seed = [UInt8](repeating: 0xFF, count: 32)

    private func text(secret: String, name: String = "secret", more: String = "") throws -> String {
        let zeros = { (count: Int) in Base64.encode([UInt8](repeating: 0, count: count)) }
        return #"{ "cipher":"none","format":"nsh-secret-key-1","kdf":"none","memory":0,"nonce":"\#(zeros(24))","#
            + #""operations":0,"#
            + #""public":"\#(try TestKeys.key(0xFF).publicKeyText)","salt":"\#(zeros(16))","\#(name)" : "\#(secret)"\#(more)}"#
    }

    private func opens(_ text: String) throws -> Bool {
        scratch.write("key.secret", Array(text.utf8), mode: 0o600)
        let file = try SecretKeyFile(reading: scratch.file("key.secret"))
        return try file.open { throw Trouble(.badRequest, "asked") }.publicKey == (try TestKeys.key(0xFF).publicKey)
    }

    @Test(.rules("KEY-6")) func takesTheSpellingsOfJSON() throws {
        let plain = Base64.encode(seed)
        let escaped = plain.utf8.map { "\\u" + Hex.encode([0, $0]) }.joined()
        let solidus = plain.split(separator: "/", omittingEmptySubsequences: false).joined(separator: "\\/")
        for secret in [plain, escaped, solidus] {
            #expect(try opens(text(secret: secret)))
            #expect(try opens(text(secret: secret, name: "secr\\u0065t")))
        }
    }

    @Test(.rules("KEY-6")) func refusesWhatIsNoCanonicalBase64OrNotOneSecret() throws {
        let plain = Base64.encode(seed)
        let spare = plain.dropLast(2) + (plain.dropLast().last == "A" ? "B=" : "\(Self.next(plain.dropLast().last!))=")
        let texts = [
            try text(secret: String(spare)), try text(secret: String(plain.dropLast())),
            try text(secret: plain + " "), try text(secret: plain, more: #","secret":"\#(plain)""#),
            try text(secret: plain + "\\n"), try text(secret: "\\q" + plain),
            try text(secret: String(plain.dropLast(1)) + "-"), try text(secret: plain, name: "Secret"),
            try text(secret: ""), try text(secret: plain).replacing("\" : \"", with: "\" : : \""),
            String(try text(secret: plain).dropLast(3)),
            try text(secret: plain).replacing("\" : \"", with: "\" : [\""),
            #"{"secret"#, #"{"secret":"#, #"{"secret":""#, #"""#, "",
        ]
        for text in texts {
            expectRefusal(.malformed) { _ = try opens(text) }
        }
    }

    /// The letter behind, so that the unused bits of the last group are not zero.
    private static func next(_ letter: Character) -> Character {
        Character(Unicode.Scalar(letter.unicodeScalars.first!.value + 1)!)
    }

    @Test func showsTheReaderNothingOfTheSecret() throws {
        let plain = Base64.encode(seed)
        let bytes = Array(try text(secret: plain).utf8)
        let memory = try SecretMemory(count: bytes.count) { $0.copyBytes(from: bytes) }
        let parts = try memory.withBytes {
            try SecretKeyText(parting: UnsafeRawBufferPointer(start: $0, count: bytes.count))
        }
        let shown = String(decoding: parts.document, as: UTF8.self)
        #expect(!shown.contains(plain.prefix(8)))
        #expect(shown.utf8.count == bytes.count)
        #expect(parts.withSecret { Array($0) } == seed)
    }

    @Test(.rules("KEY-6")) func writesWhatItReads() throws {
        try KeyFiles.createUnsealed(TestKeys.key(0xFF), named: scratch.file("made"))
        let text = String(decoding: scratch.read("made.secret"), as: UTF8.self)
        #expect(text.hasSuffix("\"secret\":\"\(Base64.encode(seed))\"}\n"))
        #expect(try opens(text))
    }
}

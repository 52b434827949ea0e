import FoundationEssentials
import TestSupport
import Testing

@testable import NshTrust

/// Public Ed25519 vectors: Wycheproof, the speccheck table, RFC 8032, and ed25519.cr.yp.to's list.
@Suite("Ed25519 corpus", .enabled(if: SharedCorpora.isAvailable), .rules("KEY-4", "KEY-5"))
struct Ed25519CorpusTests {
    @Test("Wycheproof: every valid signature verifies, every invalid one does not", .attack("F4"))
    func agreesWithWycheproof() throws {
        struct File: Decodable {
            struct Group: Decodable {
                struct Key: Decodable { let pk: String }
                struct Case: Decodable { let tcId: Int, msg: String, sig: String, result: String }
                let publicKey: Key
                let tests: [Case]
            }
            let numberOfTests: Int
            let testGroups: [Group]
        }
        let file = try decode(File.self, "wycheproof_ed25519_shared.json")
        var count = 0
        for group in file.testGroups {
            let key = try #require(PublicKey(hex(group.publicKey.pk)))
            for test in group.tests {
                count += 1
                try #require(test.result == "valid" || test.result == "invalid", "unknown result \(test.result)")
                let verifies = Ed25519.verifies(hex(test.sig), of: hex(test.msg), by: key)
                #expect(verifies == (test.result == "valid"), "tcId \(test.tcId)")
            }
        }
        #expect(count == file.numberOfTests && count > 80)
    }

    @Test("speccheck: the answers are libsodium's row", .attack("F1", "F2", "F3", "F4", "F11"))
    func agreesWithSpeccheck() throws {
        struct Case: Decodable { let message: String, pub_key: String, signature: String }
        struct Expected: Decodable {
            struct Row: Decodable { let index: Int, libsodium: Bool }
            let cases: [Row]
        }
        let cases = try decode([Case].self, "speccheck_cases.json")
        let expected = try decode(Expected.self, "speccheck_expected.json").cases
        #expect(cases.count == 12 && expected.count == 12)
        for row in expected {
            let one = cases[row.index]
            let key = try #require(PublicKey(hex(one.pub_key)))
            let verifies = Ed25519.verifies(hex(one.signature), of: hex(one.message), by: key)
            #expect(verifies == row.libsodium, "case \(row.index)")
        }
    }

    @Test("RFC 8032: the known answers verify, and not with a byte more or less") func agreesWithTheRFC() throws {
        struct File: Decodable {
            struct Vector: Decodable { let name: String, `public`: String, message: String, signature: String }
            let vectors: [Vector]
        }
        let vectors = try decode(File.self, "rfc8032_section7_1.json").vectors
        #expect(vectors.count == 5)
        for vector in vectors {
            let key = try #require(PublicKey(hex(vector.public)))
            let (signature, message) = (hex(vector.signature), hex(vector.message))
            #expect(Ed25519.verifies(signature, of: message, by: key), "\(vector.name)")
            #expect(!Ed25519.verifies(signature + [0], of: message, by: key))
            #expect(!Ed25519.verifies(Array(signature.dropLast()), of: message, by: key))
            #expect(!Ed25519.verifies([], of: message, by: key))
        }
    }

    @Test("sign.input: every line verifies, and with one bit flipped none does") func agreesWithSignInput() throws {
        let text = String(decoding: try SharedCorpora.bytes("corpora/ed25519/sign_input_shared.txt"), as: UTF8.self)
        var lines = 0
        for line in text.split(separator: "\n") {
            lines += 1
            let fields = line.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
            let (keyBytes, message) = (hex(fields[1]), hex(fields[2]))
            let signature = Array(hex(fields[3]).prefix(64))
            let key = try #require(PublicKey(keyBytes))
            #expect(Ed25519.verifies(signature, of: message, by: key), "line \(lines)")
            var altered = signature
            altered[lines % 64] ^= 1 << UInt8(lines % 8)
            #expect(!Ed25519.verifies(altered, of: message, by: key), "line \(lines)")
            var otherKey = keyBytes
            otherKey[lines % 32] ^= 1 << UInt8(lines % 8)
            #expect(!Ed25519.verifies(signature, of: message, by: try #require(PublicKey(otherKey))), "line \(lines)")
            #expect(!Ed25519.verifies(signature, of: message + [1], by: key), "line \(lines)")
        }
        #expect(lines == 77)
    }

    private func decode<Value: Decodable>(_ type: Value.Type, _ name: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(try SharedCorpora.bytes("corpora/ed25519/\(name)")))
    }

    private func hex(_ text: String) -> [UInt8] {
        Hex.decode(text.lowercased().utf8, count: text.utf8.count / 2) ?? []
    }
}

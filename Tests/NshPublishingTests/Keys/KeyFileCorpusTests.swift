import TestSupport
import Testing

@testable import NshPublishing
@testable import NshTrust

/// The public JSON parsing corpus in the place of a key file.
@Suite("JSON corpus as key files", .enabled(if: SharedCorpora.isAvailable), .rules("KEY-6"))
struct KeyFileCorpusTests {
    @Test("no file of the corpus is a key", arguments: SharedCorpora.names(in: "corpora/json"))
    func refusesTheFile(_ name: String) throws {
        let bytes = try SharedCorpora.bytes("corpora/json/\(name)")
        expectRefusal(.malformed) { _ = try SecretKeyDocument(parsing: bytes) }
    }

    @Test(
        "nor is a key file in which one takes the place of a value", arguments: SharedCorpora.names(in: "corpora/json"))
    func refusesTheFileAsAMember(_ name: String) throws {
        let bytes = try SharedCorpora.bytes("corpora/json/\(name)")
        let document = Array(#"{"format":"nsh-secret-key-1","x":"#.utf8) + bytes + Array("}".utf8)
        expectRefusal(.malformed) { _ = try SecretKeyDocument(parsing: document) }
    }
}

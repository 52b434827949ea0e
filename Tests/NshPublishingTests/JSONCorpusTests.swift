import TestSupport
import Testing

@testable import NshPublishing
@testable import NshTrust

@Suite("JSON corpus, publishing", .enabled(if: SharedCorpora.isAvailable), .rules("JSN-1", "JSN-2", "JSN-3", "JSN-6"))
struct PublishingJSONCorpusTests {
    private static let folder = "corpora/json"
    private static let names = SharedCorpora.names(in: folder).filter { $0.hasSuffix(".json") }

    private func accepts(_ bytes: [UInt8], _ numbers: JSONReader.Numbers) -> Bool {
        do {
            _ = try JSONReader.read(bytes, subject: "it") { (reader: inout JSONReader) throws(Refusal) in
                try reader.value(numbers: numbers)
            }
            return true
        } catch {
            return false
        }
    }

    private func refused(_ body: () throws -> Void) -> Bool {
        do {
            try body()
            return false
        } catch {
            return error is Refusal || (error as? NshError)?.isRefusal == true
        }
    }

    @Test("each file within app.json is judged as the reader judges it alone", arguments: names)
    func judgesItWithinAppJSON(name: String) throws {
        let bytes = try SharedCorpora.bytes("\(Self.folder)/\(name)")
        let document =
            Array(#"{"id":"com.example.a","name":"n","version":"1","build":1,"x":"#.utf8) + bytes + Array("}".utf8)
        let isRefused = refused { _ = try AppDocument(source: document, options: PackageOptions()) }
        #expect(isRefused == !accepts(document, .any))
        if name.hasPrefix("y_"), accepts(bytes, .any) { #expect(!isRefused) }
        if name.hasPrefix("n_"), bytes.first != 0xEF { #expect(isRefused) }
    }

    @Test("each file as capabilities.json is judged as the reader judges it", arguments: names)
    func judgesItAsCapabilities(name: String) throws {
        let bytes = try SharedCorpora.bytes("\(Self.folder)/\(name)")
        let isObject = bytes.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } == 0x7B
        let isRefused = refused { _ = try AppDocument.capabilities(bytes) }
        #expect(isRefused == !(isObject && accepts(bytes, .integers)))
        if name.hasPrefix("n_") { #expect(isRefused) }
    }

    @Test("none is a key file or a document to sign", arguments: names) func takesNoneForADocument(name: String) throws
    {
        let bytes = try SharedCorpora.bytes("\(Self.folder)/\(name)")
        #expect(refused { _ = try SecretKeyDocument(parsing: bytes) })
        #expect(refused { _ = try SignedDocument(parsing: bytes) })
    }
}

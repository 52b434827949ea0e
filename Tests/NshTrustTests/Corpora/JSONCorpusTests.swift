import TestSupport
import Testing

@testable import NshTrust

/// The public JSON parsing corpus in every place where this library reads JSON.
@Suite("JSON corpus", .enabled(if: SharedCorpora.isAvailable), .rules("JSN-1", "JSN-2", "JSN-3", "JSN-5", "JSN-6"))
struct JSONCorpusTests {
    static let names = SharedCorpora.names(in: "corpora/json")

    /// Accepted by the grammar, refused by our rule against equal names.
    static let refusedForDuplicates: Set<String> = ["y_object_duplicated_key_and_value.json"]

    /// Files that the corpus leaves open, with our one answer where any number is allowed; all others are refused.
    static let openButAccepted: Set<String> = [
        "i_number_double_huge_neg_exp.json", "i_number_huge_exp.json", "i_number_real_pos_overflow.json",
        "i_number_real_underflow.json", "i_number_too_big_pos_int.json", "i_number_very_big_negative_int.json",
    ]

    /// Valid JSON whose numbers are not plain integers in range.
    static let notPlainIntegers: Set<String> = [
        "y_number.json", "y_number_0e+1.json", "y_number_int_with_exp.json", "y_number_minus_zero.json",
        "y_number_negative_zero.json", "y_number_real_capital_e.json", "y_number_real_capital_e_pos_exp.json",
        "y_number_real_exponent.json", "y_number_real_fraction_exponent.json", "y_number_real_neg_exp.json",
        "y_number_real_pos_exponent.json", "y_structure_lonely_negative_real.json",
    ]

    static func expectsAcceptance(_ name: String, _ numbers: JSONReader.Numbers) -> Bool {
        if refusedForDuplicates.contains(name) { return false }
        switch numbers {
        case .any: return name.hasPrefix("y_") || openButAccepted.contains(name)
        case .integers: return name.hasPrefix("y_") && !notPlainIntegers.contains(name)
        }
    }

    static func accepts(_ bytes: [UInt8], _ numbers: JSONReader.Numbers) -> Bool {
        do {
            _ = try JSONReader.read(bytes, subject: "the test") { (reader: inout JSONReader) throws(Refusal) in
                try reader.value(numbers: numbers)
            }
            return true
        } catch {
            #expect(error.code == .malformed)
            return false
        }
    }

    @Test("the corpus is there") func corpusIsComplete() {
        #expect(Self.names.count == 191)
    }

    @Test("alone", arguments: names, [JSONReader.Numbers.integers, .any])
    func judgesTheFileAlone(_ name: String, _ numbers: JSONReader.Numbers) throws {
        let bytes = try SharedCorpora.bytes("corpora/json/\(name)")
        #expect(Self.accepts(bytes, numbers) == Self.expectsAcceptance(name, numbers))
    }

    @Test("as a value of capabilities", arguments: names)
    func judgesTheFileAsACapability(_ name: String) throws {
        let bytes = try SharedCorpora.bytes("corpora/json/\(name)")
        let header = Self.header(capabilities: Array(#"{"x":"#.utf8) + bytes + Array("}".utf8))
        let accepted = Self.succeeds { () throws(Refusal) in _ = try PackageHeader(parsing: header) }
        #expect(accepted == Self.expectsAcceptance(name, .integers))
    }

    @Test("as a value of app.json", .rules("SUM-9"), arguments: names)
    func judgesTheFileInAppJSON(_ name: String) throws {
        let bytes = try SharedCorpora.bytes("corpora/json/\(name)")
        let header = try PackageHeader(parsing: Self.header(capabilities: Array("{}".utf8)))
        let file = Array(#"{"build":1,"id":"a.b","name":"n","version":"1","x":"#.utf8) + bytes + Array("}".utf8)
        #expect(Self.isAccepted(file, as: .app, header) == Self.expectsAcceptance(name, .any))
        #expect(!Self.isAccepted(bytes, as: .app, header), "alone it does not name the app")
    }

    @Test("as a value of capabilities.json", .rules("SUM-10"), arguments: names)
    func judgesTheFileInCapabilitiesJSON(_ name: String) throws {
        let bytes = try SharedCorpora.bytes("corpora/json/\(name)")
        let file = Array(#"{"x":"#.utf8) + bytes + Array("}".utf8)
        // The header has the same value where it can have it at all.
        let header = try? PackageHeader(parsing: Self.header(capabilities: file))
        let other = try PackageHeader(parsing: Self.header(capabilities: Array(#"{"y":0}"#.utf8)))
        if let header { #expect(Self.isAccepted(file, as: .capabilities, header)) }
        #expect(!Self.isAccepted(file, as: .capabilities, other))
    }

    @Test("as an export of a store", arguments: names)
    func refusesTheFileAsAnExport(_ name: String) throws {
        let bytes = try SharedCorpora.bytes("corpora/json/\(name)")
        #expect(!Self.succeeds { () throws(Refusal) in _ = try StoreDocument(parsing: bytes) })
    }

    static func isAccepted(_ file: [UInt8], as declaration: Declaration, _ header: PackageHeader) -> Bool {
        do {
            try declaration.judge(file, header: header)
            return true
        } catch {
            #expect(error.code == .manifestMismatch)
            return false
        }
    }

    @Test("as a whole signed document", arguments: names)
    func refusesTheFileAsADocument(_ name: String) throws {
        let bytes = try SharedCorpora.bytes("corpora/json/\(name)")
        #expect(!Self.succeeds { () throws(Refusal) in _ = try PackageHeader(parsing: bytes) })
        #expect(!Self.succeeds { () throws(Refusal) in _ = try Certificate(parsing: bytes) })
        #expect(!Self.succeeds { () throws(Refusal) in _ = try RevocationList(parsing: bytes) })
        for kind in Envelope.Kind.allCases {
            #expect(!Self.succeeds { () throws(Refusal) in _ = try Envelope(parsing: bytes, as: kind) })
        }
    }

    @Test("as a host's grant of capabilities", arguments: names)
    func judgesTheFileAsAGrant(_ name: String) throws {
        let bytes = try SharedCorpora.bytes("corpora/json/\(name)")
        guard let text = UTF8Sequence.text(bytes) else { return }
        let accepted = (try? NshCapabilities(JSONObject()).granted(by: text)) != nil
        let isObject = text.drop { " \n\r\t".contains($0) }.hasPrefix("{")
        #expect(accepted == (isObject && Self.expectsAcceptance(name, .integers)))
    }

    static func succeeds(_ body: () throws(Refusal) -> Void) -> Bool {
        do {
            try body()
            return true
        } catch {
            #expect(error.code == .malformed)
            return false
        }
    }

    static func header(capabilities: [UInt8]) -> [UInt8] {
        let digest = String(repeating: "0", count: 64)
        let chunk = Base64.encode([UInt8](repeating: 0, count: 32))
        return Array(#"{"app":{"build":1,"id":"a.b","name":"n","version":"1"},"capabilities":"#.utf8) + capabilities
            + Array(
                (#","payload":{"chunkSize":65536,"chunks":"\#(chunk)","compression":"none","files":1,"manifest":"#
                    + #""\#(digest)","size":1,"unpackedSize":1},"signedAt":1}"#).utf8)
    }
}

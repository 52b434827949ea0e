import FoundationEssentials
import TestSupport
import Testing

@testable import NshTrust

@Suite("Package headers")
struct HeaderFormatTests {
    @Test(
        "the digests fill their bytes exactly", .rules("PKG-13"),
        arguments: [(0, nil), (-1, .malformed), (1, .malformed), (31, .malformed), (32, .malformed)]
            as [(Int, RefusalCode?)])
    func countsTheDigests(_ surplus: Int, _ expected: RefusalCode?) throws {
        var package = PackageBuilder()
        package.editHeaderBytes = { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            let start = text.firstRange(of: #""chunks":""#)!.upperBound
            let end = text[start...].firstIndex(of: "\"")!
            var digests = Array(Data(base64Encoded: String(text[start..<end]))!)
            digests = surplus < 0 ? Array(digests.dropLast(-surplus)) : digests + [UInt8](repeating: 0, count: surplus)
            bytes = Array((text[..<start] + Base64.encode(digests) + text[end...]).utf8)
        }
        #expect(try package.refusal() == expected)
    }

    @Test("a payload has a byte", .rules("PKG-11", "PKG-13")) func refusesAPayloadOfNoBytes() throws {
        var package = PackageBuilder()
        package.editHeader = { $0.payload.size = 0 }
        #expect(try package.refusal() == .malformed)
    }
}

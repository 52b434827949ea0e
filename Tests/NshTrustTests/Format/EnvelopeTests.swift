import TestSupport
import Testing

@testable import NshTrust

@Suite("Envelopes")
struct EnvelopeTests {
    @Test("a draft is of one of the three kinds", .rules("ENV-2")) func refusesDraftsOfAnotherKind() throws {
        for kind in Envelope.Kind.allCases {
            #expect(try Envelope(parsingDraft: Envelope(kind: kind, payload: [1]).serialized).kind == kind)
        }
        let other = #"{"payload":"AQ==","payloadType":"application/json","signatures":[]}"#
        #expect(try refusalCode { try Envelope(parsingDraft: Array(other.utf8)) } == .malformed)
    }

    @Test("only a draft may be unsigned", .rules("ENV-4")) func refusesUnsignedEnvelopes() throws {
        let unsigned = Envelope(kind: .package, payload: [1]).serialized
        #expect(try refusalCode { try Envelope(parsing: unsigned, as: .package) } == .malformed)
    }
}

/// Envelopes of lists, whose payload is decoded where its text stands.
@Suite("Envelopes that take their document", .rules("ENV-3", "STO-2"))
struct TakenEnvelopeTests {
    private func document(_ count: Int) -> String {
        let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        return String(decoding: Envelope.signed(.revocations, payload, by: [.root]).serialized, as: UTF8.self)
    }

    @Test(
        "are read like others and give the document back, in whatever form it came",
        arguments: [0, 1, 2, 3, 500, 800_000])
    func givesTheDocumentBack(_ count: Int) throws {
        let plain = document(count)
        let forms = [
            plain, " \n" + plain + "\t", plain.replacing("/", with: "\\/"),
            plain.replacing("\"payload\"", with: "\"p\\u0061yload\""),
            String(repeating: " ", count: 2 << 20) + plain, plain + String(repeating: "\n", count: 2 << 20),
        ]
        for form in forms {
            let bytes = Array(form.utf8)
            let taken = try Envelope(taking: bytes, as: .revocations)
            let parsed = try Envelope(parsing: bytes, as: .revocations)
            #expect(taken.signedBytes == parsed.signedBytes && taken.payloadRange == parsed.payloadRange)
            #expect(taken.signatures == parsed.signatures)
            var pieces: [UInt8] = []
            taken.forEachPiece { pieces += $0 }
            #expect(pieces == bytes && taken.documentCount == bytes.count)
        }
    }

    @Test(
        "refuse every other spelling of the payload",
        arguments: ["A", "AA", "AAA", "AB==", "AAB=", "A===", "A-_A", "AA=A"])
    func refusesOtherSpellings(_ text: String) throws {
        let form = document(3).replacing(#/"payload":"[^"]*"/#, with: "\"payload\":\"\(text)\"")
        #expect(try refusalCode { try Envelope(taking: Array(form.utf8), as: .revocations) } == .malformed)
        #expect(try refusalCode { try Envelope(parsing: Array(form.utf8), as: .revocations) } == .malformed)
    }
}

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

import NshTrust
import Testing

@testable import NshTrustd

/// Lines of the log.
struct LogTests {
    private let fields: JSONObject = ["app": .text("com.example"), "text": .text("a b\"\u{1B}"), "n": .integer(3)]

    @Test
    func beginsWithItsPriorityForJournald() {
        let line = Log.line(.warning, "something", fields, format: .text, showsLevel: true, now: 0)
        #expect(line == #"<4>something app=com.example text="a b\"\u001b" n=3"#)
    }

    @Test
    func isOneObjectInJSON() {
        let line = Log.line(.error, "some\nthing", ["n": .integer(3)], format: .json, showsLevel: true, now: 0)
        #expect(line == #"{"time":"1970-01-01T00:00:00Z","level":"error","message":"some\nthing","n":3}"#)
    }
}

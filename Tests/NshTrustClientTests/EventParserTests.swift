import NshTrust
import Testing

@testable import NshTrustClient

struct EventParserTests {
    @Test func takesEventsHoweverTheyAreCut() throws {
        let text =
            ": hello\n\nid: 7\nevent: opened\ndata: {\"a\":\ndata: 1}\n\n:\n\r\nevent:gap\r\ndata:{}\r\n\r\nid: 8\rdata: x\r\r"
        let whole = [
            EventParser.Event(id: "7", kind: "opened", data: Array("{\"a\":\n1}".utf8)),
            EventParser.Event(id: nil, kind: "gap", data: Array("{}".utf8)),
            EventParser.Event(id: "8", kind: "message", data: Array("x".utf8)),
        ]
        for step in [1, 2, 3, 7, 1000] {
            var parser = EventParser()
            var events: [EventParser.Event] = []
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                events += try parser.add(Array(rest.prefix(step)))
                rest = rest.dropFirst(step)
            }
            #expect(events == whole)
        }
    }

    @Test func givesNothingForCommentsAlone() throws {
        var parser = EventParser()
        for _ in 0..<200_000 { #expect(try parser.add(Array(": keep-alive\n\n".utf8)).isEmpty) }
    }

    @Test func boundsAnEvent() {
        var parser = EventParser()
        let line = Array(("data: " + String(repeating: "x", count: 1 << 16) + "\n").utf8)
        let trouble = #expect(throws: Trouble.self) { for _ in 0..<40 { _ = try parser.add(line) } }
        #expect(trouble?.code == .ioFailure)
    }
}

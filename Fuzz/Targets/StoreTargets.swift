import Glibc
import NshTrust
import NshTrustWire
import TestSupport

@testable import NshTrustClient

extension FuzzTarget {
    /// The export of a store, and taking it over.
    static let store = FuzzTarget(
        "store", maximumLength: 8 << 10, dictionary: "json",
        seeds: { vectors in
            let list = try vectors.envelopes().first { $0.name.contains("list") }?.bytes ?? []
            let text = Base64.encode(list)
            let digest = String(repeating: "0f", count: 32)
            return [
                Seed(
                    "empty", #"{"apps":[],"format":"nsh-store-export-1","lists":[],"rootThreshold":1}"#,
                    outcome: "accepted"),
                Seed(
                    "app",
                    #"{"apps":[{"acceptedAt":1,"app":"com.example.a","build":42,"digest":"\#(digest)","identity":"\#(digest)","publisher":"P"}],"format":"nsh-store-export-1","lists":[],"rootThreshold":2}"#,
                    outcome: "accepted"),
                Seed("list", #"{"apps":[],"format":"nsh-store-export-1","lists":["\#(text)"],"rootThreshold":1}"#),
            ]
        },
        judge: { input in
            let parsed = try judged { try StoreDocument(parsing: input) }
            guard let document = parsed.value else { return parsed.word }
            let again = try StoreDocument(parsing: document.serialized)
            try require(
                again == document && again.serialized == document.serialized, "an export is written otherwise than read"
            )
            // A store of its own takes a thousand times as long as all before.
            guard fingerprint(input) % 64 == 0 else { return "accepted" }
            return try Self.takeOver(document)
        })

    private static func takeOver(_ document: StoreDocument) throws -> String {
        let directory = try TemporaryDirectory()
        var options = NshTrust.Options()
        options.clock = { Bench.now }
        options.durability = .processEndUnsafely
        options.rootThreshold = document.rootThreshold
        let core = try TrustCore(directory: directory.path + "/state", options: options)
        for root in Bench.roots { try core.addRoot(root) }
        let taken = try judged { try core.importStore(document) }
        guard taken.value != nil else { return taken.word }
        let export = try core.administration().export()
        try require(
            document.builds.allSatisfy { build in
                export.builds.contains { $0.app == build.app && $0.build >= build.build }
            },
            "a floor was lost")
        try require(export.rootThreshold == document.rootThreshold, "the threshold was lost")
        try require(try judged { try core.importStore(export) }.value != nil, "a store does not take its own export")
        try require(try core.administration().export() == export, "taking over an export of its own changes a store")
        return "accepted"
    }

    /// What a daemon answers on a connection.
    static let response = FuzzTarget(
        "response", maximumLength: 8 << 10, dictionary: "http",
        seeds: { _ in
            [
                "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: application/json\r\n\r\n{}",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n1;x=y\r\ne\r\n0\r\nT: x\r\n\r\n",
                "HTTP/1.0 200 OK\r\n\r\nto the end",
                "HTTP/1.1 102 X\r\n\r\nHTTP/1.1 204 No\r\nConnection: close\r\n\r\n",
                "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n",
            ].enumerated().map { Seed("answer-\($0.offset)", $0.element) }
        },
        judge: { input in
            var ends: [Int32] = [0, 0]
            guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
                throw BrokenProperty("no socket")
            }
            defer { close(ends[1]) }
            let connection = HTTPConnection(UnixStream(OwnedDescriptor(owning: ends[0])))
            guard write(ends[1], input, input.count) == input.count else {
                throw BrokenProperty("a socket took too little")
            }
            shutdown(ends[1], Int32(SHUT_WR))
            let patience = Patience(silence: 20)
            do {
                let head = try connection.ask(.get("/v1/status"), patience)
                let body = try connection.wholeBody(limit: 4 << 10, patience)
                try require((200...599).contains(head.status), "the status \(head.status) is final")
                try require(body.count <= 4 << 10 && body.count <= input.count, "a body of \(body.count) bytes")
                try require(input.firstRange(of: body) != nil || head.framing == .chunked, "a body that nobody sent")
                // The other side has closed, so that nothing more may be asked.
                try require(!connection.isReusable, "a closed connection is used again")
                return "\(head.framing)".prefix { $0 != "(" }.description
            } catch let trouble as Trouble {
                try require(trouble.code == .ioFailure, "an answer is \(trouble.code)")
                try requireSafe(trouble.message)
                return trouble.code.rawValue
            } catch is ConnectionLost {
                return "lost"
            }
        })

    /// Server-sent events.
    static let events = FuzzTarget(
        "events", maximumLength: 4 << 10, dictionary: "http",
        seeds: { _ in
            [
                "id: 1\nevent: decision\ndata: {\"sequence\":1}\n\n", ": comment\n\ndata: a\ndata: b\r\n\r\ndata\n\n",
                "data:x\r\rid:2\ndata: y\n\n", "event: gap\ndata: {\"oldest\":4}\n\n",
            ].enumerated().map { Seed("events-\($0.offset)", $0.element) }
        },
        judge: { input in
            var whole = EventParser()
            let events = try whole.add(input)
            var single = EventParser()
            let again = try input.flatMap { try single.add([$0]) }
            try require(events == again, "byte by byte other events come")
            for event in events {
                try require(!event.data.contains(0x0D), "the data of an event holds the end of a line")
                try require(event.data.count <= input.count, "an event is larger than what came")
                guard let reader = try? WireReader(parsing: event.data, subject: "the event") else { continue }
                if let document = try? EventDocument(reader) {
                    let line = Array(JSONLine.text(document.object).utf8)
                    try require(
                        try EventDocument(WireReader(parsing: line, subject: "the event")) == document,
                        "an event is written otherwise than read")
                }
            }
            return "\(min(events.count, 9))"
        })
}

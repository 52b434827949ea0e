import NshCommandLine
import NshTrust
import NshTrustWire

/// `store events`: the decision log.
enum StoreEventsVerb {
    static let verb = Verb(
        name: "store events",
        summary: "show what was decided, when, why and by whom",
        details: [
            "Oldest first. The log is bounded; a flood of equal refusals is one row with a count. “by” is the user and process id.",
            "To go on where the last look ended, give its last number to --after.",
        ],
        options: [
            .state, .value("after", nil, "N", help: "only rows with a greater number"),
            .value("limit", nil, "N", help: "at most this many rows"),
        ],
        examples: ["nsh-pkgtool store events --state store --json --after 120"],
        run: run)

    private static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        let range: ClosedRange<Int64> = 0...JSONReader.maximumInteger
        var after = try arguments.value("after").map { try OptionValue.integer($0, "after", in: range) } ?? 0
        var left = try arguments.value("limit").map { try OptionValue.integer($0, "limit", in: range) } ?? .max
        let store = try StoreAccess.open(try Judging.requiredState(invocation), isReadOnly: true)
        var isFirst = true
        while left > 0 {
            let page = try store.events(after: after, limit: Int(min(left, 1000)))
            if isFirst, after > 0, page.oldest > after + 1 {
                try invocation.console.warning("rows between \(after) and \(page.oldest) are no longer kept")
            }
            isFirst = false
            if page.events.isEmpty { break }
            for row in page.events { try report(row, invocation.console) }
            left -= Int64(page.events.count)
            after = page.next
        }
        return .done
    }

    private static func report(_ row: StoredEvent, _ console: Console) throws(OutputFailure) {
        let event = row.event
        var object: JSONObject = [
            "sequence": .integer(row.sequence), "time": .integer(event.time), "kind": .text(event.kind.rawValue),
        ]
        object.add("app", event.app.map { .text($0.text) })
        object.add("build", event.build.map { .integer($0) })
        object.add("digest", event.digest.map { .text($0.hex) })
        object.add("code", event.code.map { .text($0) })
        object.append("message", .text(event.message))
        object.append("uid", .integer(Int64(event.uid)))
        object.append("pid", .integer(Int64(event.pid)))
        object.append("count", .integer(row.count))
        let code = event.code.map { " \(Terminal.safe($0))" } ?? ""
        let count = row.count > 1 ? "  (\(row.count) times)" : ""
        try console.answer(
            object,
            text: "\(row.sequence)  \(Timestamp.text(event.time))  \(event.kind.rawValue)\(code)  "
                + "\(Terminal.safe(event.message))  by \(event.uid)/\(event.pid)\(count)")
    }
}

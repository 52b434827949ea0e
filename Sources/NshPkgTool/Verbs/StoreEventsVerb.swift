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
            "To go on where the last look ended, give its last number to --after. A daemon tells only its administrators who "
                + "asked; followed, it may be restarted, and no row is missed.",
        ],
        options: [
            .state, .socket, .value("after", nil, "N", help: "only rows with a greater number"),
            .value("limit", nil, "N", help: "at most this many rows"),
            .flag("follow", "f", "go on with what is decided from then on, until interrupted"),
        ],
        choices: [.store],
        examples: [
            "nsh-pkgtool store events --state store --json --after 120",
            "nsh-pkgtool store events --socket /run/nsh-trust/trustd.sock --follow",
        ],
        run: run)

    private static func run(_ invocation: Invocation) throws -> ExitStatus {
        let arguments = invocation.arguments
        let range: ClosedRange<Int64> = 0...JSONReader.maximumInteger
        var after = try arguments.value("after").map { try OptionValue.integer($0, "after", in: range) } ?? 0
        var left = try arguments.value("limit").map { try OptionValue.integer($0, "limit", in: range) } ?? .max
        let store = try StoreDoors.open(invocation, isReadOnly: true)
        let console = invocation.console
        var isFirst = true
        while left > 0 {
            let page = try store.events(after: after, limit: Int(min(left, 1000)))
            if isFirst, let oldest = page.oldest { try warn(after, oldest, console) }
            isFirst = false
            if page.events.isEmpty { break }
            for row in page.events { try report(row, console) }
            left -= Int64(page.events.count)
            after = page.next
        }
        if arguments.has("follow"), left > 0 { try follow(store, after, left, console) }
        return .done
    }

    /// Reports what comes, each row at once, until so many have come.
    private static func follow(_ store: any StoreDoor, _ after: Int64, _ limit: Int64, _ console: Console) throws {
        try console.flush()
        var (last, left) = (after, limit)
        try store.follow(after: after) { row in
            switch row {
            case .gap(let oldest): try warn(last, oldest, console)
            case .event(let event):
                try report(event, console)
                last = event.event.sequence
                left -= 1
            }
            try console.flush()
            return left > 0
        }
    }

    private static func warn(_ after: Int64, _ oldest: Int64, _ console: Console) throws(OutputFailure) {
        try console.warning("rows between \(after) and \(oldest) are no longer kept")
    }

    private static func report(_ row: EventDocument, _ console: Console) throws(OutputFailure) {
        let event = row.event
        let code = event.code.map { " \(Terminal.safe($0.rawValue))" } ?? ""
        let caller = row.showsCaller ? "  by \(event.uid)/\(event.pid)" : ""
        let count = event.count > 1 ? "  (\(event.count) times)" : ""
        try console.answer(
            row.object,
            text: "\(event.sequence)  \(Timestamp.text(event.time))  \(Terminal.safe(event.kind))\(code)  "
                + "\(Terminal.safe(event.message))\(caller)\(count)")
    }
}

import NshTrust
import NshTrustWire
import Synchronization

/// Somebody who follows the log; touched by the hub's thread only, once it is there.
struct EventFollower: Sendable {
    /// Whether there is something that could not be handed on yet.
    final class Lag: Sendable {
        private let flag = Atomic(false)

        /// Whether there is.
        var isBehind: Bool { flag.load(ordering: .acquiring) }
        /// Says whether there is.
        func set(_ isBehind: Bool) { flag.store(isBehind, ordering: .releasing) }
    }

    /// Where the events go.
    let stream: EventStream
    /// Who follows.
    let user: UInt32
    /// Whether events say who asked.
    let showsCaller: Bool
    /// Everything up to this number was handed on, or was not asked for.
    var position: Int64
    /// Whether there is more.
    let lag = Lag()

    /// Hands a page on, and says when rows between it and what was handed on before are gone.
    mutating func take(_ page: EventFrames) {
        if position > 0, page.oldest > position + 1 { stream.append(EventFrames.gap(oldest: page.oldest)) }
        let bytes = page.bytes(after: position, showsCaller: showsCaller)
        if !bytes.isEmpty { stream.append(bytes) }
        position = max(position, page.next)
    }
}

/// A page of the log as server-sent events.
struct EventFrames {
    private let rows: [StoredEvent]
    private let whole: [Bool: [UInt8]]
    /// The number to ask after next.
    let next: Int64
    /// The oldest number still kept; 0 when the log is empty.
    let oldest: Int64

    /// Number of events.
    var count: Int { rows.count }

    init(_ page: EventPage) {
        rows = page.events
        next = page.next
        oldest = page.oldest
        whole = rows.isEmpty ? [:] : [true: Self.frames(rows, true), false: Self.frames(rows, false)]
    }

    /// The events with a greater number.
    func bytes(after sequence: Int64, showsCaller: Bool) -> [UInt8] {
        guard let first = rows.first, first.sequence <= sequence else { return whole[showsCaller] ?? [] }
        return Self.frames(rows.filter { $0.sequence > sequence }, showsCaller)
    }

    /// What tells a follower that it has missed rows.
    static func gap(oldest: Int64) -> [UInt8] {
        Array("event: gap\ndata: \(JSONLine.text(["oldest": .integer(oldest)]))\n\n".utf8)
    }

    private static func frames(_ rows: [StoredEvent], _ showsCaller: Bool) -> [UInt8] {
        var text = ""
        for row in rows {
            let document = EventDocument(NshEvent(row), showsCaller: showsCaller)
            text +=
                "id: \(row.sequence)\nevent: \(row.event.kind.rawValue)\ndata: \(JSONLine.text(document.object))\n\n"
        }
        return Array(text.utf8)
    }
}

import NshTrust
package import NshTrustWire

/// Follows the daemon's decision log: connects, connects again, and goes on where it was.
///
/// For one reader; its calls block.
package final class EventFollower: Sendable {
    /// What comes next in the log.
    package enum Item: Hashable, Sendable {
        /// An event.
        case event(EventDocument)
        /// Events are missing here; the oldest that is still kept.
        case gap(oldest: Int64)
    }

    private struct State {
        var after: Int64
        var connection: HTTPConnection?
        var parser = EventParser()
        var items: [Item] = []
        var hasConnected = false
    }

    /// The daemon says something every 15 s; after a longer silence the connection counts as lost, in seconds.
    private static let silence = 45.0
    /// Pauses between attempts to connect, in nanoseconds: the first and the longest.
    private static let (firstPause, longestPause): (UInt64, UInt64) = (50_000_000, 2_000_000_000)

    private let api: DaemonAPI
    private let state: Locked<State>

    /// Prepares to follow.
    ///
    /// - Parameters:
    ///   - api: The daemon.
    ///   - sequence: Events with a greater number come.
    package init(_ api: DaemonAPI, after sequence: Int64) {
        self.api = api
        state = Locked(State(after: sequence))
    }

    /// Waits for the next event.
    ///
    /// A lost connection is made again for as long as it takes; only the first attempt has to succeed at once.
    ///
    /// - Parameter isCancelled: Whether the caller has given up; asked several times a second.
    /// - Returns: The event, or that some are missing.
    /// - Throws: `NshError` when the daemon does not let us follow; `Trouble`: `ioFailure` when it cannot be reached the
    ///   first time, `cancelled`.
    package func next(isCancelled: @escaping @Sendable () -> Bool) throws -> Item {
        try state.withLock { state in
            var pause = Self.firstPause
            while true {
                if !state.items.isEmpty { return Self.take(&state) }
                if isCancelled() { throw Trouble(.cancelled, "the caller cancelled the operation") }
                do {
                    if try receive(&state, isCancelled) { pause = Self.firstPause }
                } catch let error where state.hasConnected && Self.isPassing(error) {
                    (state.connection, state.parser) = (nil, EventParser())
                    Self.sleep(pause, isCancelled)
                    pause = min(pause * 2, Self.longestPause)
                }
            }
        }
    }

    private static func take(_ state: inout State) -> Item {
        let item = state.items.removeFirst()
        switch item {
        case .event(let document): state.after = max(state.after, document.event.sequence)
        case .gap(let oldest): state.after = max(state.after, oldest - 1)
        }
        return item
    }

    /// Whether it is worth while to try again.
    private static func isPassing(_ error: any Error) -> Bool {
        switch error {
        case is ConnectionLost: return true
        case let trouble as Trouble: return trouble.code == .ioFailure
        case let error as NshError:
            return [.ioFailure, .overloaded, .stopping, .storeBusy, .noTrustedRoots].contains(error.code)
        default: return false
        }
    }

    private static func sleep(_ nanoseconds: UInt64, _ isCancelled: () -> Bool) {
        let until = MonotonicTime.nanoseconds() + UInt64.random(in: nanoseconds / 2...nanoseconds)
        while case let now = MonotonicTime.nanoseconds(), now < until, !isCancelled() {
            MonotonicTime.sleep(nanoseconds: min(until - now, 100_000_000))
        }
    }

    /// Connects when there is no connection, else reads what comes next; returns whether something came.
    private func receive(_ state: inout State, _ isCancelled: @escaping @Sendable () -> Bool) throws -> Bool {
        let patience = Patience(silence: Self.silence, isCancelled: isCancelled)
        guard let connection = state.connection else {
            try connect(&state, patience)
            return false
        }
        guard let piece = try connection.nextPiece(patience) else { throw ConnectionLost() }
        for event in try state.parser.add(piece) {
            let reader = try WireReader(parsing: event.data, subject: "an event of nsh-trustd")
            state.items.append(
                event.kind == "gap" ? .gap(oldest: try reader.integer("oldest")) : .event(try EventDocument(reader)))
        }
        return true
    }

    private func connect(_ state: inout State, _ patience: Patience) throws {
        let request = HTTPRequest.get(
            "/v1/events?after=\(state.after)&follow=true", accept: "text/event-stream")
        let fresh = HTTPConnection(try UnixStream.connect(to: api.socketPath, patience))
        let head = try fresh.ask(request, patience)
        if head.status == 200, head.contentType == "text/event-stream" {
            (state.connection, state.hasConnected) = (fresh, true)
            return
        }
        let body = try fresh.wholeBody(limit: DaemonAPI.maximumAnswer, patience)
        if head.status == 410,
            let oldest = try ProblemDocument(WireReader(parsing: body, subject: "nsh-trustd's problem")).oldest
        {
            state.hasConnected = true
            state.items.append(.gap(oldest: oldest))
            return
        }
        throw DaemonAPI.error(head, body)
    }
}

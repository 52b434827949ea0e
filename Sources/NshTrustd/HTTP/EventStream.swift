import NshTrust

/// Server-sent events on their way to one client.
///
/// Whoever has events appends them; the server sends them as fast as the client takes them.
final class EventStream: Sendable {
    private struct State {
        var waiting: [UInt8] = []
        var isClosed = false
        var wakeServer: (@Sendable () -> Void)?
        var onDrained: (@Sendable () -> Void)?
    }

    /// From how many waiting bytes on nothing more should be appended.
    static let highWater = 256 << 10

    private let state = Locked(State())

    /// Whether the client takes events more slowly than they come: append again after `onDrained` was called.
    var isFull: Bool { state.withLock { $0.waiting.count >= Self.highWater } }

    /// Whether the client has left or the server stops.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Asks to be called, on a thread of the server, each time when everything appended has been taken.
    func whenDrained(_ handler: @escaping @Sendable () -> Void) { state.withLock { $0.onDrained = handler } }

    /// Appends bytes that make whole events.
    func append(_ bytes: [UInt8]) {
        let wake = state.withLock { state in
            if !state.isClosed { state.waiting += bytes }
            return state.wakeServer
        }
        wake?()
    }

    // MARK: - The server's side

    /// Asks to be called when there may be bytes to send.
    func whenAppended(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wakeServer = wake } }

    /// Takes at most so many waiting bytes.
    func take(upTo count: Int) -> [UInt8] {
        let (bytes, drained) = state.withLock { state in
            let bytes = Array(state.waiting.prefix(count))
            state.waiting.removeFirst(bytes.count)
            return (bytes, state.waiting.isEmpty ? state.onDrained : nil)
        }
        if !bytes.isEmpty { drained?() }
        return bytes
    }

    /// Ends the stream; what waits is dropped.
    func close() {
        let wake = state.withLock { state in
            state.isClosed = true
            state.waiting = []
            state.onDrained = nil
            defer { state.wakeServer = nil }
            return state.wakeServer
        }
        wake?()
    }
}

import NshTrust

/// An answer that another thread will give.
///
/// The service makes it and hands it both to the server, inside an `Outcome`, and to whoever does the work. Either may be
/// first.
final class PendingAnswer: Sendable {
    private struct State {
        var response: Response?
        var isAbandoned = false
        var onCompletion: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    /// Whether nobody waits any more: the client has left, or the server stops.
    ///
    /// Work that nobody waits for may end.
    var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

    /// Gives the answer; the first one counts.
    func complete(_ response: Response) {
        let wake = state.withLock { state in
            if state.response == nil { state.response = response }
            defer { state.onCompletion = nil }
            return state.onCompletion
        }
        wake?()
    }

    // MARK: - The server's side

    /// The answer, once it is known.
    var response: Response? { state.withLock { $0.response } }

    /// Asks to be called once when the answer is known; at once when it is already.
    func whenCompleted(_ wake: @escaping @Sendable () -> Void) {
        let isKnown = state.withLock { state in
            if state.response == nil { state.onCompletion = wake }
            return state.response != nil
        }
        if isKnown { wake() }
    }

    /// Notes that nobody waits any more.
    func abandon() {
        state.withLock { state in
            state.isAbandoned = true
            state.onCompletion = nil
        }
    }
}

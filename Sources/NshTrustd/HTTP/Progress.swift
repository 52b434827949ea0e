import Glibc

/// How far a connection is with its request, as far as the limits of time are concerned.
struct Progress: Sendable {
    /// What a connection waits for.
    enum Stage: UInt8, Sendable {
        /// The client, to send a head.
        case head
        /// The client, to send a body that is gathered or dropped.
        case body
        /// The client, to send a body that is read while it arrives.
        case stream
        /// The reader of a streamed body, to make room: the server holds the client up.
        case held
        /// The service, to answer.
        case working
        /// The client, to take an answer or some events.
        case answer
        /// The service, to append events.
        case events
    }

    /// The stage.
    var stage: Stage
    /// When it began, in milliseconds of `now()`.
    var since: Int64
    /// When the streamed body began.
    var streamSince: Int64 = 0
    /// How many bytes of the streamed body have arrived.
    var streamedBytes: Int64 = 0
    /// How many milliseconds the server has held the streamed body up, without the present pause.
    var heldMilliseconds: Int64 = 0

    /// Milliseconds of a clock that only runs forward; exact to some milliseconds.
    static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Which limit the client has gone over; nil when it is in time, or when it is not the client who is waited for.
    func overdue(at now: Int64, _ limits: ServerLimits) -> ServerEvent.Deadline? {
        let seconds = Double(now - since) / 1000
        switch stage {
        case .head: return seconds > limits.headSeconds ? .head : nil
        case .body: return seconds > limits.gatheredBodySeconds ? .body : nil
        case .answer: return seconds > limits.answerSeconds ? .answer : nil
        case .working, .events: return nil
        case .held: return Double(now - streamSince) / 1000 > limits.streamSeconds ? .body : nil
        case .stream:
            let inAll = Double(now - streamSince) / 1000
            let clients = inAll - Double(heldMilliseconds) / 1000
            let isTooSlow =
                clients > limits.streamGraceSeconds && Double(streamedBytes) < clients * limits.streamBytesPerSecond
            return isTooSlow || inAll > limits.streamSeconds ? .body : nil
        }
    }
}

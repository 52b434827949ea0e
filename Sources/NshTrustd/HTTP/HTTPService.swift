/// What answers the requests that a server receives.
///
/// Both steps run on the server's threads and must neither block nor work for long: what takes longer is answered
/// through a `PendingAnswer`.
protocol HTTPService: Sendable {
    /// Decides from a request's head what becomes of the request.
    func plan(_ head: RequestHead) -> RequestPlan
    /// Makes the answer to what the server itself refuses: a body that is too large, a server that is full or stopping.
    func refusal(_ reason: ServerRefusal) -> Response
}

/// Why the server itself refuses a request.
enum ServerRefusal: Hashable, Sendable {
    /// The body is longer than the plan allows.
    case bodyTooLarge(limit: Int64)
    /// The peer has as many connections as it may.
    case tooManyConnections
    /// The server is about to stop.
    case stopping
    /// The head contradicts itself, such as one with two `Content-Length`: a bad request. One line says what is wrong.
    case malformed(String)
}

/// What becomes of a request.
enum RequestPlan: Sendable {
    /// The answer is known; a body is dropped unread.
    case answer(Response)
    /// The body is gathered in memory, at most so many bytes, and then decided on.
    case gather(limit: Int, then: @Sendable (_ body: [UInt8]) -> Outcome)
    /// As `gather`, and so for every further request with the same head on the same connection.
    ///
    /// `then` is also told when the head of its request was looked at, on the monotonic clock.
    case repeatable(limit: Int, then: KnownHead.Continuation)
    /// The body, at most so many bytes, is read by whoever `start` hands the reader to, on a thread of its own, while it
    /// arrives. What is not read is dropped before the answer goes out.
    case stream(limit: Int64, start: @Sendable (_ body: BodyReader) -> Outcome)
}

/// How a request is answered.
enum Outcome: Sendable {
    /// At once.
    case answer(Response)
    /// At once, as before.
    case again(KeptAnswer)
    /// Later, from another thread.
    case later(PendingAnswer)
    /// With server-sent events until either side ends them.
    case events(EventStream)
}

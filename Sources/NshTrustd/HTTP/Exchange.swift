import CMicroHTTPD
import Glibc
import NshTrust

/// One request and its answer, from the request line to the last byte; used by the thread of its connection alone.
///
/// libmicrohttpd calls with the head, with each piece of the body, and once more when all of it is there; it takes an
/// answer at the first call, which ends the connection, and at the last, which is called again after each suspension.
final class Exchange {
    private enum Phase {
        /// The head has not been looked at.
        case head
        /// A body that nobody wants is read, then the answer is given.
        case dropping(Response)
        /// The body is gathered.
        case gathering(limit: Int, started: UInt64, then: KnownHead.Continuation)
        /// The body goes to a reader.
        case streaming(BodyReader, limit: Int64, Outcome)
        /// The answer went out in the middle of the body; what still comes is dropped, then the connection ends.
        case lingering
        /// The body is there, the answer is not.
        case deciding(Outcome)
        /// The answer is with libmicrohttpd.
        case answered
    }

    private let core: ServerCore
    private let connection: Connection
    /// The connection's last head, where this one asks for the same.
    private let known: KnownHead?
    private let target: RequestTarget
    /// Where the target lies in the connection's memory; looked at while the head is.
    private let targetBytes: UnsafeRawBufferPointer
    private var phase = Phase.head
    private var body: [UInt8] = []
    /// How many bytes of the body were taken.
    private var received: Int64 = 0
    private var isWatched = false

    /// Begins with a request line.
    ///
    /// - Parameters:
    ///   - core: The server.
    ///   - connection: The connection.
    ///   - target: The target's bytes in the connection's memory.
    init(core: ServerCore, connection: Connection, target: UnsafeRawBufferPointer) {
        self.core = core
        self.connection = connection
        targetBytes = target
        known = connection.knownHead.flatMap { $0.hasTarget(target) ? $0 : nil }
        // Taken apart before libmicrohttpd decodes it in its place.
        self.target = known?.target ?? RequestTarget(target)
    }

    // MARK: - What libmicrohttpd calls

    /// Takes the next part of the request.
    ///
    /// - Parameters:
    ///   - handle: The connection.
    ///   - method: The method, in the connection's memory.
    ///   - version: The protocol's version, likewise.
    ///   - piece: Bytes of the body; empty at the first and the last call.
    /// - Returns: How many bytes are left because the connection was suspended; nil when the connection has to end.
    func take(
        _ handle: OpaquePointer, method: UnsafePointer<CChar>, version: UnsafePointer<CChar>,
        piece: UnsafeRawBufferPointer
    ) -> Int? {
        if case .head = phase { return begin(handle, method: method, version: version) ? 0 : nil }
        if piece.isEmpty { return finish(handle) ? 0 : nil }
        if case .streaming(let reader, let limit, let outcome) = phase {
            return pass(piece, to: reader, limit: limit, outcome)
        }
        return add(piece) ? 0 : nil
    }

    /// Ends the exchange: answered, or cut off.
    func end() {
        switch phase {
        case .streaming(let reader, _, let outcome):
            // Whoever reads must not take this for the end of the body.
            reader.finish(Trouble(.cancelled, "the client left before the end of the package"))
            abandon(outcome)
        case .deciding(.later(let pending)):
            // libmicrohttpd does not answer a client that has closed its sending side while it waited.
            if let response = pending.response, !connection.isEnding {
                _ = Answer.write(response, to: connection.descriptor)
            }
            pending.abandon()
        case .deciding(let outcome): abandon(outcome)
        case .head, .dropping, .gathering, .lingering, .answered: break
        }
        connection.enter(.head)
    }

    private func abandon(_ outcome: Outcome) {
        switch outcome {
        case .later(let pending): pending.abandon()
        case .events(let stream): stream.close()
        case .answer, .again: break
        }
    }

    // MARK: - The head

    private func begin(
        _ handle: OpaquePointer, method: UnsafePointer<CChar>, version: UnsafePointer<CChar>
    ) -> Bool {
        let started = MonotonicTime.nanoseconds()
        var headers = nsh_mhd_headers(handle)
        let isPlain = nsh_mhd_is_plain(
            &headers, method, targetBytes.bindMemory(to: CChar.self).baseAddress, targetBytes.count, version)
        let bytes = HeadBytes(method: method, target: targetBytes, version: version, headers)
        if let known, isPlain != 0, !core.isStopping, known.hasRest(of: bytes) {
            gather(known.framing, limit: known.limit, since: started, known.then)
            return true
        }
        let framing = Framing(headers, isPlain: isPlain != 0)
        if let fault = framing.fault { return answer(core.service.refusal(.malformed(fault)), on: handle) }
        if core.isStopping { return refuse(.stopping, framing, handle) }
        let head = RequestHead(
            method: String(cString: method), path: target.path, query: target.query,
            contentType: headers.content_type.mediaType, hasBody: framing.hasBody, host: headers.host.text,
            isFromBrowser: headers.is_from_browser != 0, lastEventID: headers.last_event_id.text,
            peer: connection.peer)
        switch core.service.plan(head) {
        case .answer(let response): return drop(framing, thenAnswer: response, handle)
        case .gather(let limit, let then):
            if let length = framing.length, length > limit {
                return refuse(.bodyTooLarge(limit: Int64(limit)), framing, handle)
            }
            gather(framing, limit: limit, since: started) { body, _ in then(body) }
        case .repeatable(let limit, let then):
            if let length = framing.length, length > limit {
                return refuse(.bodyTooLarge(limit: Int64(limit)), framing, handle)
            }
            connection.knownHead = KnownHead(
                bytes, target: target, framing: framing, limit: limit, then: then)
            gather(framing, limit: limit, since: started, then)
        case .stream(let limit, let start):
            if let length = framing.length, length > limit {
                return refuse(.bodyTooLarge(limit: limit), framing, handle)
            }
            let reader = BodyReader()
            let outcome = start(reader)
            if case .answer(let response) = outcome {
                reader.stopReading()
                return drop(framing, thenAnswer: response, handle)
            }
            phase = .streaming(reader, limit: limit, outcome)
            watch(outcome)
            if framing.hasBody { connection.enter(.stream) }
        }
        return true
    }

    private func gather(
        _ framing: Framing, limit: Int, since started: UInt64, _ then: @escaping KnownHead.Continuation
    ) {
        body.reserveCapacity(min(Int(framing.length ?? 0), 64 << 10))
        phase = .gathering(limit: limit, started: started, then: then)
        if framing.hasBody { connection.enter(.body) }
    }

    private func refuse(_ reason: ServerRefusal, _ framing: Framing, _ handle: OpaquePointer) -> Bool {
        drop(framing, thenAnswer: core.service.refusal(reason), handle)
    }

    /// Gives an answer that does not depend on the body: after a short one, before one that the client holds back, and
    /// beside a long one.
    private func drop(_ framing: Framing, thenAnswer response: Response, _ handle: OpaquePointer) -> Bool {
        guard framing.hasBody else {
            phase = .deciding(.answer(response))
            return true
        }
        if framing.isAwaitingGo { return answer(response, on: handle) }
        connection.enter(.body)
        if let length = framing.length, length > core.limits.unwantedBodyBytes { return answerBeside(response) }
        phase = .dropping(response)
        return true
    }

    // MARK: - The body

    private func add(_ piece: UnsafeRawBufferPointer) -> Bool {
        received += Int64(piece.count)
        switch phase {
        case .dropping(let response):
            if received > core.limits.unwantedBodyBytes { return answerBeside(response) }
        case .gathering(let limit, _, _):
            if received > limit {
                body = []
                return answerBeside(core.service.refusal(.bodyTooLarge(limit: Int64(limit))))
            }
            body.append(contentsOf: piece)
        case .lingering: break
        case .head, .streaming, .deciding, .answered: return false
        }
        return true
    }

    /// Passes a piece to the reader, or holds the client up while there is no room.
    private func pass(
        _ piece: UnsafeRawBufferPointer, to reader: BodyReader, limit: Int64, _ outcome: Outcome
    ) -> Int? {
        if connection.progress.stage == .held { connection.enter(.stream) }
        // The answer is known: nobody reads on.
        if case .later(let pending) = outcome, pending.response != nil { reader.stopReading() }
        while true {
            connection.prepareToWait()
            if connection.isEnding { return nil }
            if reader.hasRoom(orWake: { [connection] in connection.wake() }) { break }
            connection.enter(.held)
            if connection.wait() { return piece.count }
            connection.enter(.stream)
        }
        received += Int64(piece.count)
        connection.noteStreamed(piece.count)
        if received > limit {
            reader.finish(Trouble(.cancelled, "the body is longer than \(limit) bytes"))
            abandon(outcome)
            return answerBeside(core.service.refusal(.bodyTooLarge(limit: limit))) ? 0 : nil
        }
        reader.add(piece)
        return 0
    }

    /// Answers in the middle of a body, when libmicrohttpd takes no answer, and reads on for as long as a body may take:
    /// a client that writes all of it before it reads still gets the answer.
    private func answerBeside(_ response: Response) -> Bool {
        phase = .lingering
        connection.enter(.body)
        guard Answer.write(response, to: connection.descriptor) else { return false }
        shutdown(connection.descriptor, Int32(SHUT_WR))
        return true
    }

    // MARK: - The answer

    private func finish(_ handle: OpaquePointer) -> Bool {
        switch phase {
        case .dropping(let response): phase = .deciding(.answer(response))
        case .gathering(_, let started, let then):
            let whole = body
            body = []
            phase = .deciding(then(whole, started))
        case .streaming(let reader, _, let outcome):
            reader.finish(nil)
            phase = .deciding(outcome)
        case .lingering: return false
        case .head, .deciding, .answered: break
        }
        guard case .deciding(let outcome) = phase else { return true }
        switch outcome {
        case .answer(let response): return answer(response, on: handle)
        case .again(let kept):
            phase = .answered
            connection.enter(.answer)
            return Answer.queue(kept, on: handle, closing: core.isStopping)
        case .later(let pending): return waitOrAnswer(pending, on: handle)
        case .events(let stream):
            phase = .answered
            connection.enter(.answer)
            return EventWriter.queue(stream, on: handle, connection: connection) { [core] in core.isStopping }
        }
    }

    private func waitOrAnswer(_ pending: PendingAnswer, on handle: OpaquePointer) -> Bool {
        watch(.later(pending))
        if connection.progress.stage != .working { connection.enter(.working) }
        while true {
            connection.prepareToWait()
            if connection.isEnding { return false }
            if let response = pending.response { return answer(response, on: handle) }
            if connection.wait() { return true }
        }
    }

    /// Asks to be woken when the answer is known, once.
    private func watch(_ outcome: Outcome) {
        guard !isWatched, case .later(let pending) = outcome else { return }
        isWatched = true
        pending.whenCompleted { [connection] in connection.wake() }
    }

    private func answer(_ response: Response, on handle: OpaquePointer) -> Bool {
        phase = .answered
        connection.enter(.answer)
        return Answer.queue(response, on: handle, closing: core.isStopping)
    }
}

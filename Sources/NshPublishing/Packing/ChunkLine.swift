internal import NshTrust

/// A chunk of a payload on its way, or the part of one that is there before the rest.
struct PayloadChunk {
    /// Bytes of files that lie in a chunk, in their order.
    enum FilePart {
        /// Bytes of the current file.
        case bytes(UnsafeRawBufferPointer)
        /// The current file is over.
        case end
    }

    /// The bytes, valid until the chunk has been through all hands.
    let bytes: UnsafeRawBufferPointer
    /// Where they lie in the payload.
    let offset: Int64
    /// Whether the chunk's first bytes are still to come.
    let lacksHead: Bool
    /// The files in it; empty when nobody asks for them.
    let files: [FilePart]
}

/// Threads through whose hands chunks go one after another, each with one thing to do with them.
final class ChunkLine {
    /// What is done with a chunk; of the same step one runs at a time.
    typealias Step = @Sendable (PayloadChunk) throws -> Void

    private let first: Conveyor<PayloadChunk?>
    private let threads: [HelperThread]
    private let failure: Locked<(any Error)?>
    private var isRunning = true

    /// Starts the threads; nil when there are none to be had.
    ///
    /// - Parameters:
    ///   - steps: What is done with each chunk, at least one thing.
    ///   - ring: Where the chunks lie; they are given back behind the last step.
    init?(_ steps: [Step], _ ring: SlotRing) {
        let failure = Locked<(any Error)?>(nil)
        var next: Conveyor<PayloadChunk?>?
        var threads: [HelperThread] = []
        for step in steps.reversed() {
            let (incoming, outgoing) = (Conveyor<PayloadChunk?>(count: ring.count), next)
            let thread = HelperThread {
                while let chunk = incoming.take() {
                    do {
                        if failure.withLock({ $0 == nil }) { try step(chunk) }
                    } catch {
                        failure.withLock { if $0 == nil { $0 = error } }
                    }
                    if let outgoing { outgoing.give(chunk) } else { ring.giveBack() }
                }
                outgoing?.give(nil)
            }
            guard let thread else {
                next?.give(nil)
                for thread in threads { thread.join() }
                return nil
            }
            threads.append(thread)
            next = incoming
        }
        guard let next else { return nil }
        (first, self.threads, self.failure) = (next, threads, failure)
    }

    /// Hands over a chunk.
    ///
    /// - Throws: What a step has thrown so far, perhaps for a chunk before.
    func give(_ chunk: PayloadChunk) throws {
        first.give(chunk)
        try check()
    }

    /// Ends the threads once they have done all that they were given.
    ///
    /// - Throws: What a step has thrown.
    func finish() throws {
        stop()
        try check()
    }

    /// Ends the threads, whatever they have to say.
    func stop() {
        guard isRunning else { return }
        isRunning = false
        first.give(nil)
        for thread in threads { thread.join() }
    }

    private func check() throws { if let error = failure.withLock({ $0 }) { throw error } }
}

/// Bridges between tasks and the threads on which this library blocks.
extension TrustCore {
    /// Runs blocking work on a thread of the library; cancelling the task stops it.
    ///
    /// - Throws: `NshError`.
    func run<Value: Sendable>(
        _ progress: NshProgress.Handler?, _ work: @escaping @Sendable (Monitor) throws -> Value
    ) async throws -> Value {
        do {
            return try await pool.runBlocking { flag in try work(Monitor(flag, progress)) }
        } catch {
            throw NshError(wrapping: error)
        }
    }

    /// Runs blocking work that reads a stream of bytes; cancelling the task stops both.
    ///
    /// - Throws: `NshError`.
    func run<Value: Sendable, Stream: AsyncSequence & Sendable>(
        _ progress: NshProgress.Handler?, feeding stream: Stream,
        _ work: @escaping @Sendable (ByteStreamInput, Monitor) throws -> Value
    ) async throws -> Value where Stream.Element == [UInt8] {
        let channel = ByteChannel()
        // Cancelled when this returns: a peer that sends nothing more must not keep a verdict back.
        async let _: Void = channel.feed(from: stream)
        defer { channel.close() }
        return try await withTaskCancellationHandler {
            try await run(progress) { monitor in try work(ByteStreamInput(channel), monitor) }
        } onCancel: {
            channel.close()
        }
    }

    /// Follows the decision log from after an event on.
    ///
    /// Asks the store twenty times a second, on a thread of the library, until the consumer leaves its loop.
    func follow(after sequence: Int64) -> AsyncThrowingStream<NshEvent, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task { [self] in
                var next = sequence
                do {
                    while !Task.isCancelled {
                        let page = try await pool.runBlocking { [store, next] _ in
                            try store.read { try $0.events(after: next, limit: 1000) }
                        }
                        for row in page.events { continuation.yield(NshEvent(row)) }
                        next = page.next
                        if page.events.isEmpty { try await Task.sleep(nanoseconds: 50_000_000) }
                    }
                    continuation.finish()
                } catch is CancellationError {
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: NshError(wrapping: error))
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}

extension Monitor {
    /// A monitor that a task's cancellation stops and a host's handler watches.
    fileprivate init(_ flag: CancellationFlag, _ progress: NshProgress.Handler?) {
        self.init(
            isCancelled: { flag.isRaised },
            progress: { done, total in progress?(NshProgress(done: done, total: total)) })
    }
}

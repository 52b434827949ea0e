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
    /// The store is read, on a thread of the library, when a process may have changed it; in between nothing runs.
    func follow(after sequence: Int64) -> AsyncThrowingStream<NshEvent, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task { [self] in
                var next = sequence
                do {
                    // Followed before it is read the first time: no change falls between.
                    var changes = followers.changes().makeAsyncIterator()
                    repeat {
                        while true {
                            let page = try await pool.runBlocking { [store, next] _ in
                                try store.read { try $0.events(after: next, limit: 1000) }
                            }
                            for row in page.events { continuation.yield(NshEvent(row)) }
                            next = page.next
                            if page.events.isEmpty { break }
                        }
                    } while await changes.next() != nil
                    guard Task.isCancelled else {
                        throw Trouble(.ioFailure, "the store cannot be followed: no thread can be started")
                    }
                    continuation.finish()
                } catch let trouble as Trouble where trouble.code == .cancelled {
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

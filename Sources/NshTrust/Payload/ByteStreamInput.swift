import Glibc

/// Package bytes that arrive piece by piece from a task, for a reader that blocks on a thread of its own.
///
/// At most two pieces wait, so that a stream of any length takes constant memory: the task is suspended until the reader
/// has caught up.
///
/// - Spec: STO-14
package final class ByteChannel: Sendable {
    private struct State {
        var pieces: [[UInt8]] = []
        var waiting: CheckedContinuation<Void, Never>?
        var end: End?
    }

    private enum End: Sendable {
        /// The stream has ended or failed; the pieces still count.
        case ofStream(Trouble?)
        /// The reader has gone; nothing is wanted any more.
        case ofReading
    }

    private static let maximumWaiting = 2
    private let state = Locked(State())
    /// Counts pieces and the end; used by both sides through its own thread-safe calls, freed with the channel.
    private nonisolated(unsafe) let arrivals: UnsafeMutablePointer<sem_t>

    /// Makes an empty channel.
    package init() {
        arrivals = .allocate(capacity: 1)
        sem_init(arrivals, 0, 0)
    }

    deinit {
        sem_destroy(arrivals)
        arrivals.deallocate()
    }

    /// Hands all pieces of a stream to the reader; returns when the stream has ended or the reader has gone.
    package func feed<Stream: AsyncSequence>(from stream: Stream) async where Stream.Element == [UInt8] {
        do {
            for try await piece in stream where !piece.isEmpty {
                guard await add(piece) else { return }
            }
            // A stream whose task is cancelled may end early without an error; that is not the end of a package.
            finish(Task.isCancelled ? Self.cancelled : nil)
        } catch is CancellationError {
            finish(Self.cancelled)
        } catch {
            finish(Trouble(.ioFailure, "the stream failed: \(Printable.escaped("\(error)"))"))
        }
    }

    /// Tells both sides that nothing is wanted any more: a reader that waits gets `cancelled`, not the end.
    package func close() {
        let waiting = state.withLock { state in
            state.end = .ofReading
            state.pieces = []
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume()
        sem_post(arrivals)
    }

    /// Waits for the next piece; nil at the end of the stream.
    ///
    /// - Throws: `ioFailure` when the stream failed, `cancelled` when nothing is wanted any more.
    fileprivate func next() throws(Trouble) -> [UInt8]? {
        while sem_wait(arrivals) != 0 {}  // only a signal interrupts it
        let (piece, waiting, end) = state.withLock { state in
            let piece = state.pieces.isEmpty ? nil : state.pieces.removeFirst()
            defer { state.waiting = nil }
            return (piece, state.waiting, state.end)
        }
        waiting?.resume()
        if let piece { return piece }
        sem_post(arrivals)  // the end stays the end
        guard case .ofStream(let trouble) = end else { throw Self.cancelled }
        if let trouble { throw trouble }
        return nil
    }

    private static let cancelled = Trouble(.cancelled, "the caller cancelled the operation")

    private func add(_ piece: [UInt8]) async -> Bool {
        let isFull: Bool? = state.withLock { state in
            if case .ofReading = state.end { return nil }
            state.pieces.append(piece)
            return state.pieces.count >= Self.maximumWaiting
        }
        guard let isFull else { return false }
        sem_post(arrivals)
        guard isFull else { return true }
        await withCheckedContinuation { continuation in
            let resumesNow = state.withLock { state in
                if state.end != nil || state.pieces.count < Self.maximumWaiting { return true }
                state.waiting = continuation
                return false
            }
            if resumesNow { continuation.resume() }
        }
        return true
    }

    private func finish(_ trouble: Trouble?) {
        state.withLock { state in
            if state.end == nil { state.end = .ofStream(trouble) }
        }
        sem_post(arrivals)
    }
}

/// The reading end of a `ByteChannel`.
package struct ByteStreamInput: PackageInput {
    private let channel: ByteChannel
    private var piece: ArraySlice<UInt8> = []

    /// Makes the reading end.
    package init(_ channel: ByteChannel) { self.channel = channel }

    /// Reads what has arrived, or waits for it.
    ///
    /// - Throws: `ioFailure` when the stream failed, `cancelled` when the caller has given up.
    package mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        if piece.isEmpty {
            guard let next = try channel.next() else { return 0 }
            piece = next[...]
        }
        let count = min(piece.count, buffer.count)
        piece.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        piece.removeFirst(count)
        return count
    }
}

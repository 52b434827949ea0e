import Glibc
import NshTrust

/// The body of a request as a package input: read by a thread that may wait, filled by the server as bytes arrive.
///
/// Holds a bounded number of bytes; when they are not taken the server stops reading from the client.
final class BodyReader: Sendable {
    private enum End: Sendable {
        case whole
        case failed(Trouble)
    }

    private struct State {
        var pieces: [[UInt8]] = []
        var waiting = 0
        var end: End?
        var isUnwanted = false
        var wakeServer: (@Sendable () -> Void)?
    }

    /// How many bytes wait at most before the server stops reading from the client.
    static let highWater = 1 << 20
    /// Up to how many bytes small pieces are put together.
    private static let pieceBytes = 128 << 10

    private let state = Locked(State())
    /// Counts pieces and the end; used by both sides through its own thread-safe calls, freed with the reader.
    private nonisolated(unsafe) let arrivals: UnsafeMutablePointer<sem_t>

    init() {
        arrivals = .allocate(capacity: 1)
        sem_init(arrivals, 0, 0)
    }

    deinit {
        sem_destroy(arrivals)
        arrivals.deallocate()
    }

    /// Waits for the next bytes; nil at the end of the body.
    ///
    /// - Throws: `cancelled` when the client has left before the end, or the server stops.
    func next() throws(Trouble) -> [UInt8]? {
        while sem_wait(arrivals) != 0 {}  // only a signal interrupts it
        let (piece, end, wake) = state.withLock { state in
            let piece = state.pieces.isEmpty ? nil : state.pieces.removeFirst()
            state.waiting -= piece?.count ?? 0
            let wake = state.waiting < Self.highWater / 2 ? state.wakeServer : nil
            if wake != nil { state.wakeServer = nil }
            return (piece, state.end, wake)
        }
        wake?()
        if let piece { return piece }
        sem_post(arrivals)  // the end stays the end
        switch end {
        case .whole: return nil
        case .failed(let trouble): throw trouble
        case nil: throw Trouble(.cancelled, "the body is not wanted any more")
        }
    }

    /// Drops what waits and what still comes: the answer does not depend on it.
    func stopReading() {
        let wake = state.withLock { state in
            state.isUnwanted = true
            state.pieces = []
            state.waiting = 0
            defer { state.wakeServer = nil }
            return state.wakeServer
        }
        wake?()
    }

    // MARK: - The server's side

    /// Adds bytes that arrived.
    ///
    /// Small pieces are put together: a client that sends a byte at a time must not cost more than its bytes.
    func add(_ bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        let isNewPiece = state.withLock { state in
            if state.isUnwanted || state.end != nil { return false }
            state.waiting += bytes.count
            let last = state.pieces.count - 1
            if last >= 0, state.pieces[last].count + bytes.count <= Self.pieceBytes {
                state.pieces[last] += bytes
                return false
            }
            state.pieces.append(bytes)
            return true
        }
        if isNewPiece { sem_post(arrivals) }
    }

    /// Whether there is room; when not, `wake` is called once when there is.
    func hasRoom(orWake wake: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            if state.waiting < Self.highWater { return true }
            state.wakeServer = wake
            return false
        }
    }

    /// Notes the end of the body: whole, or cut off because of a trouble.
    func finish(_ trouble: Trouble?) {
        state.withLock { state in
            if state.end == nil { state.end = trouble.map(End.failed) ?? .whole }
        }
        sem_post(arrivals)
    }
}

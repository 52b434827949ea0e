internal import NshTrust
import Synchronization

/// Copies a payload into its package on a thread of its own, while what lies there by then is verified.
///
/// A small one is copied before anything else happens.
///
/// Sendable: `copied` and `hasEnded` belong to the one who reads, everything else is made for several threads.
final class PayloadCopy: @unchecked Sendable {
    private let pieces = Conveyor<Result<Int64, any Error>>(count: 4)
    private let isStopping = Atomic(false)
    private var thread: HelperThread?
    private var copied: Int64 = 0
    private var hasEnded = false

    /// Bytes for which a thread is worth its start.
    private static let worthwhileBytes: Int64 = 1 << 20

    /// Starts copying.
    ///
    /// - Parameters:
    ///   - payload: What is copied; its file stays open until `finish`.
    ///   - place: Where it goes, in a file that stays open until `finish`.
    ///   - observer: May stop what is copied at once.
    /// - Throws: `ioFailure`, `storeFull`, `cancelled` for what was copied at once.
    init(of payload: FileSlice, to place: PayloadPlace, observer: PackagingObserver) throws {
        if payload.count >= Self.worthwhileBytes {
            thread = HelperThread { [unowned self] in run(payload, place) }
        }
        guard thread == nil else { return }
        var copied: Int64 = 0
        try payload.readAll { piece in
            if observer.isCancelled() { throw Trouble(.cancelled, "the caller cancelled the operation") }
            try place.write(piece, at: copied)
            copied += Int64(piece.count)
        }
        hasEnded = true
    }

    private func run(_ payload: FileSlice, _ place: PayloadPlace) {
        do {
            var copied: Int64 = 0
            try payload.readAll { piece in
                if isStopping.load(ordering: .acquiring) { throw Trouble(.cancelled, "nobody reads the copy") }
                try place.write(piece, at: copied)
                copied += Int64(piece.count)
                pieces.give(.success(Int64(piece.count)))
            }
            pieces.give(.success(0))
        } catch {
            pieces.give(.failure(error))
        }
    }

    /// Waits until more than the first `count` bytes are in place, or all are.
    ///
    /// - Parameter count: Bytes of the payload.
    /// - Returns: The bytes in place, no less than there are.
    /// - Throws: `ioFailure`, `storeFull` when the copy cannot go on.
    fileprivate func bytes(beyond count: Int64) throws -> Int64 {
        while copied <= count, !hasEnded { try takePiece().get() }
        return hasEnded ? .max : copied
    }

    /// Ends the thread; what it has not copied yet is not copied.
    func finish() {
        isStopping.store(true, ordering: .releasing)
        while !hasEnded { _ = takePiece() }
        thread?.join()
    }

    private func takePiece() -> Result<Void, any Error> {
        let piece = pieces.take()
        switch piece {
        case .success(let count) where count > 0: copied += count
        default: hasEnded = true
        }
        return piece.map { _ in }
    }
}

/// The payload of a package that is still being written, each byte handed out when it is there.
struct CopiedPayload: PackageInput {
    private var written: FileInput
    private let copy: PayloadCopy
    private var offset: Int64 = 0

    /// Makes an input.
    ///
    /// - Parameters:
    ///   - written: The package, at the first byte of its payload.
    ///   - copy: What writes it; used by nobody else until this has been read.
    init(_ written: FileInput, behind copy: PayloadCopy) {
        self.written = written
        self.copy = copy
    }

    /// The copying thread never waits for anybody but the reader.
    var allowsReadingAhead: Bool { true }

    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        let left = try copy.bytes(beyond: offset) - offset
        let count = try written.read(
            into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(Int(clamping: left))))
        offset += Int64(count)
        return count
    }
}

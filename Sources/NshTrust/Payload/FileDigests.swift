/// Holds the bytes of files against the digests in `SHA256SUMS`.
///
/// On the calling thread each file is decided when it ends. On a thread of its own the hashing stays behind: what it
/// refuses is thrown by a later call, and lies before everything that the caller has met meanwhile. So whoever stops,
/// for whatever reason, calls `finish` and lets its refusal go first.
///
/// - Spec: SUM-7
final class FileDigests {
    private var check: FileCheck
    private let thread: CheckingThread?

    /// Makes a check that decides at once.
    init(_ list: FileList) {
        check = FileCheck(list)
        thread = nil
    }

    /// Makes a check on a thread of its own, or one that decides at once when none can be started.
    ///
    /// - Parameters:
    ///   - list: The list.
    ///   - stream: Where the bytes come from; its pieces are given back when they have been hashed.
    init(_ list: FileList, behind stream: ArchiveStream) {
        check = FileCheck(list)
        thread = CheckingThread(list, giveBack: stream.giveBack)
        if let thread { stream.whenHandedOut = thread.giveBatch }
    }

    /// Adds bytes of the current file; on a thread they are used until their piece is given back.
    func add(_ bytes: UnsafeRawBufferPointer) {
        if let thread { thread.batch.append(.bytes(bytes)) } else { check.add(bytes) }
    }

    /// Ends the current file.
    ///
    /// - Throws: `manifestMismatch` when its digest is another.
    func endFile(_ entry: FileList.Entry) throws(Refusal) {
        if let thread { thread.batch.append(.end(entry)) } else { try check.end(entry) }
    }

    /// Waits until everything was hashed.
    ///
    /// - Throws: `manifestMismatch` for the first file whose digest is another.
    func finish() throws(Refusal) { try thread?.finish() }
}

/// Hashes one file after another.
private struct FileCheck {
    private let list: FileList
    private var hash = SHA256()

    init(_ list: FileList) { self.list = list }

    mutating func add(_ bytes: UnsafeRawBufferPointer) { hash.update(bytes) }

    mutating func end(_ entry: FileList.Entry) throws(Refusal) {
        let digest = hash.finish()
        guard list.hasDigest(digest, at: entry) else {
            throw Refusal(
                .manifestMismatch,
                "“\(Printable.escaped(list.path(of: entry)))” has digest \(digest), SHA256SUMS says \(list.hex(of: entry))"
            )
        }
    }
}

/// The thread that hashes files, and what it is handed: a batch for each piece of the stream.
private final class CheckingThread {
    enum Work {
        case bytes(UnsafeRawBufferPointer)
        case end(FileList.Entry)
    }

    private struct Batch {
        let works: [Work]
        let isLast: Bool
    }

    /// What is to be done with the current piece.
    var batch: [Work] = []
    private let batches: Conveyor<Batch>
    private let failure: Locked<Refusal?>
    private let thread: HelperThread

    /// Batches that wait.
    private static let waitingMax = 16

    init?(_ list: FileList, giveBack: @escaping @Sendable () -> Void) {
        let (batches, failure) = (Conveyor<Batch>(count: Self.waitingMax), Locked<Refusal?>(nil))
        let thread = HelperThread { Self.run(FileCheck(list), batches, failure, giveBack) }
        guard let thread else { return nil }
        (self.batches, self.failure, self.thread) = (batches, failure, thread)
    }

    /// Hands over what was gathered for a piece that has been handed out whole.
    ///
    /// - Throws: What was refused so far.
    func giveBatch() throws {
        batches.give(Batch(works: batch, isLast: false))
        batch.removeAll(keepingCapacity: true)
        if let refusal = failure.withLock({ $0 }) { throw refusal }
    }

    func finish() throws(Refusal) {
        batches.give(Batch(works: batch, isLast: true))
        thread.join()
        if let refusal = failure.withLock({ $0 }) { throw refusal }
    }

    private static func run(
        _ check: FileCheck, _ batches: Conveyor<Batch>, _ failure: Locked<Refusal?>,
        _ giveBack: @Sendable () -> Void
    ) {
        var check = check
        var hasFailed = false
        while true {
            let batch = batches.take()
            do throws(Refusal) {
                if !hasFailed { for work in batch.works { try work.run(&check) } }
            } catch {
                // The bytes behind it no longer count; their pieces still have to be given back.
                hasFailed = true
                failure.withLock { $0 = error }
            }
            // Behind the last batch no piece was handed out whole: one given back too often would be filled once more, with
            // nobody there to take it.
            if batch.isLast { return }
            giveBack()
        }
    }
}

extension CheckingThread.Work {
    fileprivate func run(_ check: inout FileCheck) throws(Refusal) {
        switch self {
        case .bytes(let bytes): check.add(bytes)
        case .end(let entry): try check.end(entry)
        }
    }
}

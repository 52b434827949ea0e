internal import NshTrust

/// Counts the bytes of all steps and tells the observer.
final class PackingProgress: Sendable {
    private let observer: PackagingObserver
    private let total: Int64
    private let done = Locked<Int64>(0)

    /// Starts counting.
    ///
    /// - Parameters:
    ///   - total: The bytes of all steps.
    ///   - observer: Who is told.
    init(total: Int64, observer: PackagingObserver) {
        self.total = total
        self.observer = observer
    }

    /// Counts more bytes, never above the total; on any thread, and the observer is told by one at a time.
    ///
    /// - Throws: `cancelled`.
    func advance(by count: Int) throws {
        if observer.isCancelled() { throw Trouble(.cancelled, "the caller cancelled the operation") }
        let (total, observer) = (total, observer)
        done.withLock { done in
            done = min(done + Int64(count), total)
            observer.progress(done, total)
        }
    }

    /// Returns a counter for the last step, which reports its own bytes and fills what is left of the total.
    ///
    /// - Parameter stepTotal: The bytes that the step will have reported at its end.
    /// - Returns: The counter; takes the bytes done so far.
    func remainder(_ stepTotal: Int64) -> @Sendable (Int64) -> Void {
        let before = done.withLock { $0 }
        let (left, total, observer) = (total - before, total, observer)
        return { count in
            let part = Double(min(count, stepTotal)) / Double(max(stepTotal, 1))
            observer.progress(before + Int64(part * Double(left)), total)
        }
    }
}

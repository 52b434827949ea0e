/// Tells any number of tasks that a store may have changed, with one thread that waits for all of them.
///
/// The thread runs while somebody follows; none is kept otherwise.
package final class StoreFollowers: Sendable {
    private struct Members: Sendable {
        var signals: [Int: AsyncStream<Void>.Continuation] = [:]
        var next = 0
        var watch: StoreWatch?
    }

    /// How long a wait lasts: a follower that left is noticed at once, this is for what nobody thought of.
    private static let waitSeconds = 60.0

    private let state: StateDirectory
    private let members = Locked(Members())
    private let thread = JobQueue(maximumThreads: 1)

    /// Follows the store of a state directory.
    package init(_ state: StateDirectory) { self.state = state }

    /// Starts to follow.
    ///
    /// - Returns: A sequence with an element when the store may have changed since the last one was taken; changes in
    ///   between are one element. Leaving it ends the following.
    package func changes() -> AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let (number, isFirst) = members.withLock { members in
                let isFirst = members.watch == nil
                if isFirst { members.watch = StoreWatch(state) }
                members.next += 1
                members.signals[members.next] = continuation
                return (members.next, isFirst)
            }
            continuation.onTermination = { [weak self] _ in self?.leave(number) }
            guard isFirst else { return }
            do {
                try thread.add { [self] in watch() }
            } catch {
                // Without a thread nobody would be told: they end, and whoever follows next tries again.
                endAll()
            }
        }
    }

    private func leave(_ number: Int) {
        members.withLock { members in
            members.signals[number] = nil
            if members.signals.isEmpty { members.watch?.wake() }
        }
    }

    private func endAll() {
        let signals = members.withLock { members in
            defer { members = Members(next: members.next) }
            return Array(members.signals.values)
        }
        for signal in signals { signal.finish() }
    }

    private func watch() {
        while let watch = watchInUse() {
            guard watch.wait(seconds: Self.waitSeconds) else { continue }
            for signal in members.withLock({ Array($0.signals.values) }) { signal.yield() }
        }
    }

    /// The watch, or nil, and none from then on, when nobody follows any more.
    private func watchInUse() -> StoreWatch? {
        members.withLock { members in
            if members.signals.isEmpty { members.watch = nil }
            return members.watch
        }
    }
}

import Glibc

/// Advisory locks of whole files, which belong to the open descriptor and go when it is closed, by a crash too.
package enum FileLock {
    /// Who else may hold the lock.
    package enum Sharing: Sendable {
        /// Others that share.
        case shared
        /// Nobody.
        case exclusive
    }

    /// Takes the lock on an open file or directory, or changes the one that its descriptor holds, without waiting.
    ///
    /// - Parameters:
    ///   - descriptor: The open file.
    ///   - sharing: Who else may hold it.
    ///   - what: The file, for messages.
    /// - Returns: Whether the lock was free.
    /// - Throws: What the system says.
    package static func take(
        _ descriptor: Int32, _ sharing: Sharing, _ what: @autoclosure () -> String
    ) throws(Trouble) -> Bool {
        while flock(descriptor, (sharing == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK: return false
            default: throw SystemCall.trouble(errno, "cannot lock \(what())")
            }
        }
        return true
    }

    /// Takes the lock, asking again until it is free or the time is over.
    ///
    /// - Returns: Whether it was had in time.
    /// - Throws: What the system says.
    package static func wait(
        _ descriptor: Int32, _ sharing: Sharing, seconds: Double, _ what: @autoclosure () -> String
    ) throws(Trouble) -> Bool {
        var backoff = Backoff(seconds: seconds)
        while true {
            if try take(descriptor, sharing, what()) { return true }
            guard backoff.pause() else { return false }
        }
    }
}

/// Pauses between attempts: short at first, longer later, never in step with others, until the time is over.
///
/// Who has waited for more than half of the time asks more and more often: among many who wait, the one that would give up
/// soon is the likeliest to find the lock free.
package struct Backoff: Sendable {
    private let deadline: UInt64
    private let total: UInt64
    private var longest = Self.shortest
    /// The bound of the first pause, and the least one there is, in nanoseconds.
    private static let shortest: UInt64 = 500_000
    /// The longest pause in nanoseconds.
    static let ceiling: UInt64 = 16_000_000
    /// The longest time: thirty years, which fit into nanoseconds.
    private static let longestSeconds = 1e9

    /// Starts the time.
    ///
    /// - Parameter seconds: How long attempts go on; 0 or less for one attempt, at most thirty years.
    package init(seconds: Double) {
        total = UInt64(min(max(seconds, 0), Self.longestSeconds) * 1_000_000_000)
        deadline = MonotonicTime.nanoseconds() + total
    }

    /// Sleeps for a while; returns false at once when the time is over.
    package mutating func pause() -> Bool {
        let now = MonotonicTime.nanoseconds()
        guard now < deadline else { return false }
        let left = deadline - now
        let most = min(longest, Self.bound(left: left, of: total))
        MonotonicTime.sleep(nanoseconds: min(UInt64.random(in: most / 4...most), left))
        longest = min(longest * 2, Self.ceiling)
        return true
    }

    /// The longest pause when so much of the time is left, in nanoseconds: it falls with the square of what is left.
    static func bound(left: UInt64, of total: UInt64) -> UInt64 {
        guard left < total / 2 else { return ceiling }
        let part = Double(left) / Double(total / 2)
        return max(UInt64(part * part * Double(ceiling)), shortest)
    }
}

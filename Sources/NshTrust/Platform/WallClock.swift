import Glibc

/// Where the time comes from: the system's clock, or one that a host or a test hands in.
///
/// A decision reads it once.
///
/// - Spec: POL-15
package struct WallClock: Sendable {
    private let read: @Sendable () -> Int64

    /// Makes a clock.
    ///
    /// - Parameter read: Returns whole seconds since 1970 UTC; called from any thread.
    package init(_ read: @escaping @Sendable () -> Int64) { self.read = read }

    /// The system's clock.
    package static let system = WallClock { Int64(time(nil)) }

    /// A clock that stands still.
    package static func fixed(_ seconds: Int64) -> WallClock { WallClock { seconds } }

    /// The time now, in whole seconds since 1970 UTC.
    package func now() -> Int64 { read() }
}

/// Time that only runs forward, for waiting; it says nothing about the date.
package enum MonotonicTime {
    /// Nanoseconds since some moment in the past.
    package static func nanoseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Seconds until a moment of this clock; 0 when it has passed.
    package static func seconds(until moment: UInt64) -> Double {
        let now = nanoseconds()
        return moment > now ? Double(moment - now) / 1e9 : 0
    }

    /// The moment of this clock in so many seconds, at most thirty years.
    package static func moment(in seconds: Double) -> UInt64 {
        nanoseconds() + UInt64(min(max(seconds, 0), 1e9) * 1e9)
    }

    /// Lets the calling thread sleep; a signal may end the sleep early.
    package static func sleep(nanoseconds: UInt64) {
        var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        nanosleep(&time, nil)
    }
}

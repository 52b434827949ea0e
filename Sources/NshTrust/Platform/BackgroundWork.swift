import CLinux
import Glibc

/// How threads that read whole packages stand back behind those that answer small questions.
///
/// They get a tenth of a processor that others want, and are interrupted at once by whoever wakes up: the kernel lets a
/// thread that asks for shorter pieces of time go before one in the middle of a longer piece. Where it does not know that,
/// or a sandbox forbids it, the niceness alone remains.
package enum BackgroundWork {
    private static let niceness: Int32 = 10
    /// The longest piece that the kernel grants; who says nothing gets one or two thousandths of a second.
    private static let nanoseconds: UInt64 = 100_000_000

    /// Makes the calling thread, and those that it starts, stand back.
    package static func begin() {
        let thread = __priority_which_t(PRIO_PROCESS.rawValue)
        // The whole process may have been started nicer still.
        let niceness = max(getpriority(thread, 0), Self.niceness)
        setpriority(thread, 0, niceness)
        _ = nsh_work_in_long_pieces(niceness, nanoseconds)
    }
}

import CLinux
import Glibc

/// The processors of this machine.
package enum Processors {
    /// How many there are to use, at least 1.
    package static var count: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

    /// The number of the one on which this thread runs, 0 or more; when the caller looks at it, it may be another already.
    ///
    /// No system call.
    package static var current: Int { Int(nsh_processor()) }
}

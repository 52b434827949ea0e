import Glibc

/// Who asked for a decision, for the log.
package struct Caller: Hashable, Sendable {
    /// The user id.
    package let uid: UInt32
    /// The process id.
    package let pid: Int32

    /// Makes a caller.
    package init(uid: UInt32, pid: Int32) {
        self.uid = uid
        self.pid = pid
    }

    /// This process and its user.
    package static var thisProcess: Caller { Caller(uid: getuid(), pid: getpid()) }
}

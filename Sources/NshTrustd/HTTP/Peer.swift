/// Who is at the other end of a connection, as the kernel recorded it when the connection was made.
///
/// Read once from the connection's descriptor; never looked up by process id later.
struct Peer: Hashable, Sendable {
    /// The effective user id.
    let uid: UInt32
    /// The effective group id.
    let gid: UInt32
    /// The process id; for the log only.
    let pid: Int32
    /// The supplementary group ids.
    let groups: [UInt32]

    /// Makes a peer.
    init(uid: UInt32, gid: UInt32, pid: Int32, groups: [UInt32]) {
        self.uid = uid
        self.gid = gid
        self.pid = pid
        self.groups = groups
    }
}

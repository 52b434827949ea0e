import CLinux
import Glibc

/// A user's rights to files, which a thread can take on for a while: what that user cannot open, the work cannot.
///
/// Only the calling thread is changed, by what the kernel calls the file-system user and group and by the thread's own
/// supplementary groups. The kernel refuses such a change without saying so, so each is read back.
///
/// - Spec: STO-16
package struct FileSystemRights: Hashable, Sendable {
    /// The user.
    package let uid: UInt32
    /// The primary group.
    package let gid: UInt32
    /// The supplementary groups, in any order.
    package let groups: [UInt32]

    /// Capabilities, by their number in the kernel.
    private enum Capability: UInt64 {
        case overrideFileModes = 1
        case readAnyFile = 2
        case setGroups = 6
        case setUsers = 7

        var bit: UInt64 { 1 << rawValue }
    }

    /// Names the rights of a user.
    package init(uid: UInt32, gid: UInt32, groups: [UInt32]) {
        self.uid = uid
        self.gid = gid
        self.groups = groups
    }

    /// Whether this process may take on others' rights: it is root, or may set users and groups.
    package static var canBeAssumed: Bool {
        let needed = Capability.setUsers.bit | Capability.setGroups.bit
        return geteuid() == 0 || capabilities().map { $0 & needed == needed } ?? false
    }

    /// Runs the body with these rights to files, on this thread, and takes the thread's own rights back afterwards.
    ///
    /// - Parameter body: What is done; it must stay on this thread.
    /// - Returns: What the body returns.
    /// - Throws: `ioFailure` when the rights cannot be taken on (the body has not run then), or what the body throws.
    package func perform<Value>(_ body: () throws -> Value) throws -> Value {
        let own = try Self.current()
        do {
            try assume()
            try requireNoGreaterRights()
        } catch {
            own.takeBack()
            throw error
        }
        defer { own.takeBack() }
        return try body()
    }

    /// The rights of this thread.
    private static func current() throws(Trouble) -> FileSystemRights {
        let count = try SystemCall.check("cannot read the groups of this thread") { nsh_thread_groups(0, nil) }
        var groups = [UInt32](repeating: 0, count: Int(count))
        let found = try SystemCall.check("cannot read the groups of this thread") { nsh_thread_groups(count, &groups) }
        groups.removeLast(groups.count - Int(found))
        return FileSystemRights(
            uid: nsh_file_system_user(.max), gid: nsh_file_system_group(.max), groups: groups)
    }

    /// Takes the rights on: groups first, for the user may be what allows to set them.
    private func assume() throws(Trouble) {
        _ = try SystemCall.check("cannot take on the groups of user \(uid)") {
            nsh_set_thread_groups(Int32(clamping: groups.count), groups)
        }
        guard nsh_file_system_group(gid) == gid, nsh_file_system_user(uid) == uid,
            try Self.current().groups.sorted() == groups.sorted()
        else { throw Trouble(.ioFailure, "cannot take on the rights of user \(uid)") }
    }

    /// Refuses to go on with capabilities that open files whatever their modes; the kernel drops those of root by itself.
    private func requireNoGreaterRights() throws(Trouble) {
        let overriding = Capability.overrideFileModes.bit | Capability.readAnyFile.bit
        guard uid == 0 || Self.capabilities().map({ $0 & overriding == 0 }) ?? false else {
            throw Trouble(.ioFailure, "this process reads files whatever their modes, so it cannot act as user \(uid)")
        }
    }

    /// Gives the thread these rights, which were its own, in the reverse order.
    private func takeBack() {
        let isBack =
            nsh_file_system_user(uid) == uid && nsh_file_system_group(gid) == gid
            && nsh_set_thread_groups(Int32(clamping: groups.count), groups) == 0
        // A thread with a stranger's rights would answer the next caller with them: nothing it did could be trusted.
        guard isBack else { fatalError("a thread could not give back a caller’s rights to files, so the process ends") }
    }

    /// This thread's effective capabilities; nil when the kernel does not tell them.
    private static func capabilities() -> UInt64? {
        var bits: UInt64 = 0
        return nsh_effective_capabilities(&bits) == 0 ? bits : nil
    }
}

import CLinux
import Glibc
import NshTrust

extension Peer {
    /// Makes the peer that the kernel recorded, unless that is nobody.
    ///
    /// Nobody is who cannot be told apart from others: no credentials, the user id that stands for none, the one that
    /// stands for every user that has no id in this namespace, and a process that has none here.
    ///
    /// - Parameters:
    ///   - recorded: What the kernel recorded; nil when it told nothing.
    ///   - groups: The supplementary groups; nil when the kernel did not tell them.
    ///   - overflowUser: The user id that stands for users without one.
    /// - Spec: API-2
    init?(recorded: nsh_peer?, groups: [UInt32]?, overflowUser: UInt32) {
        guard let recorded, let groups, recorded.user != .max, recorded.user != overflowUser, recorded.process > 0
        else {
            return nil
        }
        self.init(uid: recorded.user, gid: recorded.group, pid: recorded.process, groups: groups)
    }

    /// What the kernel recorded of a connection's other end; nil when it tells nothing.
    static func recorded(of descriptor: Int32) -> nsh_peer? {
        var recorded = nsh_peer()
        return nsh_peer(descriptor, &recorded) == 0 ? recorded : nil
    }

    /// The supplementary groups of a connection's other end; nil when the kernel does not tell them.
    static func groups(of descriptor: Int32) -> [UInt32]? {
        var capacity: Int32 = 64
        // The kernel allows 65,536 groups.
        while capacity <= 1 << 16 {
            var groups = [UInt32](repeating: 0, count: Int(capacity))
            let count = nsh_peer_groups(descriptor, &groups, capacity)
            if count >= 0 { return Array(groups.prefix(Int(count))) }
            guard count == -ERANGE else { return nil }
            capacity *= 2
        }
        return nil
    }

    /// The user id that the kernel shows for users that have none in this namespace.
    static func overflowUser() -> UInt32 {
        let usual: UInt32 = 65534
        let opened = nsh_openat(AT_FDCWD, "/proc/sys/kernel/overflowuid", O_RDONLY, 0)
        guard opened >= 0 else { return usual }
        let file = OwnedDescriptor(owning: opened)
        var digits = [UInt8](repeating: 0, count: 16)
        let count = Glibc.read(file.raw, &digits, digits.count)
        let text = String(decoding: digits.prefix(max(count, 0)).prefix { $0 > 0x20 }, as: UTF8.self)
        return UInt32(text) ?? usual
    }
}

/// Who may send a request.
enum Permission: String, CaseIterable, Sendable {
    /// Whoever reaches the socket.
    case any
    /// Engines, which run packages.
    case engine
    /// Administrators, who are engines, too.
    case admin
}

/// Which users and groups are engines and administrators.
///
/// - Spec: API-1
struct Grants: Hashable, Sendable {
    /// Users and groups that were given one permission.
    struct Holders: Hashable, Sendable {
        /// User ids.
        var users: Set<UInt32> = []
        /// Group ids, of primary and supplementary groups alike.
        var groups: Set<UInt32> = []

        /// Tells whether the peer is one of the users or in one of the groups.
        func include(_ peer: Peer) -> Bool {
            users.contains(peer.uid) || groups.contains(peer.gid) || !groups.isDisjoint(with: peer.groups)
        }
    }

    /// Who is an engine, besides administrators.
    var engines = Holders()
    /// Who is an administrator, besides root and the daemon's own user.
    var admins = Holders()
    /// The daemon's own user.
    var ownUser: UInt32

    /// Makes grants; by default to root and the daemon's own user only.
    init(engines: Holders = Holders(), admins: Holders = Holders(), ownUser: UInt32) {
        self.engines = engines
        self.admins = admins
        self.ownUser = ownUser
    }

    /// Tells whether a peer has a permission.
    func allow(_ peer: Peer, _ permission: Permission) -> Bool {
        switch permission {
        case .any: true
        case .engine: allow(peer, .admin) || engines.include(peer)
        case .admin: peer.uid == 0 || peer.uid == ownUser || admins.include(peer)
        }
    }
}

/// The rule that keeps web pages out.
///
/// - Spec: API-3
enum BrowserRule {
    /// Tells whether a request looks as if a web page had sent it: such a page must not reach the socket through a proxy
    /// that somebody runs, nor by a name that leads to it.
    static func refuses(_ head: RequestHead) -> Bool {
        if head.isFromBrowser { return true }
        guard let host = head.host, host != "localhost" else { return false }
        return !host.isEmpty && host.lowercased() != "localhost"
    }
}

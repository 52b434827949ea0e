import Glibc
import NshTrust

/// Users and groups by name.
enum Accounts {
    /// Returns a user's id: of a name in the user database, or of a number.
    ///
    /// - Throws: `badRequest` for a name that nobody has and for the ids of nobody in particular.
    static func user(_ name: String) throws(Trouble) -> UInt32 {
        if let id = try number(name) { return try usable(id, name, "user") }
        let id = try find(name, "user") { base, count in
            var (record, found) = (passwd(), UnsafeMutablePointer<passwd>?.none)
            let error = getpwnam_r(name, &record, base, count, &found)
            return (error, found?.pointee.pw_uid)
        }
        return try usable(id, name, "user")
    }

    /// Returns a group's id: of a name in the group database, or of a number.
    ///
    /// - Throws: `badRequest` for a name that no group has and for the ids of no group in particular.
    static func group(_ name: String) throws(Trouble) -> UInt32 {
        if let id = try number(name) { return try usable(id, name, "group") }
        let id = try find(name, "group") { base, count in
            var (record, found) = (Glibc.group(), UnsafeMutablePointer<Glibc.group>?.none)
            let error = getgrnam_r(name, &record, base, count, &found)
            return (error, found?.pointee.gr_gid)
        }
        return try usable(id, name, "group")
    }

    private static func number(_ name: String) throws(Trouble) -> UInt32? {
        guard !name.isEmpty, name.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        guard let number = UInt32(name) else {
            throw Trouble(.badRequest, "“\(Printable.escaped(name))” is no id: it is too large")
        }
        return number
    }

    private static func usable(_ id: UInt32, _ name: String, _ what: String) throws(Trouble) -> UInt32 {
        guard id != .max, id != Peer.overflowUser() else {
            throw Trouble(
                .badRequest,
                "\(what) “\(Printable.escaped(name))” (\(id)) stands for whoever has no id; it cannot be given rights")
        }
        return id
    }

    private static func find(
        _ name: String, _ what: String,
        _ lookUp: (UnsafeMutablePointer<CChar>, Int) -> (error: Int32, id: UInt32?)
    ) throws(Trouble) -> UInt32 {
        let shown = Printable.escaped(name)
        guard !name.utf8.contains(0) else { throw Trouble(.badRequest, "there is no \(what) “\(shown)”") }
        var count = 1 << 12
        while true {
            let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: count)
            defer { buffer.deallocate() }
            let (error, id) = lookUp(buffer, count)
            if let id { return id }
            switch error {
            case ERANGE where count < 1 << 22: count *= 4
            case EINTR: continue
            case 0, ENOENT, ESRCH: throw Trouble(.badRequest, "there is no \(what) “\(shown)” on this machine")
            default: throw SystemCall.trouble(error, "cannot look up \(what) “\(shown)”")
            }
        }
    }
}

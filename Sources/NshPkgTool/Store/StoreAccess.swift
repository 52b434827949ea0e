import Glibc
import NshTrust

/// A trust store that the `store` verbs look into or work on; no root is needed for that.
struct StoreAccess {
    /// The state directory.
    let state: StateDirectory
    /// The store in it.
    let store: SQLiteTrustStore

    /// Opens a store that exists.
    ///
    /// - Parameters:
    ///   - path: The state directory.
    ///   - isReadOnly: Whether nothing is made, migrated or removed.
    /// - Throws: `Trouble`: `noSuchFile` when there is no store, or a code of the store.
    init(_ path: String, isReadOnly: Bool) throws {
        // With write access a missing store would be made: an empty one is never what these verbs are after.
        let looking = try StateDirectory.open(path, access: .readOnly)
        if isReadOnly {
            state = looking
        } else {
            // Looking into one is not enough: what a crash left in it is undone with write access only.
            if try looking.databaseFiles().isEmpty { _ = try SQLiteTrustStore.open(in: looking) }
            state = try StateDirectory.open(path)
        }
        store = try SQLiteTrustStore.open(in: state)
    }

    /// An event of this process, now.
    func event(
        _ kind: NewEvent.Kind, app: AppID? = nil, build: Int64? = nil, digest: Digest? = nil, message: String
    ) -> NewEvent {
        NewEvent(
            kind, time: WallClock.system.now(), app: app, build: build, digest: digest, message: message, uid: getuid(),
            pid: getpid())
    }
}

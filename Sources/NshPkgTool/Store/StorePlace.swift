import NshCommandLine
import NshTrustWire

/// Where the trust store is that a command line means.
enum StorePlace: Hashable, Sendable {
    /// In this state directory.
    case state(String)
    /// Behind the daemon that listens on this socket.
    case socket(String)

    /// What a daemon decides by itself: its own roots and its own policy count.
    private static let daemonsOwn = [
        "root", "threshold", "revocations", "at", "at-signing", "runtime", "max-list-age",
    ]

    /// Finds the store: `--state` or `--socket`, else `$NSH_TRUST_STATE`, else `$NSH_TRUST_SOCKET`.
    ///
    /// - Parameter invocation: The command line.
    /// - Returns: The place; nil when none is named.
    /// - Throws: `UsageError` for options that say what a daemon decides by itself.
    static func named(by invocation: Invocation) throws(UsageError) -> StorePlace? {
        let (arguments, environment) = (invocation.arguments, invocation.environment)
        if let state = arguments.value(Option.state.name) { return .state(state) }
        var name = "--\(Option.socket.name)"
        var socket = arguments.value(Option.socket.name)
        if socket == nil {
            if let state = environment["NSH_TRUST_STATE"] { return .state(state) }
            name = "$\(DaemonSocket.environmentVariable)"
            socket = environment[DaemonSocket.environmentVariable]
        }
        guard let socket else { return nil }
        if let option = daemonsOwn.first(where: arguments.has) {
            throw UsageError(
                "--\(option) does not go with \(name): the daemon’s own roots and policy count",
                hint: "leave it out, or judge without the daemon: with --state DIR, or with neither of the two")
        }
        return .socket(socket)
    }

    /// Finds the store, for verbs that are nothing without one.
    ///
    /// - Parameter invocation: The command line.
    /// - Returns: The place.
    /// - Throws: `UsageError` when none is named, and as above.
    static func required(by invocation: Invocation) throws(UsageError) -> StorePlace {
        guard let place = try named(by: invocation) else {
            throw UsageError(
                "\(invocation.verb.name) needs --state DIR or --socket PATH: the trust store, or the daemon that keeps one",
                hint: "name the directory of the trust store with --state or $NSH_TRUST_STATE")
        }
        return place
    }
}

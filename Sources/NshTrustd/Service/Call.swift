import NshTrust
import NshTrustWire

/// A request that may be answered: its route, who sends it, what it says.
struct Call: Sendable {
    /// The route.
    let route: Route
    /// The route's place in the table.
    let number: Int
    /// Who asks.
    let peer: Peer
    /// Whether who asks is an administrator.
    let isAdmin: Bool
    /// The parameters.
    let arguments: QueryArguments
    /// When the request's head was looked at, on the monotonic clock.
    var started: UInt64
    /// The body, where the route takes a document.
    var body: [UInt8] = []
    /// The answer that is waited for, where another thread gives it.
    var pending: PendingAnswer?

    /// Stops work that nobody waits for any more.
    var monitor: Monitor {
        guard let pending else { return Monitor() }
        return Monitor(isCancelled: { pending.isAbandoned })
    }
}

/// Who answers the requests of a route, and on which thread.
enum Handler: Sendable {
    /// The server's own thread, from memory: must not wait for anything.
    case atOnce(@Sendable (TrustService, Call) throws -> Response)
    /// A thread of a lane.
    case queued(WorkQueue.LaneName, @Sendable (TrustService, Call) throws -> Response)
    /// The server's own thread decides; what it leaves for later is done elsewhere.
    case split(@Sendable (TrustService, Call) throws -> Outcome)
    /// A thread of the lane for how the package comes.
    case package(@Sendable (TrustService, Call, PackageSource) throws -> Response)
}

/// How a package comes to the daemon.
enum PackageSource: Sendable {
    /// By a path that the daemon opens.
    case path(String)
    /// As the body of the request.
    case body(BodyReader)
}

extension Peer {
    /// Who the decision log names.
    var caller: Caller { Caller(uid: uid, pid: pid) }
}

extension Response {
    /// An answer that is one JSON document.
    init(_ object: JSONObject) { self.init(status: 200, body: Array(JSONLine.text(object).utf8)) }
}

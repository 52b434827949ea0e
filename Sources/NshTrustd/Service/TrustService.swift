import NshTrust
import NshTrustWire

/// The daemon between a request's head and the library: who may ask, what is asked, and on which thread it is answered.
///
/// Contains no policy: it calls the library and shapes the answer.
final class TrustService: HTTPService {
    /// The library.
    let core: TrustCore
    /// How much is taken on.
    let settings: ServiceSettings
    /// What was read from the directories of roots and lists.
    let configuration: any ConfigurationStatus
    /// What an operator should know.
    let log: any ServiceLog
    /// The threads that may wait.
    let queue: WorkQueue
    /// Who follows the decision log.
    let events: EventHub
    /// What is counted.
    let metrics: Metrics
    /// Opens the paths that clients name.
    let files: CallersFiles
    /// The answers to `check` that say yes.
    let acceptedAnswers: AcceptedAnswers
    /// Keeps trees that were just opened until their engines have taken them.
    let leases = LeaseHolder()
    /// What `/metrics` says of the store.
    let storeFigures: StoreFigures
    /// The absolute path of the state directory.
    let stateDirectory: String
    private let connections = Locked<@Sendable () -> Int>({ 0 })
    /// When the service started, on the monotonic clock.
    let started = MonotonicTime.nanoseconds()
    /// The same moment in seconds since 1970 UTC.
    let startedAt = WallClock.system.now()
    private let grants: Grants
    private let complaints = Locked<[String: UInt64]>([:])

    /// Brings the service up; its threads start when there is work.
    ///
    /// - Parameters:
    ///   - core: The library, with its store open.
    ///   - grants: Who are engines and administrators.
    ///   - settings: How much is taken on.
    ///   - configuration: What was read from the directories of roots and lists.
    ///   - log: What an operator should know.
    /// - Throws: `ioFailure` when the system cannot tell where the state directory is.
    init(
        core: TrustCore, grants: Grants, settings: ServiceSettings, configuration: any ConfigurationStatus,
        log: any ServiceLog
    ) throws(Trouble) {
        self.core = core
        self.grants = grants
        self.settings = settings
        self.log = log
        self.configuration = configuration
        stateDirectory = String(try core.state.absolutePath(of: "").dropLast())
        acceptedAnswers = AcceptedAnswers(state: stateDirectory)
        queue = WorkQueue(workers: settings.workers)
        metrics = Metrics(routes: Routes.table.count)
        files = CallersFiles(ownUser: grants.ownUser, maximumBytes: settings.maximumPackageBytes)
        storeFigures = StoreFigures(core)
        events = EventHub(core, log: log) { [leases] in leases.dropExpired() }
    }

    /// Ends event streams' source and the threads, after the work that they have.
    ///
    /// To be called when the server has stopped and abandoned what it would not wait for.
    func stop() {
        events.stop()
        queue.stop()
        leases.dropAll()
    }

    /// The absolute path of an installed tree, for engines.
    func directory(of package: InstalledPackage) -> String { "\(stateDirectory)/\(package.tree)" }

    /// Says where the number of the server's connections comes from; asked from any thread.
    func countConnections(_ count: @escaping @Sendable () -> Int) { connections.withLock { $0 = count } }

    /// How many connections the server has.
    var connectionCount: Int {
        let count = connections.withLock { $0 }
        return count()
    }

    // MARK: - From head to plan

    /// Decides from a request's head what becomes of the request.
    ///
    /// The order is part of the contract: browsers, identity, path, method, permission, parameters, content type.
    func plan(_ head: RequestHead) -> RequestPlan {
        let started = MonotonicTime.nanoseconds()
        var number: Int?
        do throws(Problem) {
            let call = try admit(head, started, &number)
            return try plan(call, head)
        } catch {
            return .answer(finish(error.response, route: number, since: started))
        }
    }

    /// Makes the answer to what the server itself refuses.
    func refusal(_ reason: ServerRefusal) -> Response {
        var response = Problem(reason).response
        response.closesConnection = true
        return finish(response, route: nil, since: MonotonicTime.nanoseconds())
    }

    /// - Spec: API-2, API-3, API-4, API-6, API-7
    private func admit(_ head: RequestHead, _ started: UInt64, _ number: inout Int?) throws(Problem) -> Call {
        guard !BrowserRule.refuses(head) else {
            throw Problem(.forbidden, "requests of browsers, and to other hosts than localhost, are not answered")
        }
        guard let peer = head.peer else {
            throw Problem(.forbidden, "the system does not say which user you are")
        }
        guard let path = head.path else { throw Problem(.notFound, "there is no such resource") }
        let (found, values) = try Routes.find(head.method, path)
        number = found
        let route = Routes.table[found]
        guard grants.allow(peer, route.permission) else {
            throw Problem(
                .forbidden, "this request is for \(route.permission == .admin ? "administrators" : "engines")")
        }
        return Call(
            route: route, number: found, peer: peer, isAdmin: grants.allow(peer, .admin),
            arguments: try QueryArguments.read(head, route, path: values), started: started)
    }

    private func plan(_ call: Call, _ head: RequestHead) throws(Problem) -> RequestPlan {
        switch call.route.body {
        case .none:
            guard !head.hasBody else { throw Problem(.badRequest, "this request takes no body") }
            if case .atOnce(let handler) = call.route.handler {
                return .answer(answer(call) { try handler(self, call) })
            }
            return .gather(limit: 0) { [self] _ in outcome(call) }
        case .document(_, let limit):
            try require(["application/json"], head)
            return .repeatable(limit: limit) { [self] body, started in
                var call = call
                call.body = body
                call.started = started
                return outcome(call)
            }
        case .package:
            try require(["application/json"] + Self.packageTypes, head)
            if head.contentType == "application/json" {
                return .gather(limit: RequestBody.limit) { [self] body in
                    do throws(Problem) {
                        return package(call, .path(try RequestBody.path(body)))
                    } catch {
                        return .answer(finish(error.response, call))
                    }
                }
            }
            return .stream(limit: settings.maximumPackageBytes) { [self] body in package(call, .body(body)) }
        }
    }

    /// The media types by which a package is sent.
    static let packageTypes = ["application/vnd.nsh.package", "application/octet-stream"]

    private func require(_ types: [String], _ head: RequestHead) throws(Problem) {
        guard let type = head.contentType else {
            if !head.hasBody { throw Problem(.badRequest, "this request takes a body") }
            throw Problem(.unsupportedMediaType, "the request says no Content-Type; send \(types[0])")
        }
        guard types.contains(type) else {
            let shown = Printable.escaped(type, limit: 80)
            throw Problem(.unsupportedMediaType, "the body is “\(shown)”; send \(types.joined(separator: " or "))")
        }
    }

    // MARK: - From plan to answer

    private func outcome(_ call: Call) -> Outcome {
        switch call.route.handler {
        case .atOnce(let handler): return .answer(answer(call) { try handler(self, call) })
        case .queued(let lane, let handler): return queued(lane, call, handler)
        case .split(let handler):
            do {
                return try handler(self, call)
            } catch {
                return .answer(answer(call) { throw error })
            }
        case .package: return .answer(answer(call) { throw Trouble(.ioFailure, "a package was expected") })
        }
    }

    private func package(_ call: Call, _ source: PackageSource) -> Outcome {
        guard case .package(let handler) = call.route.handler else { return outcome(call) }
        switch source {
        case .path: return queued(.files, call) { service, call in try handler(service, call, source) }
        case .body(let body):
            return queued(.uploads, call) { service, call in
                defer { body.stopReading() }
                return try handler(service, call, source)
            }
        }
    }

    /// Has a request answered on a thread of a lane.
    func queued(
        _ lane: WorkQueue.LaneName, _ call: Call,
        _ handler: @escaping @Sendable (TrustService, Call) throws -> Response
    ) -> Outcome {
        let pending = PendingAnswer()
        var call = call
        call.pending = pending
        do throws(Problem) {
            try queue.add(to: lane, for: call.peer.uid) { [self, call] in
                // Nobody waits: neither for the answer nor to be counted.
                if pending.isAbandoned { return }
                pending.complete(answer(call) { try handler(self, call) })
            }
            return .later(pending)
        } catch {
            return .answer(finish(error.response, call))
        }
    }

    /// Runs a handler and makes an answer of whatever it throws, with a status that the route documents.
    private func answer(_ call: Call, _ handler: () throws -> Response) -> Response {
        do {
            return finish(try handler(), call)
        } catch {
            var problem = Problem(error)
            if !call.route.statuses.contains(problem.status) { problem.status = 500 }
            if problem.status == 500 { complain(problem, call.route) }
            return finish(problem.response, call)
        }
    }

    /// Logs what should not happen; the same code once in a while only, however often clients ask.
    private func complain(_ problem: Problem, _ route: Route) {
        guard isDue(problem.code) else { return }
        log.write(.error, "\(route.operation): \(problem.detail) (\(problem.code))")
    }

    /// Tells whether something that clients can cause may be logged again, and notes that it was.
    ///
    /// - Parameter kind: What it is; there must be few kinds.
    /// - Returns: False when it was said a moment ago.
    func isDue(_ kind: String) -> Bool {
        complaints.withLock { complaints in
            // Asked for here: no thread may meet a time that another one has noted after it looked at the clock.
            let now = MonotonicTime.nanoseconds()
            if let last = complaints[kind], now - last < Self.complaintInterval { return false }
            complaints[kind] = now
            return true
        }
    }

    /// How long the same complaint is not repeated, in nanoseconds.
    private static let complaintInterval: UInt64 = 10_000_000_000

    /// Counts an answer.
    func finish(_ response: Response, _ call: Call) -> Response {
        finish(response, route: call.number, since: call.started)
    }

    private func finish(_ response: Response, route: Int?, since started: UInt64) -> Response {
        metrics.answered(route: route, status: response.status, since: started)
        return response
    }
}

extension Problem {
    /// The problem of what the server itself refuses.
    init(_ reason: ServerRefusal) {
        switch reason {
        case .bodyTooLarge(let limit): self.init(.tooLarge, "the body may have \(limit) bytes at most")
        case .tooManyConnections:
            self.init(.overloaded, "there are too many connections; close some, or ask again soon")
        case .stopping: self.init(.stopping, "the daemon stops; ask again when it runs")
        case .malformed(let message): self.init(.badRequest, message)
        }
    }
}

import Glibc
import NshTrust
import NshTrustWire

/// What answers questions that change nothing.
enum Handlers {
    // MARK: - The daemon

    /// `GET /v1/health`: whether it can decide.
    static func health(_ service: TrustService, _ call: Call) throws -> Response {
        guard !service.core.roots.isEmpty else {
            throw Problem(unhealthy: Trouble(.noTrustedRoots, "no root key is trusted, so no package can be"))
        }
        if let trouble = service.events.trouble { throw Problem(unhealthy: trouble) }
        return healthy
    }

    private static let healthy = Response(["status": .text("ok")])

    /// `GET /v1/status`: what an operator wants to know.
    static func status(_ service: TrustService, _ call: Call) throws -> Response {
        let core = service.core
        let store = StoreStatusDocument(
            state: service.stateDirectory, try core.administration(by: call.peer.caller).status())
        let withdrawn = Set(store.roots.filter { $0.withdrawnBy != nil }.map(\.key))
        let configuration = service.configuration
        let document = StatusDocument(
            version: NshTrust.version,
            uptime: Int64((MonotonicTime.nanoseconds() - service.started) / 1_000_000_000), pid: Int64(getpid()),
            store: store,
            roots: configuration.rootFiles.map { root in
                StatusDocument.Root(
                    key: root.key, file: root.file, isWithdrawn: withdrawn.contains(root.key.hash.hex))
            },
            badRoots: configuration.badRoots.map { StatusDocument.BadFile(file: $0.file, message: $0.message) },
            badLists: configuration.badLists.map { StatusDocument.BadFile(file: $0.file, message: $0.message) })
        return Response(document.object)
    }

    /// `GET /metrics`: the same for a machine.
    static func metrics(_ service: TrustService, _ call: Call) throws -> Response {
        Response(status: 200, contentType: Exposition.contentType, body: Array(MetricsPage.text(of: service).utf8))
    }

    /// `GET /v1/openapi.json`: what all of this is.
    static func openAPI(_ service: TrustService, _ call: Call) throws -> Response {
        Response(status: 200, body: OpenAPI.document)
    }

    // MARK: - Packages

    /// `POST /v1/packages/verify`: judges a package whole and changes nothing.
    static func verify(_ service: TrustService, _ call: Call, _ source: PackageSource) throws -> Response {
        do {
            let report = try counted(.verify, service) {
                switch source {
                case .path(let path):
                    let file = try service.files.open(path, for: call.peer, state: service.core.state)
                    return try service.core.verify(file, monitor: call.monitor)
                case .body(let body):
                    var input = BodyInput(body)
                    return try service.core.verify(&input, monitor: call.monitor)
                }
            }
            return Response(VerdictDocument(accepted: report).answer)
        } catch let error as NshError where error.isRefusal {
            let document = VerdictDocument(
                .refused, code: error.code.rawValue, message: error.message, report: error.report)
            return Response(document.answer)
        }
    }

    /// `POST /v1/packages/open`: verifies a package, extracts it and accepts it.
    static func open(_ service: TrustService, _ call: Call, _ source: PackageSource) throws -> Response {
        let package = try counted(.open, service) {
            switch source {
            case .path(let path):
                let file = try service.files.open(path, for: call.peer, state: service.core.state)
                return try service.core.open(file, by: call.peer.caller, monitor: call.monitor)
            case .body(let body):
                var input = BodyInput(body)
                return try service.core.open(&input, length: nil, by: call.peer.caller, monitor: call.monitor)
            }
        }
        service.leases.keep(package)
        let directory = package.path
        return Response(
            VerdictDocument(
                accepted: package.report, directory: directory, lease: "\(directory)/\(TreeLease.fileName)"
            ).answer)
    }

    /// `POST /v1/packages/check`: whether an installed package may start now.
    static func check(_ service: TrustService, _ call: Call) throws -> Outcome {
        let digest = try RequestBody.digest(call.body)
        do {
            let package = try counted(.check, service) { try service.core.check(digest) }
            let answer = service.acceptedAnswers.answer(for: package.excerpt)
            service.metrics.answered(route: call.number, status: 200, since: call.started)
            return answer
        } catch let refusal as Refusal {
            // What it is that may not start is looked up for the answer only, where the store may be waited for.
            return service.queued(.queries, call) { service, _ in
                guard let package = try service.core.store.read({ try $0.installedPackage(digest) }) else {
                    throw Trouble(.notInstalled, "package \(digest.shortHex) is not installed here")
                }
                let directory = service.directory(of: package)
                return Response(CheckDocument(package, directory: directory, refusal: refusal).object)
            }
        }
    }

    /// Counts how a decision ends.
    private static func counted<Value>(
        _ operation: Metrics.Operation, _ service: TrustService, _ decide: () throws -> Value
    ) throws -> Value {
        do {
            let value = try decide()
            service.metrics.decided(operation, code: nil)
            return value
        } catch {
            service.metrics.decided(operation, code: Problem(error).code)
            throw error
        }
    }

    // MARK: - The store

    /// `GET /v1/apps`: a page of accepted builds.
    static func apps(_ service: TrustService, _ call: Call) throws -> Response {
        let limit = Int(call.arguments.integer("limit") ?? 100)
        // One more than asked for tells whether there is another page.
        let records = try service.core.administration(by: call.peer.caller).apps(
            after: call.arguments.appID("after"), limit: limit + 1)
        let page = records.prefix(limit)
        let next = records.count > limit ? page.last?.build.app.text : nil
        return Response(AppPageDocument(apps: page.map { document(of: $0, service) }, next: next).object)
    }

    /// `GET /v1/apps/{id}`: one of them.
    static func app(_ service: TrustService, _ call: Call) throws -> Response {
        guard let id = call.arguments.appID("id"),
            let record = try service.core.administration(by: call.peer.caller).app(id)
        else { throw Problem(.unknownApp, "no build of this app was accepted here") }
        return Response(document(of: record, service).object)
    }

    private static func document(of record: AppRecord, _ service: TrustService) -> AppDocument {
        AppDocument(
            accepted: NshAcceptedBuild(record.build),
            installed: record.installed.map { AppDocument.Installed($0, directory: service.directory(of: $0)) })
    }

    /// `GET /v1/revocations`: the lists in force.
    static func revocations(_ service: TrustService, _ call: Call) throws -> Response {
        let lists = try service.core.store.read { try $0.storedLists() }
        return Response(
            RevocationsDocument(lists: lists.map { RevocationListDocument(NshRevocationList($0)) }).object)
    }

    /// `GET /v1/events`: the decision log, a page of it or as it grows.
    ///
    /// - Spec: API-7
    static func events(_ service: TrustService, _ call: Call) throws -> Outcome {
        let arguments = call.arguments
        guard arguments.boolean("follow") else { return service.queued(.queries, call, eventPage) }
        let after = arguments.integer("after") ?? arguments.integer(Parameter.lastEventID)
        let stream = try service.events.follow(after: after, by: call.peer.uid, showsCaller: call.isAdmin)
        _ = service.finish(Response(status: 200, body: []), call)
        return .events(stream)
    }

    /// - Spec: API-7, API-8
    private static func eventPage(_ service: TrustService, _ call: Call) throws -> Response {
        let after = call.arguments.integer("after") ?? 0
        let limit = Int(call.arguments.integer("limit") ?? 100)
        let page = try service.core.administration(by: call.peer.caller).events(after: after, limit: limit)
        guard after == 0 || page.oldest <= after + 1 else {
            var problem = Problem(.eventsGone, "events between \(after) and \(page.oldest) are no longer kept")
            problem.oldest = page.oldest
            throw problem
        }
        let events = page.events.map { EventDocument(NshEvent($0), showsCaller: call.isAdmin) }
        return Response(EventPageDocument(events: events, next: page.next).object)
    }
}

extension Problem {
    /// The problem of a daemon that cannot decide: 503 whatever its status would be elsewhere.
    init(unhealthy trouble: Trouble) {
        self.init(trouble)
        status = 503
    }
}

import NshTrust

/// The API: every request that there is, in one table.
///
/// - Spec: API-6
enum Routes {
    /// All routes; the most frequent ones first.
    static let table: [Route] = [
        Route(
            .post, "/v1/packages/check", "checkPackage", for: .engine,
            body: .document(.digest, limit: RequestBody.limit), answer: .check, .split(Handlers.check),
            statuses: [200, 400, 403, 404, 413, 415, 500, 503],
            "May this installed package start now?"),
        Route(
            .post, "/v1/packages/open", "openPackage", for: .engine, body: .package, answer: .opened,
            .package(Handlers.open), statuses: [200, 400, 403, 404, 413, 415, 500, 503, 507],
            "Verify a package, extract it and accept its build."),
        Route(
            .post, "/v1/packages/verify", "verifyPackage", for: .any, body: .package, answer: .verdict,
            .package(Handlers.verify), statuses: [200, 400, 403, 404, 413, 415, 500, 503],
            "Judge a package whole, and change nothing."),
        Route(
            .get, "/v1/health", "health", for: .any, answer: .health, .atOnce(Handlers.health),
            statuses: [200, 400, 403, 503],
            "Can the daemon decide?"),
        Route(
            .get, "/v1/status", "status", for: .any, answer: .status, .queued(.queries, Handlers.status),
            statuses: [200, 400, 403, 500, 503],
            "Versions, roots, revocation lists, counts."),
        Route(
            .get, "/metrics", "metrics", for: .any, answer: .metrics, .queued(.queries, Handlers.metrics),
            statuses: [200, 400, 403, 500, 503],
            "The same and counters in Prometheus' text format."),
        Route(
            .get, "/v1/openapi.json", "openAPI", for: .any, answer: .openAPI, .atOnce(Handlers.openAPI),
            statuses: [200, 400, 403],
            "This document."),
        Route(
            .get, "/v1/apps", "listApps", for: .any,
            parameters: [
                Parameter(name: "after", kind: .appID, summary: "Only apps behind this id."),
                Parameter(
                    name: "limit", kind: .integer(1...1000), summary: "The most apps; 100 unless said otherwise."),
            ],
            answer: .apps, .queued(.queries, Handlers.apps), statuses: [200, 400, 403, 500, 503],
            "A page of the apps that have an accepted build."),
        Route(
            .get, "/v1/apps/{id}", "getApp", for: .any,
            parameters: [Parameter(name: "id", place: .path, kind: .appID, summary: "The app's id.")],
            answer: .app, .queued(.queries, Handlers.app), statuses: [200, 400, 403, 404, 500, 503],
            "An app's accepted build and what of it is installed."),
        Route(
            .get, "/v1/revocations", "listRevocations", for: .any, answer: .revocations,
            .queued(.queries, Handlers.revocations), statuses: [200, 400, 403, 500, 503],
            "The revocation lists in force."),
        Route(
            .post, "/v1/revocations", "applyRevocations", for: .admin,
            parameters: [Parameter(name: "dryRun", kind: .boolean, summary: "Say only what would change.")],
            body: .document(.envelope, limit: Int(Limits().revocationListBytes)), answer: .revocationUpdate,
            .queued(.upkeep, AdminHandlers.applyRevocations), statuses: [200, 400, 403, 413, 415, 500, 503, 507],
            "Apply a revocation list."),
        Route(
            .get, "/v1/events", "listEvents", for: .any,
            parameters: [
                Parameter(
                    name: "after", kind: .integer(0...JSONReader.maximumInteger),
                    summary: "Only events with a greater number; with `follow` and without this, only new ones."),
                Parameter(
                    name: "limit", kind: .integer(1...1000),
                    summary: "The most events; 100 unless said otherwise. What is followed has no pages."),
                Parameter(
                    name: "follow", kind: .boolean,
                    summary: "Keep the connection, and send events as they happen (server-sent events)."),
                Parameter(
                    name: Parameter.lastEventID, place: .header, kind: .integer(0...JSONReader.maximumInteger),
                    summary: "What `after` says, from a client that connects again; `after` counts when both are there."
                ),
            ],
            answer: .events, .split(Handlers.events), statuses: [200, 400, 403, 410, 500, 503],
            "The decision log."),
        Route(
            .post, "/v1/store/check", "checkStore", for: .admin, body: .document(.empty, limit: RequestBody.limit),
            answer: .storeCheck, .queued(.upkeep, AdminHandlers.check),
            statuses: [200, 400, 403, 413, 415, 500, 503],
            "Look for damage in the store and in every installed file."),
        Route(
            .post, "/v1/store/prune", "pruneStore", for: .admin, body: .document(.prune, limit: RequestBody.limit),
            answer: .pruning, .queued(.upkeep, AdminHandlers.prune),
            statuses: [200, 400, 403, 413, 415, 500, 503, 507],
            "Remove the trees of older builds that no process uses."),
        Route(
            .post, "/v1/store/remove", "removeApp", for: .admin, body: .document(.app, limit: RequestBody.limit),
            answer: .pruning, .queued(.upkeep, AdminHandlers.remove),
            statuses: [200, 400, 403, 404, 413, 415, 500, 503, 507],
            "Remove an app's trees; its accepted build stays."),
        Route(
            .post, "/v1/store/forget-root", "forgetRoot", for: .admin, body: .document(.key, limit: RequestBody.limit),
            answer: .key, .queued(.upkeep, AdminHandlers.forgetRoot),
            statuses: [200, 400, 403, 404, 413, 415, 500, 503, 507],
            "Take a root's revocation lists out of force."),
        Route(
            .get, "/v1/store/export", "exportStore", for: .admin, answer: .export,
            .queued(.upkeep, AdminHandlers.export), statuses: [200, 400, 403, 500, 503],
            "Accepted builds and revocation lists, for a new machine."),
        Route(
            .post, "/v1/store/import", "importStore", for: .admin,
            body: .document(.export, limit: importLimit), answer: .importResult,
            .queued(.upkeep, AdminHandlers.importStore), statuses: [200, 400, 403, 413, 415, 500, 503, 507],
            "Take over what another store exported; nothing is ever lowered."),
    ]

    /// Bytes of an export that is sent; longer ones are for the tool.
    private static let importLimit = 512 << 20

    /// Finds the route of a request.
    ///
    /// - Parameters:
    ///   - method: The method as it was sent.
    ///   - path: The segments of the path.
    /// - Returns: The route's place in the table, and what stands in the variable places of the path.
    /// - Throws: `notFound`; `methodNotAllowed` with the methods that there are.
    /// - Spec: API-4
    static func find(
        _ method: String, _ path: [String]
    ) throws(Problem) -> (number: Int, values: [(name: String, value: String)]) {
        var allowed: [Route.Method] = []
        for (number, route) in table.enumerated() {
            guard let values = route.match(path) else { continue }
            if route.method.rawValue == method { return (number, values) }
            allowed.append(route.method)
        }
        guard !allowed.isEmpty else { throw Problem(.notFound, "there is no such resource") }
        var problem = Problem(.methodNotAllowed, "this resource has no such method")
        problem.allowed = allowed
        throw problem
    }
}

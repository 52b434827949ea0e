package import NshTrust
package import NshTrustWire

extension DaemonAPI {
    /// Asks whether the daemon can decide.
    ///
    /// - Throws: `NshError` with the reason when it cannot.
    package func health(monitor: Monitor = Monitor()) throws {
        _ = try object(.get("/v1/health"), "nsh-trustd's health", monitor: monitor)
    }

    /// Asks for everything that an operator wants to see.
    package func status(monitor: Monitor = Monitor()) throws -> StatusDocument {
        try StatusDocument(object(.get("/v1/status"), "nsh-trustd's status", monitor: monitor))
    }

    /// Asks for a page of apps with a greater id, at most 1000.
    package func apps(after app: String?, limit: Int, monitor: Monitor = Monitor()) throws -> AppPageDocument {
        let after = app.map { "&after=" + HTTPRequest.encoded($0) } ?? ""
        let request = HTTPRequest.get("/v1/apps?limit=\(min(max(limit, 1), 1000))\(after)")
        return try AppPageDocument(object(request, "nsh-trustd's list of apps", monitor: monitor))
    }

    /// Asks for an app; nil when no build of it was accepted.
    package func app(_ id: String, monitor: Monitor = Monitor()) throws -> AppDocument? {
        do {
            let request = HTTPRequest.get("/v1/apps/" + HTTPRequest.encoded(id))
            return try AppDocument(object(request, "nsh-trustd's answer about an app", monitor: monitor))
        } catch let error as NshError where error.code == .unknownApp {
            return nil
        }
    }

    /// Asks for the lists in force.
    package func revocations(monitor: Monitor = Monitor()) throws -> RevocationsDocument {
        try RevocationsDocument(object(.get("/v1/revocations"), "nsh-trustd's lists", monitor: monitor))
    }

    /// Has a list applied, given its envelope, or asks what that would do.
    package func applyRevocations(
        _ bytes: [UInt8], isRehearsal: Bool, monitor: Monitor = Monitor()
    ) throws -> RevocationUpdateDocument {
        let request = HTTPRequest.post("/v1/revocations?dryRun=\(isRehearsal)", bytes, isRepeatable: false)
        return try RevocationUpdateDocument(
            object(request, "nsh-trustd's answer about a list", seconds: Self.slowSeconds, monitor: monitor))
    }

    /// Asks for a page of the decision log: events with a greater number, at most 1000.
    package func events(after sequence: Int64, limit: Int, monitor: Monitor = Monitor()) throws -> EventPage {
        let request = HTTPRequest.get("/v1/events?after=\(sequence)&limit=\(min(max(limit, 1), 1000))")
        let patience = Patience(silence: Self.quickSeconds, isCancelled: monitor.isCancelled)
        return try exchange(request, patience) { head, connection in
            let body = try body(connection, patience)
            let reader = try WireReader(parsing: body, subject: "nsh-trustd's events")
            if head.status == 410, let oldest = try ProblemDocument(reader).oldest { return .gone(oldest: oldest) }
            guard head.status == 200 else { throw Self.error(head, body) }
            return .page(try EventPageDocument(reader))
        }
    }

    /// A page of the decision log, or why there is none.
    package enum EventPage: Sendable {
        /// The rows.
        case page(EventPageDocument)
        /// Rows after the number that was asked for are no longer kept; the oldest that is.
        case gone(oldest: Int64)
    }

    // MARK: - Administration

    /// Has the store and all that is installed looked through for damage.
    package func checkStore(monitor: Monitor = Monitor()) throws -> StoreCheckDocument {
        let request = HTTPRequest.post("/v1/store/check", JSONObject(), isRepeatable: true)
        return try StoreCheckDocument(
            object(request, "nsh-trustd's answer about its store", seconds: Self.slowSeconds, monitor: monitor))
    }

    /// Has the trees of older builds removed.
    ///
    /// Of each app 1 … 1000 installed builds stay. A rehearsal removes nothing.
    package func prune(keeping builds: Int, isRehearsal: Bool, monitor: Monitor = Monitor()) throws -> PruningDocument {
        let body: JSONObject = ["keep": .integer(Int64(builds)), "dryRun": .boolean(isRehearsal)]
        return try pruning(.post("/v1/store/prune", body, isRepeatable: false), monitor)
    }

    /// Has all trees of an app removed.
    package func remove(app: String, monitor: Monitor = Monitor()) throws -> PruningDocument {
        try pruning(.post("/v1/store/remove", ["app": .text(app)], isRepeatable: false), monitor)
    }

    private func pruning(_ request: HTTPRequest, _ monitor: Monitor) throws -> PruningDocument {
        try PruningDocument(
            object(request, "nsh-trustd's answer about trees", seconds: Self.slowSeconds, monitor: monitor))
    }

    /// Has a root's lists taken out of force; tells whether there was one.
    package func forgetRoot(_ issuer: Digest, monitor: Monitor = Monitor()) throws -> Bool {
        do {
            let request = HTTPRequest.post("/v1/store/forget-root", ["key": .text(issuer.hex)], isRepeatable: false)
            _ = try object(request, "nsh-trustd's answer about a root", monitor: monitor)
            return true
        } catch let error as NshError where error.code == .notInstalled {
            return false
        }
    }

    /// Asks for floors and lists, for another machine.
    package func export(monitor: Monitor = Monitor()) throws -> StoreDocument {
        let bytes = try bytes(
            .get("/v1/store/export"), seconds: Self.slowSeconds, limit: Self.maximumExport, monitor: monitor)
        do {
            return try StoreDocument(parsing: bytes)
        } catch {
            throw Trouble(.ioFailure, error.message)
        }
    }

    /// Has another store's floors and lists taken over.
    package func importStore(_ document: StoreDocument, monitor: Monitor = Monitor()) throws -> ImportDocument {
        let request = HTTPRequest.post("/v1/store/import", document.serialized, isRepeatable: false)
        return try ImportDocument(
            object(request, "nsh-trustd's answer about an import", seconds: Self.slowSeconds, monitor: monitor))
    }

    /// Bytes that an export may have.
    package static let maximumExport = 1 << 30
}

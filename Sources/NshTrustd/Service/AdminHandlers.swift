import NshTrust
import NshTrustWire

/// What administrators do to the store.
enum AdminHandlers {
    /// `POST /v1/revocations`: a list comes into force.
    static func applyRevocations(_ service: TrustService, _ call: Call) throws -> Response {
        let isRehearsal = call.arguments.boolean("dryRun")
        let update = try service.core.applyRevocations(call.body, by: call.peer.caller, dryRun: isRehearsal)
        return Response(RevocationUpdateDocument(update, isRehearsal: isRehearsal).object)
    }

    /// `POST /v1/store/check`: looks for damage.
    static func check(_ service: TrustService, _ call: Call) throws -> Response {
        try RequestBody.empty(call.body)
        let monitor = call.monitor
        let result = try administration(service, call).check(isCancelled: monitor.isCancelled)
        try monitor.check()
        return Response(StoreCheckDocument(result).object)
    }

    /// `POST /v1/store/prune`: trees of older builds go.
    static func prune(_ service: TrustService, _ call: Call) throws -> Response {
        let (keep, isRehearsal) = try RequestBody.prune(call.body)
        let pruning = try administration(service, call).prune(keeping: keep, isRehearsal: isRehearsal)
        return Response(PruningDocument(pruning, state: service.stateDirectory).object)
    }

    /// `POST /v1/store/remove`: the trees of an app go, its accepted build stays.
    static func remove(_ service: TrustService, _ call: Call) throws -> Response {
        let pruning = try administration(service, call).remove(try RequestBody.app(call.body))
        return Response(PruningDocument(pruning, state: service.stateDirectory).object)
    }

    /// `POST /v1/store/forget-root`: the lists of a root go out of force.
    static func forgetRoot(_ service: TrustService, _ call: Call) throws -> Response {
        let key = try RequestBody.key(call.body)
        guard try administration(service, call).forgetRoot(key) else {
            throw Trouble(.notInstalled, "no list of root \(key.shortHex) is in force here")
        }
        return Response(["key": .text(key.hex)])
    }

    /// `GET /v1/store/export`: what a new machine should not forget.
    static func export(_ service: TrustService, _ call: Call) throws -> Response {
        Response(status: 200, body: try administration(service, call).export().serialized)
    }

    /// `POST /v1/store/import`: takes that over.
    ///
    /// - Spec: API-9, STO-3
    static func importStore(_ service: TrustService, _ call: Call) throws -> Response {
        let document = try StoreDocument(parsing: call.body)
        do {
            try service.core.policy.requireThreshold(atLeast: document.rootThreshold)
        } catch {
            // Taken over, it would leave a store that this daemon itself may not use any more.
            throw Problem(
                .forbidden,
                "the other store was used with \(document.rootThreshold) signing roots, more than this daemon asks for; "
                    + "start it with --threshold \(document.rootThreshold) first")
        }
        let result = try service.core.importStore(document, by: call.peer.caller)
        return Response(ImportDocument(result).object)
    }

    private static func administration(_ service: TrustService, _ call: Call) -> StoreAdministration {
        service.core.administration(by: call.peer.caller)
    }
}

/// What a document in a request is; the schema is in `OpenAPISchemas`.
enum DocumentShape: String, CaseIterable, Sendable {
    case path = "PathRequest"
    case digest = "DigestRequest"
    case app = "AppRequest"
    case key = "KeyRequest"
    case prune = "PruneRequest"
    case empty = "EmptyRequest"
    case envelope = "Envelope"
    case export = "StoreExport"
}

/// What a successful answer is; the schema is in `OpenAPISchemas`.
enum AnswerShape: String, CaseIterable, Sendable {
    case check = "CheckAnswer"
    case opened = "OpenedAnswer"
    case verdict = "VerdictAnswer"
    case health = "Health"
    case status = "Status"
    case metrics = "Metrics"
    case openAPI = "OpenAPI"
    case apps = "AppPage"
    case app = "App"
    case revocations = "Revocations"
    case revocationUpdate = "RevocationUpdate"
    case events = "EventPage"
    case storeCheck = "StoreCheck"
    case pruning = "Pruning"
    case key = "Key"
    case export = "StoreExport"
    case importResult = "ImportResult"
}

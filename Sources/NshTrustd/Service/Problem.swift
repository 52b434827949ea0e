import NshTrust
import NshTrustWire

/// Why a request is not answered as asked: what becomes an RFC 9457 document.
struct Problem: Error, Sendable {
    /// The codes that the daemon has besides those of the library; the raw values never change.
    enum Code: String, CaseIterable, Sendable {
        case badRequest
        case eventsGone
        case forbidden
        case methodNotAllowed
        case notFound
        case overloaded
        case stopping
        case tooLarge
        case unknownApp
        case unsupportedMediaType
    }

    /// The stable code.
    var code: String
    /// The HTTP status.
    var status: Int
    /// One line for people, escaped.
    var detail: String
    /// The member of the body, the parameter or the header that is wrong.
    var member: String?
    /// The oldest event still kept.
    var oldest: Int64?
    /// What was established of a package before it was refused.
    var report: NshReport?
    /// The methods that the path has; becomes `Allow`.
    var allowed: [Route.Method] = []

    /// After how many seconds a client that met a passing trouble should ask again.
    static let retrySeconds = 1

    /// Makes the problem of one of the daemon's codes.
    init(_ code: Code, _ detail: String, member: String? = nil) {
        self.init(code: code.rawValue, detail: detail)
        self.member = member
    }

    /// Makes the problem of whatever a handler threw; what it cannot be is `ioFailure`.
    init(_ error: any Error) {
        if let problem = error as? Problem {
            self = problem
            return
        }
        let failure = NshError(wrapping: error)
        // Work is cancelled when its client has left, who reads nothing of this, or when the server stops.
        if failure.code == .cancelled {
            self.init(.stopping, "the daemon stops; ask again when it runs")
            return
        }
        self.init(code: failure.code.rawValue, detail: failure.message)
        report = failure.report
    }

    private init(code: String, detail: String) {
        self.code = code
        self.detail = detail
        status = Self.status(of: code)
    }

    /// The HTTP status of each code, and the only place that says so.
    static func status(of code: String) -> Int {
        if RefusalCode(rawValue: code) != nil { return 403 }
        if let own = Code(rawValue: code) {
            return switch own {
            case .badRequest: 400
            case .forbidden: 403
            case .notFound, .unknownApp: 404
            case .methodNotAllowed: 405
            case .eventsGone: 410
            case .tooLarge: 413
            case .unsupportedMediaType: 415
            case .overloaded, .stopping: 503
            }
        }
        return switch TroubleCode(rawValue: code) {
        case .badRequest, .notARegularFile: 400
        case .noSuchFile, .notInstalled: 404
        case .noTrustedRoots, .storeBusy: 503
        case .storeFull: 507
        case .alreadyRun, .cancelled, .exists, .ioFailure, .storeCorrupt, .storeNewer, .storeUnsafe, .wrongPassphrase,
            nil:
            500
        }
    }

    /// The answer.
    var response: Response {
        var headers: [(name: String, value: String)] = []
        if status == 503 { headers.append(("Retry-After", String(Self.retrySeconds))) }
        if !allowed.isEmpty { headers.append(("Allow", allowed.map(\.rawValue).joined(separator: ", "))) }
        let document = ProblemDocument(
            status: status, title: Self.phrase(of: status), code: code, detail: detail, member: member, oldest: oldest,
            report: report)
        return Response(
            status: status, contentType: ProblemDocument.contentType, body: Array(JSONLine.text(document.object).utf8),
            headers: headers)
    }

    /// The phrases of RFC 9110 for the statuses that are given here.
    static func phrase(of status: Int) -> String {
        switch status {
        case 200: "OK"
        case 400: "Bad Request"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 410: "Gone"
        case 413: "Content Too Large"
        case 415: "Unsupported Media Type"
        case 503: "Service Unavailable"
        case 507: "Insufficient Storage"
        default: "Internal Server Error"
        }
    }
}

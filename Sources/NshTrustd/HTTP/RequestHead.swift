/// What a request says before its body.
struct RequestHead: Sendable {
    /// The method as it was sent, such as `POST`.
    var method: String
    /// The segments of the path, percent-decoded one by one after they were split at `/`; nil when the path is not
    /// absolute, holds an empty segment, `.` or `..`, or does not decode to UTF-8.
    var path: [String]?
    /// The parameters of the query in their order, percent-decoded; nil when they do not decode to UTF-8.
    var query: [(name: String, value: String)]?
    /// `Content-Type` without parameters, lower case; nil when there is none.
    var contentType: String?
    /// Whether a body follows.
    var hasBody: Bool
    /// `Host`; nil when there is none.
    var host: String?
    /// Whether the request has an `Origin` or a `Sec-Fetch-*` header, as browsers send them.
    var isFromBrowser: Bool
    /// `Last-Event-ID`; nil when there is none.
    var lastEventID: String?
    /// Who asks; nil when the kernel named nobody who can be told apart from others.
    var peer: Peer?
}

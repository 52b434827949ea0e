/// An answer to a request.
struct Response: Sendable {
    /// The HTTP status.
    var status: Int
    /// The media type of the body.
    var contentType: String
    /// The body.
    var body: [UInt8]
    /// Further headers in their order.
    var headers: [(name: String, value: String)]
    /// Whether the connection ends after it.
    var closesConnection: Bool

    /// Makes an answer.
    init(
        status: Int, contentType: String = "application/json", body: [UInt8],
        headers: [(name: String, value: String)] = [], closesConnection: Bool = false
    ) {
        self.status = status
        self.contentType = contentType
        self.body = body
        self.headers = headers
        self.closesConnection = closesConnection
    }
}

/// How much of the server one client, and all of them together, may take.
struct ServerLimits: Sendable {
    /// How many connections there may be at once, at least 1; fewer when the process may not open enough descriptors.
    var connections = 2048
    /// How many of them one user may have; nil for half of them.
    var connectionsPerUser: Int?
    /// How many bytes a connection's memory has for a request's head, at least 4096.
    var headBytes = 8 << 10
    /// How many bytes of a body that nobody wants are read before the connection is given up instead.
    var unwantedBodyBytes: Int64 = 1 << 20

    /// How many seconds a request's head may take, from the start of the connection or the end of the last answer: the
    /// limit of a slow head and of an idle connection.
    var headSeconds = 30.0
    /// How many seconds a body that is gathered may take.
    var gatheredBodySeconds = 30.0
    /// How many seconds a streamed body may take before its speed is looked at.
    var streamGraceSeconds = 30.0
    /// How many bytes a second a streamed body has to bring on average, not counting the time that the server held it up.
    var streamBytesPerSecond = 64.0 * 1024
    /// How many seconds a streamed body may take in all.
    var streamSeconds = 3600.0
    /// How many seconds a client may take to read an answer.
    var answerSeconds = 60.0
    /// After how many seconds without an event a comment is sent, so that both sides notice when the other one is gone.
    var eventCommentSeconds = 15.0
    /// How often the server looks for passed deadlines and for clients that left.
    var housekeepingSeconds = 1.0
}

/// What happens to a server's connections beside their requests, for the log and the metrics.
enum ServerEvent: Hashable, Sendable {
    /// Which limit of time a connection went over.
    enum Deadline: String, CaseIterable, Sendable {
        case head
        case body
        case answer
    }

    case connectionOpened
    case connectionClosed
    /// One connection too many: of all, or of its user.
    case connectionRefused
    /// A connection was ended because its client was too slow.
    case deadlinePassed(Deadline)
    /// What libmicrohttpd has to say; one line.
    case message(String)
}

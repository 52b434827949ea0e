import Glibc
import NshTrust
import TestSupport

@testable import NshTrustd

/// A service whose plans a test makes.
struct TestService: HTTPService {
    let onPlan: @Sendable (RequestHead) -> RequestPlan

    func plan(_ head: RequestHead) -> RequestPlan { onPlan(head) }

    func refusal(_ reason: ServerRefusal) -> Response {
        switch reason {
        case .bodyTooLarge: .text(413, "too large")
        case .tooManyConnections: .text(503, "too many")
        case .stopping: .text(503, "stopping")
        case .malformed(let what): .text(400, what)
        }
    }

    /// Answers each request with what it says: the body, or the path.
    static var echo: TestService {
        TestService { head in
            if !head.hasBody { return .answer(.text(200, head.path?.joined(separator: "|") ?? "no path")) }
            return .gather(limit: 64 << 10) { .answer(Response(status: 200, contentType: "text/plain", body: $0)) }
        }
    }
}

extension Response {
    static func text(_ status: Int, _ text: String) -> Response {
        Response(status: status, contentType: "text/plain", body: Array(text.utf8))
    }
}

/// A server on a socket of its own.
final class TestServer: Sendable {
    let server: HTTPServer
    let path: String
    let events = Locked<[ServerEvent]>([])
    private let directory: TemporaryDirectory

    init(_ service: TestService, _ limits: ServerLimits = ServerLimits()) throws {
        directory = try TemporaryDirectory()
        path = directory.path + "/socket"
        let listening = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let bound = UnixAddress.with(path) { bind(listening, $0, $1) }
        guard bound == 0, listen(listening, 1024) == 0 else { throw RawClient.Failed(what: "bind", number: errno) }
        let events = events
        server = try HTTPServer(
            listening: OwnedDescriptor(owning: listening), service: service, limits: limits
        ) { event in events.withLock { $0.append(event) } }
    }

    func client() throws -> RawClient { try RawClient(path) }

    /// Asks on a connection of its own.
    func ask(_ request: String) throws -> RawClient.Message { try client().ask(request) }

    func count(_ event: ServerEvent) -> Int { events.withLock { events in events.count { $0 == event } } }

    /// Waits until something is so, at most ten seconds.
    static func eventually(_ isSo: () -> Bool) -> Bool {
        for _ in 0..<2000 {
            if isSo() { return true }
            usleep(5000)
        }
        return isSo()
    }
}

/// A value that one side sets and the other waits for.
final class Box<Value: Sendable>: Sendable {
    private let value = Locked<Value?>(nil)

    func set(_ new: Value) { value.withLock { $0 = new } }

    /// The value, within ten seconds.
    func wait() -> Value? {
        _ = TestServer.eventually { value.withLock { $0 != nil } }
        return value.withLock { $0 }
    }
}

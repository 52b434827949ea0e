import FoundationEssentials
import Glibc
import NshTrust
import NshTrustWire
import TestSupport
import Testing

@testable import NshTrustd

/// A service of one test, with a store of its own and without a socket.
final class ServiceHost: Sendable {
    static let now = PackageBuilder.now
    /// The daemon's own user, which is the tests' user, so that paths are opened.
    static let own = Peer(uid: getuid(), gid: getgid(), pid: 10, groups: [])
    static let admin = Peer(uid: 1001, gid: 1001, pid: 11, groups: [])
    static let engine = Peer(uid: 1002, gid: 1002, pid: 12, groups: [])
    static let other = Peer(uid: 1003, gid: 1003, pid: 13, groups: [1004])

    let directory: TemporaryDirectory
    let core: TrustCore
    let service: TrustService
    let log = CollectingLog()

    init(
        roots: [TestKey] = [.root], settings: ServiceSettings = ServiceSettings(),
        configuration: any ConfigurationStatus = FixedConfiguration()
    ) throws {
        directory = try TemporaryDirectory()
        chmod(directory.path, 0o755)
        core = try Self.core(in: directory)
        for root in roots { try core.addRoot(root.publicKey) }
        service = try TrustService(
            core: core,
            grants: Grants(
                engines: Grants.Holders(users: [1002], groups: [2002]),
                admins: Grants.Holders(users: [1001], groups: [2001]), ownUser: getuid()),
            settings: settings, configuration: configuration, log: log)
    }

    deinit { service.stop() }

    /// Opens the store of a directory.
    static func core(in directory: TemporaryDirectory) throws -> TrustCore {
        var options = NshTrust.Options()
        options.clock = { now }
        options.durability = .processEndUnsafely
        return try TrustCore(directory: directory.path + "/state", options: options, modes: .daemon)
    }

    /// Makes a head; by default of the daemon's own user, and with the content type of its body.
    static func head(
        _ request: String, peer: Peer? = own, type: String? = nil, hasBody: Bool = false, host: String? = "localhost",
        isFromBrowser: Bool = false, lastEventID: String? = nil
    ) -> RequestHead {
        let words = request.split(separator: " ")
        let target = words[1].split(separator: "?", maxSplits: 1)
        let query = target.dropFirst().flatMap { $0.split(separator: "&") }.map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1)
            return (name: String(parts[0]), value: parts.count > 1 ? String(parts[1]) : "")
        }
        return RequestHead(
            method: String(words[0]), path: target[0].split(separator: "/").map(String.init), query: query,
            contentType: type, hasBody: hasBody, host: host, isFromBrowser: isFromBrowser,
            lastEventID: lastEventID, peer: peer)
    }

    /// Sends a request with a JSON body, or with none.
    func send(
        _ request: String, _ body: String? = nil, peer: Peer = own, type: String? = nil, lastEventID: String? = nil
    ) throws -> Answer {
        try send(
            Self.head(
                request, peer: peer, type: type ?? (body == nil ? nil : "application/json"), hasBody: body != nil,
                lastEventID: lastEventID), Array((body ?? "").utf8))
    }

    /// Sends bytes as a package.
    func send(_ request: String, package: [UInt8], peer: Peer = own, pieces: Int = 1000) throws -> Answer {
        try send(
            Self.head(request, peer: peer, type: "application/vnd.nsh.package", hasBody: true), package, pieces: pieces)
    }

    /// Sends a request and waits for its answer, whose status its route must document.
    func send(_ head: RequestHead, _ body: [UInt8] = [], pieces: Int = 1000) throws -> Answer {
        let response: Response
        switch service.plan(head) {
        case .answer(let answer): response = answer
        case .gather(let limit, let then):
            response =
                body.count > limit
                ? service.refusal(.bodyTooLarge(limit: Int64(limit))) : try Self.wait(for: then(body))
        case .repeatable(let limit, let then):
            response =
                body.count > limit
                ? service.refusal(.bodyTooLarge(limit: Int64(limit)))
                : try Self.wait(for: then(body, MonotonicTime.nanoseconds()))
        case .stream(_, let start):
            let reader = BodyReader()
            let outcome = start(reader)
            for offset in stride(from: 0, to: body.count, by: pieces) {
                reader.add(Array(body[offset..<min(offset + pieces, body.count)]))
            }
            reader.finish(nil)
            response = try Self.wait(for: outcome)
        }
        if let path = head.path, let (number, _) = try? Routes.find(head.method, path) {
            #expect(
                Routes.table[number].statuses.contains(response.status),
                "\(response.status) of \(head.method) \(path) is not documented")
        }
        return Answer(response)
    }

    /// Waits for an answer that is given later.
    static func wait(for outcome: Outcome) throws -> Response {
        switch outcome {
        case .answer(let response): return response
        case .again(let kept): return kept.response
        case .later(let pending):
            let deadline = MonotonicTime.nanoseconds() + 30_000_000_000
            while pending.response == nil, MonotonicTime.nanoseconds() < deadline {
                MonotonicTime.sleep(nanoseconds: 200_000)
            }
            return try #require(pending.response, "no answer came")
        case .events: throw Trouble(.badRequest, "a stream of events was not expected")
        }
    }

    /// Follows the log.
    func follow(_ parameters: String = "", peer: Peer = own, lastEventID: String? = nil) throws -> EventStream {
        let head = Self.head("GET /v1/events?follow=true\(parameters)", peer: peer, lastEventID: lastEventID)
        guard case .gather(_, let then) = service.plan(head), case .events(let stream) = then([]) else {
            throw Trouble(.badRequest, "no stream of events")
        }
        return stream
    }

    // MARK: - Packages and lists

    /// A package of the tests' app.
    static func package(build: Int64, app: String = "com.example.orders") -> [UInt8] {
        var builder = PackageBuilder()
        builder.app.build = build
        builder.app.id = PackageBuilder.id(app)
        return builder.build()
    }

    /// Writes a file beside the store.
    func file(_ name: String, _ bytes: [UInt8]) throws -> String {
        let path = "\(directory.path)/\(name)"
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        chmod(path, 0o644)
        return path
    }

    /// Overwrites the start of a file and returns what was there.
    @discardableResult
    func damage(_ path: String, with bytes: [UInt8] = [UInt8](repeating: 0x78, count: 100)) throws -> [UInt8] {
        chmod(path, 0o644)
        let file = Glibc.open(path, O_RDWR)
        guard file >= 0 else { throw Trouble(.noSuchFile, path) }
        defer { close(file) }
        var before = bytes
        let count = pread(file, &before, before.count, 0)
        guard count > 0, pwrite(file, bytes, count, 0) == count else { throw Trouble(.ioFailure, path) }
        before.removeLast(before.count - count)
        return before
    }

    /// Waits until health has a status.
    func waitForHealth(_ status: Int) throws -> Answer {
        let deadline = MonotonicTime.nanoseconds() + 10_000_000_000
        while true {
            let answer = try send("GET /v1/health")
            if answer.status == status || MonotonicTime.nanoseconds() > deadline { return answer }
            MonotonicTime.sleep(nanoseconds: 5_000_000)
        }
    }

    /// Opens a package in the store and returns its digest.
    @discardableResult
    func install(build: Int64, app: String = "com.example.orders") throws -> String {
        var input = BytesInput(Self.package(build: build, app: app))
        return try core.open(&input, length: nil).digest
    }

    /// A revocation list of a root.
    static func list(
        _ sequence: Int64, by root: TestKey = .root, _ edit: (inout RevocationList) -> Void = { _ in }
    ) -> String {
        var list = RevocationList(issuer: root.publicKey.hash, sequence: sequence, issuedAt: now - 100 + sequence)
        edit(&list)
        return String(
            decoding: Envelope.signed(.revocations, list.serialized, by: [root]).serialized, as: UTF8.self)
    }
}

/// An answer and the document in it.
struct Answer {
    let response: Response
    var status: Int { response.status }
    var text: String { String(decoding: response.body, as: UTF8.self) }
    var code: String? { text("code") }
    var member: String? { text("member") }

    init(_ response: Response) { self.response = response }

    var object: JSONObject {
        get throws {
            try JSONReader.read(response.body, subject: "the answer") { (reader: inout JSONReader) throws(Refusal) in
                try reader.tree(numbers: .any)
            }
        }
    }

    var reader: WireReader {
        get throws { try WireReader(parsing: response.body, subject: "the answer") }
    }

    func text(_ name: String) -> String? {
        guard case .text(let text) = try? object[name] else { return nil }
        return text
    }

    func integer(_ name: String) -> Int64? {
        guard case .integer(let integer) = try? object[name] else { return nil }
        return integer
    }

    func header(_ name: String) -> String? { response.headers.first { $0.name == name }?.value }
}

/// What a configuration says that no test changes.
struct FixedConfiguration: ConfigurationStatus {
    var rootFiles = [RootFile(key: TestKey.root.publicKey, file: "/etc/nsh-trust/roots.d/a.pub")]
    var badRoots = [BadFile(file: "/etc/nsh-trust/roots.d/b.pub", message: "it is empty")]
    var badLists: [BadFile] = []
}

/// Keeps what the service says.
final class CollectingLog: ServiceLog {
    private let kept = Locked<[String]>([])
    var lines: [String] { kept.withLock { $0 } }
    func write(_ level: LogLevel, _ message: String, _ fields: JSONObject) { kept.withLock { $0.append(message) } }
}

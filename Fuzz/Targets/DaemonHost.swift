import Glibc
import NshTrust
import TestSupport

@testable import NshTrustd

/// The daemon's service with a store of its own and without a socket.
final class DaemonHost: Sendable {
    /// Whom the service hears: its own user, an administrator, an engine, somebody else, nobody.
    static let peers: [UInt8: Peer] = [
        UInt8(ascii: "o"): Peer(uid: getuid(), gid: getgid(), pid: 10, groups: []),
        UInt8(ascii: "a"): Peer(uid: 4_000_001, gid: 4_000_001, pid: 11, groups: []),
        UInt8(ascii: "e"): Peer(uid: 4_000_002, gid: 4_000_002, pid: 12, groups: []),
        UInt8(ascii: "x"): Peer(uid: 4_000_003, gid: 4_000_003, pid: 13, groups: [4_000_004]),
    ]

    /// The package that is installed, by its digest.
    static let installed: String = {
        var input = BytesInput(PackageBuilder().build())
        var established = Established()
        let chain = try? Bench.verification().verify(
            &input, store: nil, sink: nil, monitor: Monitor(), established: &established)
        return chain?.digest.hex ?? ""
    }()

    private static let current = Locked<DaemonHost?>(nil)
    private let directory: TemporaryDirectory
    private let log = RefusingLog()
    let service: TrustService

    /// The host that all requests share until one of them changes the store.
    static func shared() throws -> DaemonHost {
        if let host = current.withLock({ $0 }) { return host }
        let host = try DaemonHost()
        current.withLock { $0 = host }
        return host
    }

    /// Lets go of the host; the next request gets a new one.
    static func renew() { current.withLock { $0 = nil } }

    private init() throws {
        directory = try TemporaryDirectory()
        chmod(directory.path, 0o755)
        var options = NshTrust.Options()
        options.clock = { Bench.now }
        options.durability = .processEndUnsafely
        let core = try TrustCore(directory: directory.path + "/state", options: options, modes: .daemon)
        for root in Bench.roots { try core.addRoot(root) }
        var input = BytesInput(PackageBuilder().build())
        _ = try core.open(&input, length: nil)
        service = try TrustService(
            core: core,
            grants: Grants(
                engines: Grants.Holders(users: [4_000_002], groups: []),
                admins: Grants.Holders(users: [4_000_001], groups: []), ownUser: getuid()),
            settings: ServiceSettings(maximumPackageBytes: 1 << 20), configuration: NoConfiguration(), log: log)
    }

    deinit { service.stop() }

    /// Sends a request and waits for its answer; nil for a stream of events.
    func send(_ head: RequestHead, _ body: [UInt8]) throws -> Response? {
        switch service.plan(head) {
        case .answer(let response): return response
        case .gather(let limit, let then):
            if body.count > limit { return service.refusal(.bodyTooLarge(limit: Int64(limit))) }
            return try wait(for: then(body))
        case .repeatable(let limit, let then):
            if body.count > limit { return service.refusal(.bodyTooLarge(limit: Int64(limit))) }
            return try wait(for: then(body, MonotonicTime.nanoseconds()))
        case .stream(let limit, let start):
            if body.count > limit { return service.refusal(.bodyTooLarge(limit: limit)) }
            let reader = BodyReader()
            let outcome = start(reader)
            for offset in stride(from: 0, to: body.count, by: 700) {
                reader.add(Array(body[offset..<min(offset + 700, body.count)]))
            }
            reader.finish(nil)
            return try wait(for: outcome)
        }
    }

    private func wait(for outcome: Outcome) throws -> Response? {
        switch outcome {
        case .answer(let response): return response
        case .again(let kept): return kept.response
        case .later(let pending):
            let answered = Signal()
            pending.whenCompleted { answered.raise() }
            answered.wait()
            try require(log.broken == nil, log.broken ?? "")
            guard let response = pending.response else { throw BrokenProperty("an answer is missing") }
            return response
        case .events(let stream):
            stream.close()
            return nil
        }
    }
}

/// Lets one thread wait for another.
private final class Signal: Sendable {
    /// Used by both threads through its own thread-safe calls, freed with the value.
    private nonisolated(unsafe) let semaphore: UnsafeMutablePointer<sem_t>

    init() {
        semaphore = .allocate(capacity: 1)
        sem_init(semaphore, 0, 0)
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func raise() { sem_post(semaphore) }
    func wait() { while sem_wait(semaphore) != 0 {} }
}

/// A configuration without a file.
private struct NoConfiguration: ConfigurationStatus {
    var rootFiles: [RootFile] { [] }
    var badRoots: [BadFile] { [] }
    var badLists: [BadFile] { [] }
}

/// Looks at what the service says, and remembers what no log should hold.
private final class RefusingLog: ServiceLog {
    private let found = Locked<String?>(nil)

    /// The first line that was not safe, or says that the daemon met something that cannot be.
    var broken: String? { found.withLock { $0 } }

    func write(_ level: LogLevel, _ message: String, _ fields: JSONObject) {
        do {
            try requireSafe(message)
        } catch {
            found.withLock { $0 = $0 ?? "\(error)" }
        }
    }
}

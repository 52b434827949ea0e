import Glibc
import NshTrust
import NshTrustWire

/// Everything that runs while the daemon serves, from the lock of its state directory to the socket.
final class RunningDaemon {
    /// How long work under way may take after the daemon was told to stop, in seconds; the service manager's own limit is
    /// longer.
    private static let gracePeriodSeconds = 60.0
    /// How often changed files are looked for and signs of life are given at least, in seconds.
    private static let beatSeconds = 1.0
    /// After how many beats unused memory is given back.
    private static let beatsBetweenTrims = 10

    private let log: Log
    private let manager: ServiceManager
    private let instance: InstanceLock
    private let configuration: Configuration
    private let service: TrustService
    private let socket: ListeningSocket
    private let server: HTTPServer

    /// Brings everything up; when this returns, clients are answered.
    ///
    /// - Throws: What stands in the way; nothing is left behind then but what an earlier daemon left, too.
    init(_ options: DaemonOptions, _ log: Log) throws {
        self.log = log
        manager = ServiceManager()
        let activated = try ServiceManager.activation()
        // Trees are made with the permissions that engines of other users need, whatever the mask was.
        umask(0o022)
        let grants = try Self.grants(options)
        let group = try options.socketGroup.map { name throws(Trouble) in try Accounts.group(name) }
        try Directory.make(options.state, permissions: StateDirectory.Modes.daemon.directory)
        instance = try InstanceLock.take(in: try Directory.open(options.state))
        let core = try TrustCore(directory: options.state, options: options.trust, modes: .daemon)
        configuration = Configuration(core, roots: options.roots, lists: options.revocations, log: log)
        configuration.reload(all: true)
        service = try TrustService(
            core: core, grants: grants,
            settings: ServiceSettings(maximumPackageBytes: options.maximumPackageBytes, workers: options.workers),
            configuration: configuration, log: log)
        let access = ListeningSocket.Access(mode: options.socketMode, group: group)
        socket = try activated ?? ListeningSocket.make(options.socket, access)
        guard let listening = socket.take() else { fatalError("a socket that was just made has its descriptor") }
        server = try HTTPServer(listening: listening, service: service, limits: Self.limits(options)) {
            [service] event in service.note(event)
        }
        service.countConnections { [server] in server.connectionCount }
        log.write(
            .notice, "serving \(Printable.escaped(options.state)) on \(Printable.escaped(socket.path))",
            ["version": .text(NshTrust.version), "pid": .integer(Int64(getpid()))])
    }

    /// Serves until a signal says to stop, then finishes what is under way.
    func untilToldToStop() {
        var isReadyTold = manager.tell("READY=1\nSTATUS=Serving on \(Printable.escaped(socket.path))")
        let watchdog = manager.watchdogSeconds ?? Self.beatSeconds
        var beats = 0
        while true {
            beats += 1
            if beats.isMultiple(of: Self.beatsBetweenTrims) { ProcessMemory.giveBack() }
            switch Signals.wait(seconds: min(Self.beatSeconds, watchdog)) {
            case .reload:
                log.write(.notice, "reading roots and lists again")
                manager.tell("RELOADING=1\nMONOTONIC_USEC=\(MonotonicTime.nanoseconds() / 1000)")
                configuration.reload(all: true)
                isReadyTold = manager.tell("READY=1")
            case .stop:
                stop()
                return
            case nil:
                configuration.reload(all: false)
            }
            if !isReadyTold { isReadyTold = manager.tell("READY=1") }
            if manager.watchdogSeconds != nil, Liveness.isAnswered(socket.path) { manager.tell("WATCHDOG=1") }
        }
    }

    private func stop() {
        manager.tell("STOPPING=1")
        log.write(.notice, "finishing what is under way")
        server.stop(gracePeriodSeconds: Self.gracePeriodSeconds)
        service.stop()
        do {
            try socket.remove()
        } catch {
            log.write(.warning, "the socket stays: \(error.message)")
        }
        log.write(.notice, "stopped")
    }

    // MARK: - From options

    private static func grants(_ options: DaemonOptions) throws(Trouble) -> Grants {
        Grants(engines: try holders(options.engines), admins: try holders(options.admins), ownUser: geteuid())
    }

    private static func holders(_ names: [String]) throws(Trouble) -> Grants.Holders {
        var holders = Grants.Holders()
        for name in names {
            if name.hasPrefix("@") {
                holders.groups.insert(try Accounts.group(String(name.dropFirst())))
            } else {
                holders.users.insert(try Accounts.user(name))
            }
        }
        return holders
    }

    private static func limits(_ options: DaemonOptions) -> ServerLimits {
        var limits = ServerLimits()
        limits.connections = options.connections
        limits.headSeconds = options.clientSeconds
        limits.gatheredBodySeconds = options.clientSeconds
        limits.streamGraceSeconds = options.clientSeconds
        limits.answerSeconds = 2 * options.clientSeconds
        return limits
    }
}

/// The connections that there are, and how many more there may be.
struct ConnectionTable: Sendable {
    /// How many connections there may be at once.
    let limit: Int
    /// How many of them one user may have.
    let limitPerUser: Int

    private(set) var connections: [Int32: Connection] = [:]
    private var perUser: [UInt32: Int] = [:]
    private var perThread: [Int]

    /// Makes an empty table.
    ///
    /// - Parameters:
    ///   - limits: The limits asked for.
    ///   - descriptors: How many descriptors the process may have; 64 of them are left for everything else.
    ///   - threads: How many threads share the connections.
    init(limits: ServerLimits, descriptors: Int, threads: Int) {
        limit = max(min(limits.connections, descriptors - 64), 1)
        limitPerUser = max(min(limits.connectionsPerUser ?? limit / 2, limit), 1)
        perThread = Array(repeating: 0, count: threads)
    }

    /// How many connections there are.
    var count: Int { connections.count }

    /// Whether one more connection of the user fits.
    func hasRoom(for user: UInt32) -> Bool { count < limit && perUser[user, default: 0] < limitPerUser }

    /// The thread with the fewest connections.
    var idlestThread: Int { perThread.indices.min { perThread[$0] < perThread[$1] } ?? 0 }

    /// Adds a connection that was just accepted.
    ///
    /// One with the same descriptor that was never served is gone: libmicrohttpd closed it without a word.
    mutating func add(_ connection: Connection) {
        remove(connection.descriptor)
        connections[connection.descriptor] = connection
        perUser[connection.user, default: 0] += 1
        perThread[connection.thread] += 1
    }

    /// Removes a connection.
    mutating func remove(_ descriptor: Int32) {
        guard let connection = connections.removeValue(forKey: descriptor) else { return }
        perThread[connection.thread] -= 1
        let left = perUser[connection.user, default: 1] - 1
        perUser[connection.user] = left > 0 ? left : nil
    }
}

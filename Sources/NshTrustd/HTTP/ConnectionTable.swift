/// The connections that there are, and how many more there may be.
struct ConnectionTable: Sendable {
    /// How many connections there may be at once.
    let limit: Int
    /// How many of them one user may have.
    let limitPerUser: Int

    private(set) var connections: [Int32: Connection] = [:]
    private var perUser: [UInt32: Int] = [:]

    /// Makes an empty table.
    ///
    /// - Parameters:
    ///   - limits: The limits asked for.
    ///   - descriptors: How many descriptors the process may have; 64 of them are left for everything else.
    init(limits: ServerLimits, descriptors: Int) {
        limit = max(min(limits.connections, descriptors - 64), 1)
        limitPerUser = max(min(limits.connectionsPerUser ?? limit / 2, limit), 1)
    }

    /// How many connections there are.
    var count: Int { connections.count }

    /// Whether one more connection of the user fits.
    func hasRoom(for user: UInt32) -> Bool { count < limit && perUser[user, default: 0] < limitPerUser }

    /// Adds a connection that begins; false when it is one too many.
    mutating func add(_ connection: Connection) -> Bool {
        guard hasRoom(for: connection.user) else { return false }
        connections[connection.descriptor] = connection
        perUser[connection.user, default: 0] += 1
        return true
    }

    /// Removes a connection.
    mutating func remove(_ descriptor: Int32) {
        guard let connection = connections.removeValue(forKey: descriptor) else { return }
        let left = perUser[connection.user, default: 1] - 1
        perUser[connection.user] = left > 0 ? left : nil
    }
}

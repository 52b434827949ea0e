extension TrustService {
    /// Counts what happens to connections, and passes on what the server has to say.
    ///
    /// - Parameter event: What happened; called on any thread, must not wait.
    func note(_ event: ServerEvent) {
        switch event {
        case .connectionOpened, .connectionClosed: break
        case .connectionRefused: metrics.refusedConnections.add()
        case .deadlinePassed(let deadline):
            for (known, counter) in zip(ServerEvent.Deadline.allCases, metrics.passedDeadlines) where known == deadline
            {
                counter.add()
            }
        // Mostly of clients that left in the middle, as they may.
        case .message(let text): if isDue("server") { log.write(.info, "the HTTP server says: \(text)") }
        }
    }
}

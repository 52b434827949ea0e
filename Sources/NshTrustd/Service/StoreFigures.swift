import NshTrust

/// Numbers of the store for `/metrics`, read anew when they are a few seconds old.
final class StoreFigures: Sendable {
    /// For how long numbers are good, in nanoseconds.
    private static let lifetime: UInt64 = 5_000_000_000

    /// The numbers.
    struct Figures: Sendable {
        /// What the store holds.
        let status: StoreStatus
        /// Bytes of the database.
        let databaseBytes: Int64
    }

    private struct Kept: Sendable {
        let figures: Figures?
        let goodUntil: UInt64
    }

    private let core: TrustCore
    private let kept = Locked<Kept?>(nil)

    /// Reads nothing yet.
    init(_ core: TrustCore) { self.core = core }

    /// The numbers; nil when the store cannot be read.
    func read() -> Figures? {
        let now = MonotonicTime.nanoseconds()
        if let kept = kept.withLock({ $0 }), now < kept.goodUntil { return kept.figures }
        let figures: Figures?
        do {
            figures = Figures(
                status: try core.administration(by: .thisProcess).status(),
                databaseBytes: try core.state.databaseSize())
        } catch {
            // Health and log say why; a scrape goes on without these families.
            figures = nil
        }
        kept.withLock { $0 = Kept(figures: figures, goodUntil: now + Self.lifetime) }
        return figures
    }
}

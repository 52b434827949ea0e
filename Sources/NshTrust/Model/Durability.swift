/// What an accepted build survives.
public enum Durability: Hashable, Sendable {
    /// Power loss: files and store are synced before a success is reported.
    case powerLoss
    /// Only the end of the process; for tests and throw-away stores.
    case processEndUnsafely
}

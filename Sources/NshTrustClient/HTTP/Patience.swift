import NshTrust

/// How long a call waits for the other side, and whether anybody still wants the answer.
package struct Patience: Sendable {
    /// The longest silence, in seconds.
    package var silence: Double
    /// Whether the caller has given up; asked several times a second.
    package var isCancelled: @Sendable () -> Bool

    /// Makes a patience.
    ///
    /// - Parameters:
    ///   - silence: The longest silence, in seconds.
    ///   - isCancelled: Whether the caller has given up.
    package init(silence: Double, isCancelled: @escaping @Sendable () -> Bool = { false }) {
        self.silence = silence
        self.isCancelled = isCancelled
    }
}

/// The other side closed the connection.
///
/// Whether that is an error depends on what had come before it.
struct ConnectionLost: Error {}

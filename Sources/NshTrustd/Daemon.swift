/// The daemon: reads its command line, brings everything up, serves until it is told to stop.
package enum Daemon {
    /// The version of the daemon.
    package static let version = "0.1.0"

    /// Runs the daemon.
    ///
    /// - Parameter words: The program's name and its arguments; nil for one that is not UTF-8.
    /// - Returns: The exit status: 0 after it was told to stop, 2 wrong usage, 3 when it could not start or go on.
    package static func run(_ words: [String?]) -> Int32 {
        2
    }
}

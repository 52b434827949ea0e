public import NshTrust

/// What only a daemon answers.
extension NshError.Code {
    /// No build of the app was accepted.
    public static let unknownApp = NshError.Code(rawValue: "unknownApp")
    /// This user may not ask that.
    public static let forbidden = NshError.Code(rawValue: "forbidden")
    /// The daemon has too much to do; ask again later.
    public static let overloaded = NshError.Code(rawValue: "overloaded")
    /// The daemon is about to stop; ask again later.
    public static let stopping = NshError.Code(rawValue: "stopping")
    /// The package is larger than the daemon takes.
    public static let tooLarge = NshError.Code(rawValue: "tooLarge")
    /// Events that were asked for are no longer kept.
    public static let eventsGone = NshError.Code(rawValue: "eventsGone")
}

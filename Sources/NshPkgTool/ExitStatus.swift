/// How the tool ends; documented and stable.
///
/// Of several files the greatest counts.
enum ExitStatus: Int32, Comparable, CaseIterable, Sendable {
    /// Everything was accepted or done.
    case done = 0
    /// Something was refused.
    case refused = 1
    /// The command line is wrong.
    case usage = 2
    /// It could not be decided: I/O, the store, no roots.
    case undecided = 3

    static func < (left: ExitStatus, right: ExitStatus) -> Bool { left.rawValue < right.rawValue }
}

/// The pages that were read last while followers are caught up: many begin at one place, as after a restart of the daemon,
/// and each page is read and written down once for all of them.
struct RecentPages {
    /// More than the pages of one turn of a follower.
    private static let capacity = 8

    private var pages: [(after: Int64, frames: EventFrames)] = []

    /// Returns the page after a number, and makes it when it is not there.
    mutating func page(after sequence: Int64, _ make: () throws -> EventFrames) rethrows -> EventFrames {
        if let known = pages.first(where: { $0.after == sequence }) { return known.frames }
        let frames = try make()
        if pages.count == Self.capacity { pages.removeFirst() }
        pages.append((sequence, frames))
        return frames
    }
}

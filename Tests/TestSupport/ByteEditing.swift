extension [UInt8] {
    /// Puts other text in place of text that stands in the bytes exactly once.
    ///
    /// - Parameters:
    ///   - old: The text that is there.
    ///   - new: What comes in its place.
    public mutating func replace(_ old: String, with new: String) { replace(old, with: Array(new.utf8)) }

    /// Puts other bytes in place of text that stands in the bytes exactly once.
    public mutating func replace(_ old: String, with new: [UInt8]) {
        let wanted = Array(old.utf8)
        let places = indices.filter { self[$0...].starts(with: wanted) }
        precondition(places.count == 1, "“\(old)” stands \(places.count) times in what is edited")
        replaceSubrange(places[0]..<places[0] + wanted.count, with: new)
    }
}

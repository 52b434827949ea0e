/// The first eight bytes of many values, in rising order: what knows of most values that they are not among these.
///
/// A value whose first bytes are not here is none of them, for certain. One whose first bytes are here may be one, or begin
/// like one.
package struct PrefixSet: Sendable {
    private var prefixes: [UInt64] = []
    /// Where those begin whose highest bits are 0, 1, 2, …, up to those of the last one added.
    private var starts: [UInt32] = []
    /// By how much a prefix is shifted to leave these bits.
    private let shift: Int

    /// Makes an empty set.
    ///
    /// - Parameter capacity: How many values will be added, about. Where they are spread evenly, as digests are, some sixteen of
    ///   them have the same highest bits; more than that only take more steps.
    package init(capacity: Int = 0) {
        let bits = capacity < 16 ? 0 : capacity.bitWidth - (capacity / 8).leadingZeroBitCount - 1
        shift = 64 - bits
        prefixes.reserveCapacity(capacity)
        starts.reserveCapacity(1 << bits)
    }

    /// Adds what a value begins with; values come in rising order.
    ///
    /// - Parameter prefix: Its first eight bytes as a number, the first of them highest.
    /// - Returns: False, and nothing was added, when a greater one came before: it could not be found
    ///   behind that.
    package mutating func append(_ prefix: UInt64) -> Bool {
        if let last = prefixes.last, prefix <= last { return prefix == last }
        while starts.count <= place(of: prefix) { starts.append(UInt32(prefixes.count)) }
        prefixes.append(prefix)
        return true
    }

    /// Tells whether a value that begins so may be one of these; false is certain.
    ///
    /// - Complexity: The logarithm of the number of those that have the same highest bits.
    package func mayContain(_ prefix: UInt64) -> Bool {
        let place = place(of: prefix)
        guard place < starts.count else { return false }
        var (low, high) = (Int(starts[place]), place + 1 < starts.count ? Int(starts[place + 1]) : prefixes.count)
        while low < high {
            let middle = (low + high) / 2
            if prefixes[middle] < prefix { low = middle + 1 } else { high = middle }
        }
        return low < prefixes.count && prefixes[low] == prefix
    }

    /// The highest bits of a prefix.
    private func place(of prefix: UInt64) -> Int { Int(truncatingIfNeeded: prefix >> shift) }
}

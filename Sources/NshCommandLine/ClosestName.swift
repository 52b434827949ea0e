/// Finds what somebody meant who mistyped a name.
package enum ClosestName {
    /// Returns the candidate with the smallest distance to the word, or nil when none is near.
    ///
    /// Near is a distance of a third of the longer one's length at most, or one that begins with the word.
    package static func to(_ word: String, among candidates: [String]) -> String? {
        var best: (name: String, distance: Int)?
        for name in candidates {
            let distance = distance(word, name)
            if distance < best?.distance ?? Int.max { best = (name, distance) }
        }
        if let best, best.distance <= max(1, max(word.count, best.name.count) / 3) { return best.name }
        return word.count < 2 ? nil : candidates.first { $0.hasPrefix(word) }
    }

    /// Counts the letters to insert, drop, exchange or swap with their neighbour.
    package static func distance(_ left: String, _ right: String) -> Int {
        let (a, b) = (Array(left.prefix(64)), Array(right.prefix(64)))
        var rows = [Array(0...b.count)]
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices {
                var cost = min(rows[i][j] + (a[i] == b[j] ? 0 : 1), rows[i][j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, rows[i - 1][j - 1] + 1) }
                row.append(cost)
            }
            rows.append(row)
        }
        return rows[a.count][b.count]
    }
}

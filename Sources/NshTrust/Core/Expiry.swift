/// What runs out soon.
package enum Expiry {
    /// How long before its end something is warned of, in seconds.
    package static let warningSeconds: Int64 = 30 * 86_400

    /// Returns `ends 2026-11-03T10:00:00Z, in 12 days`, or nil when that is further off.
    package static func warning(_ end: Int64, now: Int64) -> String? {
        let left = end - now
        guard left < warningSeconds else { return nil }
        if left < 0 { return "ended \(Timestamp.text(end))" }
        let days = left / 86_400
        return "ends \(Timestamp.text(end)), in \(days) \(days == 1 ? "day" : "days")"
    }
}

/// Numbers for people.
enum Amount {
    /// Returns a number of bytes with a binary unit: `20.0 MiB`.
    static func bytes(_ count: Int64) -> String {
        let units = ["KiB", "MiB", "GiB", "TiB"]
        guard count >= 1024 else { return count == 1 ? "1 byte" : "\(count) bytes" }
        var tenths = count * 10 / 1024
        var unit = 0
        while tenths >= 10_240, unit < units.count - 1 {
            tenths /= 1024
            unit += 1
        }
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    /// Returns a number and its noun: `1 file`, `2 files`.
    static func count(_ number: Int64, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}

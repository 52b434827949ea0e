/// Whole seconds since 1970-01-01T00:00:00Z, as RFC 3339 text and back, without a calendar library.
package enum Timestamp {
    /// Returns `2026-11-03T10:00:00Z`; a time outside the years 1970 to 9999 shows as its number of seconds.
    package static func text(_ seconds: Int64) -> String {
        guard (0...253_402_300_799).contains(seconds) else { return "\(seconds) s" }
        let (year, month, day) = date(days: seconds / 86_400)
        let rest = seconds % 86_400
        return "\(year)-\(two(month))-\(two(day))T\(two(rest / 3600)):\(two(rest / 60 % 60)):\(two(rest % 60))Z"
    }

    /// Reads seconds since 1970 in decimal, or RFC 3339 with a `Z` and whole seconds.
    ///
    /// - Returns: The seconds, 0 … 2⁵³−1, or nil when the text is neither.
    package static func seconds(from text: String) -> Int64? {
        let bytes = Array(text.utf8)
        if bytes.allSatisfy({ (0x30...0x39).contains($0) }), !bytes.isEmpty, bytes.count <= 16 {
            guard let value = Int64(text), value <= 1 << 53 - 1 else { return nil }
            return value
        }
        guard bytes.count == 20 else { return nil }
        let shape = Array("0000-00-00T00:00:00Z".utf8)
        for (byte, wanted) in zip(bytes, shape) {
            let fits = wanted == 0x30 ? (0x30...0x39).contains(byte) : byte == wanted
            guard fits else { return nil }
        }
        func number(_ range: Range<Int>) -> Int64 { bytes[range].reduce(0) { $0 * 10 + Int64($1 - 0x30) } }
        let (year, month, day) = (number(0..<4), number(5..<7), number(8..<10))
        let (hour, minute, second) = (number(11..<13), number(14..<16), number(17..<19))
        guard year >= 1970, hour < 24, minute < 60, second < 60 else { return nil }
        let days = daysSince1970(year: year, month: month, day: day)
        guard (1...12).contains(month), date(days: days) == (year, month, day) else { return nil }
        return days * 86_400 + hour * 3600 + minute * 60 + second
    }

    private static func two(_ number: Int64) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }

    // Days are counted in 400-year eras that begin on the first of March, so that the leap day ends a year.

    private static func date(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let marchYear = month <= 2 ? year - 1 : year
        let era = marchYear / 400
        let yearOfEra = marchYear % 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

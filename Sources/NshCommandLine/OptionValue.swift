internal import NshTrust

/// Reads what options say into what the library takes.
package enum OptionValue {
    /// Reads a TIME: seconds since 1970 or RFC 3339 with `Z`.
    package static func time(_ text: String, _ name: String) throws(UsageError) -> Int64 {
        guard let seconds = Timestamp.seconds(from: text) else {
            throw UsageError(
                "--\(name) is no time: “\(Printable.escaped(text, limit: 1024))”",
                hint: "write seconds since 1970, or UTC such as 2026-11-03T10:00:00Z")
        }
        return seconds
    }

    /// Reads a DURATION: seconds, or a number with `s`, `m`, `h` or `d`.
    package static func duration(_ text: String, _ name: String) throws(UsageError) -> Int64 {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        let unit = text.last.flatMap { units[$0] }
        guard let number = number(unit == nil ? text : String(text.dropLast())), number <= 1 << 32 else {
            throw UsageError(
                "--\(name) is no duration: “\(Printable.escaped(text, limit: 1024))”",
                hint: "write seconds, or 90m, 12h, 7d")
        }
        return number * (unit ?? 1)
    }

    /// Reads a whole number within a range.
    package static func integer(_ text: String, _ name: String, in range: ClosedRange<Int64>) throws(UsageError)
        -> Int64
    {
        guard let number = number(text), range.contains(number) else {
            throw UsageError(
                "--\(name) is a number from \(range.lowerBound) to \(range.upperBound), not “\(Printable.escaped(text, limit: 1024))”"
            )
        }
        return number
    }

    /// Reads decimal digits; nothing else, so that `+5`, ` 5` and `0x5` are mistakes.
    private static func number(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.count <= 16, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }

    /// Splits `ID=VALUE`.
    package static func pair(_ text: String, _ name: String, _ shape: String) throws(UsageError) -> (String, String) {
        // By code points: a mark at the start of a value makes another character of the “=” before it.
        let scalars = text.unicodeScalars
        guard let equals = scalars.firstIndex(of: "="), equals != scalars.startIndex,
            scalars.index(after: equals) != scalars.endIndex
        else {
            throw UsageError("--\(name) is written \(shape), not “\(Printable.escaped(text, limit: 1024))”")
        }
        return (String(scalars[..<equals]), String(scalars[scalars.index(after: equals)...]))
    }
}

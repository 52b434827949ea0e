import NshCommandLine
import NshTrust

extension Option {
    /// Trusted roots.
    static let root = value(
        "root", nil, "FILE", .file([".pub"]), repeatable: true,
        help: "trust this root: a .pub file, or a directory of them; else see nsh-pkgtool roots")
    /// How many roots must have signed.
    static let threshold = value(
        "threshold", nil, "N", help: "ask for the signatures of this many roots on a certificate")
    /// Lists to honour.
    static let revocations = value(
        "revocations", nil, "FILE", .file([".json", ".list"]), repeatable: true,
        help: "honour this revocation list too; of one root the newest counts")
    /// The trust store.
    static let state = value(
        "state", nil, "DIR", .directory, help: "the state directory of the trust store; else $NSH_TRUST_STATE")
    /// The time of the decision.
    static let at = value("at", nil, "TIME", help: "judge as of this time instead of now")
    /// Expiry at signing.
    static let atSigning = flag("at-signing", nil, "accept a certificate that has expired since it signed")
    /// The host's runtime.
    static let runtime = value("runtime", nil, "V", help: "the host's runtime version, such as 0.5.0")
    /// Freshness of lists.
    static let maximumListAge = value(
        "max-list-age", nil, "DURATION", help: "ask for a list of each root that is not older, such as 7d")
    /// Where the result goes.
    static let output = value(
        "output", "o", "FILE", .file([]), required: true,
        help: "the file to write; replaced when it is there")
    /// The passphrase.
    static let passwordFile = value(
        "password-file", nil, "FILE", .file([]), help: "read the passphrase from this file")
}

/// Reads what options say into what the library takes.
enum OptionValue {
    /// Reads a TIME: seconds since 1970 or RFC 3339 with `Z`.
    static func time(_ text: String, _ name: String) throws(UsageError) -> Int64 {
        guard let seconds = Timestamp.seconds(from: text) else {
            throw UsageError(
                "--\(name) is no time: “\(Terminal.safe(text))”",
                hint: "write seconds since 1970, or UTC such as 2026-11-03T10:00:00Z")
        }
        return seconds
    }

    /// Reads a DURATION: seconds, or a number with `s`, `m`, `h` or `d`.
    static func duration(_ text: String, _ name: String) throws(UsageError) -> Int64 {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        let unit = text.last.flatMap { units[$0] }
        guard let number = number(unit == nil ? text : String(text.dropLast())), number <= 1 << 32 else {
            throw UsageError(
                "--\(name) is no duration: “\(Terminal.safe(text))”", hint: "write seconds, or 90m, 12h, 7d")
        }
        return number * (unit ?? 1)
    }

    /// Reads a whole number within a range.
    static func integer(_ text: String, _ name: String, in range: ClosedRange<Int64>) throws(UsageError) -> Int64 {
        guard let number = number(text), range.contains(number) else {
            throw UsageError(
                "--\(name) is a number from \(range.lowerBound) to \(range.upperBound), not “\(Terminal.safe(text))”")
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
    static func pair(_ text: String, _ name: String, _ shape: String) throws(UsageError) -> (String, String) {
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex,
            text.index(after: equals) != text.endIndex
        else {
            throw UsageError("--\(name) is written \(shape), not “\(Terminal.safe(text))”")
        }
        return (String(text[..<equals]), String(text[text.index(after: equals)...]))
    }
}

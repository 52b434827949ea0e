import Glibc
internal import NshTrust

/// The time that goes into what is signed: the one place that knows `SOURCE_DATE_EPOCH`.
///
/// - Spec: PKG-17
public enum SigningTime {
    /// The environment variable that makes results reproducible.
    public static let variable = "SOURCE_DATE_EPOCH"

    /// Returns the time to sign with, in seconds since 1970 UTC: `SOURCE_DATE_EPOCH` if it is set, else the clock's.
    ///
    /// - Throws: `badRequest` when the variable is set to anything but a plain decimal number of at most 2⁵³−1.
    public static func current() throws -> Int64 {
        try publicly {
            guard let value = getenv(variable) else { return clock() }
            return try seconds(from: String(cString: value))
        }
    }

    /// Returns the clock's time, in seconds since 1970 UTC, whatever the environment says.
    public static func clock() -> Int64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Int64(now.tv_sec)
    }

    /// Reads the variable's value.
    static func seconds(from text: String) throws(Trouble) -> Int64 {
        let digits = Array(text.utf8)
        let isNumber = !digits.isEmpty && digits.count <= 16 && digits.allSatisfy { (0x30...0x39).contains($0) }
        guard isNumber, let seconds = Int64(text), seconds <= JSONReader.maximumInteger else {
            throw Trouble(
                .badRequest,
                "\(variable) is “\(Printable.escaped(text, limit: 40))”, not a number of seconds since 1970")
        }
        return seconds
    }
}

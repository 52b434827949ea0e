import Glibc
import NshCommandLine
import NshTrust
import NshTrustWire

/// Standard output could not take an answer: a full disk, a closed pipe.
///
/// It leads to exit status 3.
struct OutputFailure: Error {
    /// The error number.
    let number: Int32
}

/// The two ways out: answers go to standard output, everything else to standard error.
///
/// Used by the main thread alone; progress goes its own way.
final class Console {
    /// Whether answers are JSON, one object a line.
    let isJSON: Bool
    /// Whether only refusals and errors are printed.
    let isQuiet: Bool
    /// Whether more is said.
    let isVerbose: Bool
    /// Paints answers.
    let paint: Paint
    private let errorPaint: Paint
    private var pending: [UInt8] = []
    private var hints: Set<String> = []

    /// Prepares the console as the common options ask for it.
    init(_ arguments: Arguments, environment: Environment) {
        isJSON = arguments.has("json")
        isQuiet = arguments.has("quiet")
        isVerbose = arguments.has("verbose")
        paint = Paint(isOn: !isJSON && Terminal.showsColour(1, environment: environment))
        errorPaint = Paint(isOn: Terminal.showsColour(2, environment: environment))
    }

    // MARK: - Answers

    /// Prints a line of an answer; whatever of it came from outside has been made safe.
    func line(_ text: String) throws(OutputFailure) { try write(Array((text + "\n").utf8)) }

    /// Prints an object of an answer.
    func json(_ object: JSONObject) throws(OutputFailure) { try line(JSONLine.text(object)) }

    /// Prints bytes as they are: signed documents on their way to another program.
    func raw(_ bytes: [UInt8]) throws(OutputFailure) { try write(bytes) }

    /// Prints what was done, as text or as an object; nothing when quiet.
    func answer(_ object: @autoclosure () -> JSONObject, text: @autoclosure () -> String) throws(OutputFailure) {
        if isJSON {
            try json(object())
        } else if !isQuiet {
            try line(text())
        }
    }

    /// Hands everything printed so far to the system.
    func flush() throws(OutputFailure) {
        let bytes = pending
        pending = []
        if let number = Self.writeAll(bytes, to: 1) { throw OutputFailure(number: number) }
    }

    private func write(_ bytes: [UInt8]) throws(OutputFailure) {
        pending += bytes
        if pending.count >= 1 << 16 { try flush() }
    }

    // MARK: - Remarks

    /// Says something that is no answer, such as what was skipped; nothing when quiet.
    func note(_ text: String) throws(OutputFailure) {
        if !isQuiet { try remark("nsh-pkgtool: \(text)") }
    }

    /// Warns: something is wrong that does not change this answer.
    func warning(_ text: String) throws(OutputFailure) {
        try remark("nsh-pkgtool: \(errorPaint.odd("warning")): \(text)")
    }

    /// Says what went wrong.
    func error(_ text: String) throws(OutputFailure) { try remark("nsh-pkgtool: \(text)") }

    /// Says what to do next, each advice once.
    func hint(_ text: String?) throws(OutputFailure) {
        guard let text, !isQuiet, hints.insert(text).inserted else { return }
        try remark("\(errorPaint.faint("hint")): \(text)")
    }

    private func remark(_ text: String) throws(OutputFailure) {
        // Answers that came before stay before, also where both go to one place.
        try flush()
        Self.standardError(text)
    }

    /// Writes a line to standard error; if nobody listens there, nothing is left to tell.
    static func standardError(_ text: String) { _ = writeAll(Array((text + "\n").utf8), to: 2) }

    /// Writes all bytes and returns the error number of a failure.
    private static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                buffer.baseAddress.map { Glibc.write(descriptor, $0 + done, buffer.count - done) } ?? 0
            }
            if count < 0, errno == EINTR { continue }
            if count < 0 { return errno }
            done += count
        }
        return nil
    }
}

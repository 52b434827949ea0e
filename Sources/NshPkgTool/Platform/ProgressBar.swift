import CLinux
import Glibc
import NshTrust

/// A bar on standard error while something takes longer than a second, when somebody is looking; then it is wiped away.
///
/// May be told of progress by any thread.
final class ProgressBar: Sendable {
    private struct State {
        var lastDrawn: Double = 0
        var isVisible = false
    }

    private let label: String
    private let begun: Double
    private let isWanted: Bool
    private let state = Locked(State())

    /// Prepares a bar.
    ///
    /// - Parameters:
    ///   - label: What is being done, made safe.
    ///   - isWanted: False when quiet or when the answer is for a program.
    init(_ label: String, isWanted: Bool) {
        self.label = label
        self.isWanted = isWanted && Terminal.isTerminal(2)
        begun = Self.now
    }

    /// Watches a verification with this bar, and stops it when a signal has come.
    var monitor: Monitor {
        Monitor(isCancelled: { Interruption.signal != 0 }, progress: { self.update(done: $0, total: $1) })
    }

    /// Says how far it is.
    func update(done: Int64, total: Int64) {
        guard isWanted else { return }
        let now = Self.now
        let isDue = state.withLock { state in
            guard now - begun > 1, now - state.lastDrawn > 0.1 else { return false }
            state.lastDrawn = now
            state.isVisible = true
            return true
        }
        if isDue { draw(Self.line(label, done: done, total: total, columns: Int(nsh_terminal_columns(2)))) }
    }

    /// Wipes the bar away.
    func finish() {
        let wasVisible = state.withLock { state in
            defer { state.isVisible = false }
            return state.isVisible
        }
        if wasVisible { draw("") }
    }

    /// Returns one line: label, bar, share and amount, cut to fit.
    static func line(_ label: String, done: Int64, total: Int64, columns: Int) -> String {
        let share = total > 0 ? min(1, Double(done) / Double(total)) : 0
        let amount = total > 0 ? " \(Int(share * 100)) % of \(Amount.bytes(total))" : " \(Amount.bytes(done))"
        let width = columns > 0 ? columns : 80
        let room = width - amount.count - 4
        guard room > 16 else { return String(amount.dropFirst().prefix(width - 1)) }
        let name = String(label.suffix(room / 2))
        let bar = room - name.count
        let full = total > 0 ? Int(share * Double(bar)) : 0
        return "\(name) [" + String(repeating: "#", count: full) + String(repeating: "-", count: bar - full) + "]"
            + amount
    }

    private func draw(_ text: String) {
        let bytes = Array("\r\u{1B}[K\(text)".utf8)
        _ = write(2, bytes, bytes.count)
    }

    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

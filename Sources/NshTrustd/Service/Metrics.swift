import NshTrust
import Synchronization

/// What is counted: numbers that only grow, each raised by one atomic addition.
///
/// Every set of labels is known before the first request, so that no client can make the text longer.
final class Metrics: Sendable {
    /// What was decided about a package.
    enum Operation: Int, CaseIterable, Sendable {
        case verify
        case open
        case check

        /// The value of the label.
        var name: String { "\(self)" }
    }

    /// A number that only grows.
    final class Counter: Sendable {
        private let number = Atomic<Int64>(0)
        /// The number now.
        var value: Int64 { number.load(ordering: .relaxed) }
        /// Raises it.
        func add(_ amount: Int64 = 1) { number.wrappingAdd(amount, ordering: .relaxed) }
    }

    /// How long something took, in buckets.
    final class Histogram: Sendable {
        /// The upper bounds of the buckets, in nanoseconds.
        static let bounds: [UInt64] = [
            50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000,
            100_000_000, 250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 10_000_000_000, 60_000_000_000,
        ]
        /// The same in seconds, as they are written.
        static let boundTexts = [
            "0.00005", "0.0001", "0.00025", "0.0005", "0.001", "0.0025", "0.005", "0.01", "0.025", "0.05", "0.1",
            "0.25",
            "0.5", "1", "2.5", "10", "60",
        ]

        /// How many took at most as long as each bound and longer than the one before; the last one longer than all.
        let buckets = (0...bounds.count).map { _ in Counter() }
        /// Nanoseconds of all.
        let sum = Counter()

        /// Counts one.
        func add(nanoseconds: UInt64) {
            let index = Self.bounds.firstIndex { nanoseconds <= $0 } ?? Self.bounds.count
            buckets[index].add()
            sum.add(Int64(clamping: nanoseconds))
        }
    }

    /// The statuses that are counted apart; any other is counted with the last.
    static let statuses = [200, 400, 403, 404, 405, 410, 413, 415, 503, 507, 500]
    /// The codes that a decision may end with: none, every refusal, everything that kept it from being made.
    static let codes =
        [""] + RefusalCode.allCases.map(\.rawValue) + TroubleCode.allCases.map(\.rawValue)
        + Problem.Code.allCases.map(\.rawValue).filter { TroubleCode(rawValue: $0) == nil }
    private static let unknownCode = codes.firstIndex(of: TroubleCode.ioFailure.rawValue) ?? 0
    private static let codeIndex = Dictionary(uniqueKeysWithValues: codes.enumerated().map { ($1, $0) })

    /// Decisions by operation and code, in the order of `Operation` and of `codes`.
    let decisions: [[Counter]]
    /// Requests by route and status; the last row is what no route takes.
    let requests: [[Counter]]
    /// How long requests took until their answer was known, by route; the last one is what no route takes.
    let durations: [Histogram]
    /// Connections that were one too many.
    let refusedConnections = Counter()
    /// Connections that were ended because their client was too slow, in the order of `ServerEvent.Deadline`.
    let passedDeadlines = ServerEvent.Deadline.allCases.map { _ in Counter() }

    /// Makes counters that are all zero.
    ///
    /// - Parameter routes: How many routes there are.
    init(routes: Int) {
        decisions = Operation.allCases.map { _ in Self.codes.map { _ in Counter() } }
        requests = (0...routes).map { _ in Self.statuses.map { _ in Counter() } }
        durations = (0...routes).map { _ in Histogram() }
    }

    /// Counts an answer.
    ///
    /// - Parameters:
    ///   - route: The place of its route in the table; nil when there is none.
    ///   - status: Its status.
    ///   - started: When the request's head was looked at, on the monotonic clock.
    func answered(route: Int?, status: Int, since started: UInt64) {
        let row = route ?? requests.count - 1
        let column = Self.statuses.firstIndex(of: status) ?? Self.statuses.count - 1
        requests[row][column].add()
        durations[row].add(nanoseconds: MonotonicTime.nanoseconds() &- started)
    }

    /// Counts a decision.
    ///
    /// - Parameters:
    ///   - operation: What was decided.
    ///   - code: Nil when it was accepted.
    func decided(_ operation: Operation, code: String?) {
        let column = code.map { Self.codeIndex[$0] ?? Self.unknownCode } ?? 0
        decisions[operation.rawValue][column].add()
    }

    /// The verdict that a code stands for.
    static func verdict(of code: String) -> String {
        if code.isEmpty { return "accepted" }
        return RefusalCode(rawValue: code) == nil ? "error" : "refused"
    }
}

import Glibc
public import Testing

/// Cites the rules of `docs/` that a test, or every test of a suite, holds the code to.
///
/// The trait shows the ids as comments of the test. Where the environment variable
/// `NSH_RULE_REPORT` names a file, each finished test case appends its ids to it, a line each
/// (`PKG-3<tab>test name`), so that `scripts/spec-coverage --report` counts only tests that ran.
public struct RuleTrait: TestTrait, SuiteTrait, TestScoping {
    /// The ids as cited, for example `PKG-3`.
    public let ids: [String]

    /// Also holds for the tests inside a suite that carries the trait.
    public var isRecursive: Bool { true }

    /// One comment naming the rules, printed with the test's failures.
    public var comments: [Comment] { [Comment(rawValue: "rules: " + ids.joined(separator: ", "))] }

    /// Runs the test case, then reports its rules.
    ///
    /// - Parameters:
    ///   - test: The test that cites the rules.
    ///   - testCase: Its current case; `nil` never reaches this method.
    ///   - function: The body of the test case.
    /// - Throws: What the test case throws; `RuleReportError` when the report cannot be written.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await function()
        guard let path = getenv("NSH_RULE_REPORT") else { return }
        try append(ids.map { "\($0)\t\(test.name)\n" }.joined(), to: String(cString: path))
    }

    private func append(_ text: String, to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw RuleReportError(path: path, errno: errno) }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        // One write per case: lines of parallel tests do not mix.
        guard write(descriptor, bytes, bytes.count) == bytes.count else {
            throw RuleReportError(path: path, errno: errno)
        }
    }
}

/// The file that `NSH_RULE_REPORT` names could not be written.
public struct RuleReportError: Error {
    /// The path as the environment gave it.
    public let path: String
    /// The system's error number.
    public let errno: Int32
}

extension Trait where Self == RuleTrait {
    /// Cites rules of the documents, as `scripts/spec-coverage` finds them.
    ///
    /// - Parameter ids: One or more rule ids, such as `"PKG-3", "POL-7"`.
    /// - Returns: The trait.
    public static func rules(_ ids: String...) -> Self { RuleTrait(ids: ids) }
}

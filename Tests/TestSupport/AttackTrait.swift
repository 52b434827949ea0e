public import Testing

/// Names the public faults of other projects that a test plays against this one: ids of `docs/known-attacks.md`.
///
/// `scripts/check-attacks` holds table and tests together: a row names tests that carry its id, and an id that a test
/// carries has a row.
public struct AttackTrait: TestTrait, SuiteTrait {
    /// The ids as cited, for example `A1`.
    public let ids: [String]

    /// Also holds for the tests inside a suite that carries the trait.
    public var isRecursive: Bool { true }

    /// One comment naming the attacks, printed with the test's failures.
    public var comments: [Comment] { [Comment(rawValue: "attacks: " + ids.joined(separator: ", "))] }
}

extension Trait where Self == AttackTrait {
    /// Names the attacks that the test plays.
    ///
    /// - Parameter ids: One or more ids of `docs/known-attacks.md`, such as `"A1", "K8"`.
    /// - Returns: The trait.
    public static func attack(_ ids: String...) -> Self { AttackTrait(ids: ids) }
}

import NshTrust

/// The answers to `check` that say yes, each made once.
///
/// What such an answer says of a package follows from its digest, but for the publisher: a package may come again with a
/// renewed certificate. Whether it is still true is not asked here: the library has decided before each use.
final class AcceptedAnswers: Sendable {
    private struct Entry: Sendable {
        let publisher: DisplayText
        let answer: KeptAnswer
    }

    /// How many answers each of the parts keeps, of about a kilobyte and a half.
    private static let maximumCount = 256

    private let parts = (0..<16).map { _ in Locked<[Digest: Entry]>([:]) }
    private let state: String

    /// Makes an empty collection.
    ///
    /// - Parameter state: The absolute path of the state directory.
    init(state: String) { self.state = state }

    /// The answer that an installed package may start.
    func answer(for package: PackageExcerpt) -> Outcome {
        let (digest, publisher) = (package.installed.facts.digest, package.installed.facts.certificate.publisher)
        let part = parts[Int(truncatingIfNeeded: digest.shardNumber & 15)]
        let known = part.withLock { entries -> KeptAnswer? in
            guard let entry = entries[digest], entry.publisher == publisher else { return nil }
            return entry.answer
        }
        if let known { return .again(known) }
        let answer = CheckAnswer.accepted(package.installed, state: state)
        guard let kept = KeptAnswer(answer) else { return .answer(answer) }
        part.withLock { entries in
            if entries.count >= Self.maximumCount { entries = [:] }
            entries[digest] = Entry(publisher: publisher, answer: kept)
        }
        return .again(kept)
    }
}

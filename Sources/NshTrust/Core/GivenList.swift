extension Verification {
    /// A revocation list that the caller brings along, verified once for all packages that it is held against.
    package final class GivenList: Sendable {
        /// What to call it in messages: its file.
        package let name: String
        private let state: Locked<State>

        fileprivate struct State: Sendable {
            /// The envelope's bytes, until they are read.
            var bytes: [UInt8]?
            /// What was read of them, or why it cannot be.
            var envelope: Result<Envelope, Refusal>?
            /// The list, and the roots that it was verified by.
            var verified: (list: VerifiedList, roots: [PublicKey])?
        }

        /// Makes a given list.
        ///
        /// - Parameters:
        ///   - name: What to call it in messages.
        ///   - bytes: Its envelope, given away: a long one is not in memory twice unless the caller keeps it.
        package init(name: String, bytes: consuming [UInt8]) {
            self.name = name
            state = Locked(State(bytes: bytes))
        }

        /// Verifies the list, the first time.
        ///
        /// Which of its signers still stand is asked of each snapshot that it is laid over.
        ///
        /// - Throws: The `Refusal`, with the list's name.
        func verified(roots: [PublicKey], policy: Policy) throws -> VerifiedList {
            do {
                return try state.withLock { state in
                    if let known = state.verified, known.roots == roots { return known.list }
                    let envelope = try state.readEnvelope(policy.limits)
                    let list = try VerifiedList.verifying(
                        envelope, roots: roots, state: EmptyTrustState(), policy: policy)
                    state.verified = (list, roots)
                    return list
                }
            } catch let refusal as Refusal {
                throw Refusal(refusal.code, "\(Printable.escaped(name)): \(refusal.message)")
            }
        }
    }
}

extension Verification.GivenList.State {
    fileprivate mutating func readEnvelope(_ limits: Limits) throws(Refusal) -> Envelope {
        if let envelope { return try envelope.get() }
        let taken = bytes.take() ?? []
        let read = Result { () throws(Refusal) in try VerifiedList.envelope(taking: taken, limits: limits) }
        envelope = read
        return try read.get()
    }
}

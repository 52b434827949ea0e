extension NshTrust {
    /// What a host asks of an instance; the defaults are the safe choice.
    public struct Options: Sendable {
        /// Distinct trusted roots that must have signed a certificate; 1 … 16.
        ///
        /// The store remembers the greatest value used: an instance that asks for less is refused.
        public var rootThreshold = 1
        /// Whether a package new to the store must be inside its certificate's window now.
        public var expiry = ExpiryCheck.atOpening
        /// Whether an app must stay with its publisher.
        public var publisherContinuity = PublisherContinuity.required
        /// Whether a build number accepted before may come again with other content.
        public var rebuilding = Rebuilding.refused
        /// Whether an expired revocation list makes packages stale.
        public var listExpiry = ListExpiry.enforced
        /// The greatest age in seconds of each trusted root's revocation list; nil asks for none.
        public var maximumListAgeSeconds: Int64?
        /// The host's runtime version, 1–4 numbers joined by dots; nil accepts every `runtime.minimum`.
        public var runtime: String?
        /// The bounds of everything.
        public var limits = Limits()
        /// How long to wait for other processes that write the store, in seconds.
        public var busyTimeoutSeconds = 30
        /// Whether opening an installed package re-reads every file of its tree.
        public var treeCheck = TreeCheck.fileList
        /// Whether an accepted build must survive power loss before `openPackage` returns.
        public var durability = Durability.powerLoss
        /// The clock, in whole seconds since 1970 UTC; nil is the system's.
        public var clock: (@Sendable () -> Int64)?

        /// Makes the safe defaults.
        public init() {}

        /// How an installed tree is checked before it is handed out again.
        public enum TreeCheck: Hashable, Sendable {
            /// The tree and its `SHA256SUMS` are there and the list has the signed digest.
            case fileList
            /// Every file is read and compared, and nothing else lies in the tree.
            case everyFile
        }

        /// The options as the rules want them.
        ///
        /// - Throws: `badRequest` for a threshold outside 1 … `limits.pinnedRoots`, a negative age or a runtime that is no
        ///   version.
        package func policy() throws(Trouble) -> Policy {
            guard limits.pinnedRoots >= 1 else {
                throw Trouble(.badRequest, "the limit of pinned roots is \(limits.pinnedRoots), it must be at least 1")
            }
            guard (1...limits.pinnedRoots).contains(rootThreshold) else {
                throw Trouble(
                    .badRequest, "the root threshold is \(rootThreshold), it must be 1 to \(limits.pinnedRoots)")
            }
            var policy = Policy()
            policy.rootThreshold = rootThreshold
            policy.expiry = expiry
            policy.publisherContinuity = publisherContinuity
            policy.rebuilding = rebuilding
            policy.listExpiry = listExpiry
            policy.limits = limits
            policy.maximumListAgeSeconds = maximumListAgeSeconds
            if let age = maximumListAgeSeconds, age < 0 {
                throw Trouble(.badRequest, "the maximum list age is \(age) s, it must not be negative")
            }
            if let runtime {
                guard let version = RuntimeVersion(runtime) else {
                    throw Trouble(
                        .badRequest,
                        "“\(Printable.escaped(runtime, limit: 40))” is not a runtime version: 1 to 4 numbers joined by dots"
                    )
                }
                policy.runtime = version
            }
            return policy
        }
    }
}

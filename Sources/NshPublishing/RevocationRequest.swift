internal import NshTrust

/// What a root's next revocation list is to say: what is added to the previous one, and what is taken off it.
///
/// Every entry of the previous list is carried forward, since a new list replaces the old one wherever it is applied.
///
/// - Spec: REV-1 … REV-17
public struct RevocationRequest: Hashable, Sendable {
    /// Until when the list is fresh.
    public enum Expiry: Hashable, Sendable {
        /// As the previous list says; a first list never expires.
        case unchanged
        /// It never expires.
        case never
        /// The last second, since 1970 UTC.
        case at(Int64)
    }

    /// Hashes of release keys to revoke, or of other roots to withdraw: 64 hex digits each.
    public var keys: [String] = []
    /// Serials of certificates to revoke: 32 hex digits each.
    public var certificates: [String] = []
    /// Digests or manifests of packages to revoke: 64 hex digits each.
    public var packages: [String] = []
    /// The lowest build allowed, for each app id.
    public var minimumBuilds: [String: Int64] = [:]
    /// The highest build allowed, for each app id; counts with enough roots' signatures.
    public var maximumBuilds: [String: Int64] = [:]
    /// The publisher to which an app id may pass; counts with enough roots' signatures.
    public var transfers: [String: String] = [:]
    /// Entries to take off the previous list, before anything is added: a serial (32 hex digits), a hash or digest (64),
    /// an app id (from all three maps), or one of `minimumBuilds:ID`, `maximumBuilds:ID`, `transfers:ID`.
    public var restored: [String] = []
    /// Whether the issuing root withdraws itself, for good.
    public var withdrawsIssuer = false
    /// Until when the list is fresh.
    public var expiry = Expiry.unchanged
    /// Notes that are signed and shown and decide nothing; nil carries the previous list's forward.
    public var annotations: [String: String]?

    /// Makes a request that changes nothing.
    public init() {}

    /// Returns a root's first list, numbered 1, without a signature yet.
    ///
    /// - Parameters:
    ///   - issuer: The root's public key in base64.
    ///   - time: When it is issued, in seconds since 1970 UTC; `SigningTime.current()` gives it.
    /// - Returns: The list as a draft.
    /// - Throws: `malformed` with the entry that breaks the format, `badRequest` for one that makes no sense.
    public func draftFirst(issuer: String, at time: Int64) throws -> SignedDocument {
        try publicly {
            guard restored.isEmpty else {
                throw Trouble(.badRequest, "a first list has no entries that could be restored")
            }
            let key = try PublicKey(publishing: issuer)
            return try draft(RevocationList(issuer: key.hash, sequence: 1, issuedAt: time), issuer: key, expiresAt: nil)
        }
    }

    /// Returns the list that follows a root's previous one, without a signature yet.
    ///
    /// - Parameters:
    ///   - previous: The newest list of that root.
    ///   - issuer: The root's public key in base64.
    ///   - time: When it is issued, in seconds since 1970 UTC.
    /// - Returns: The list as a draft.
    /// - Throws: `untrustedRoot` when the previous list is another root's or does not verify, `rootWithdrawn` when the
    ///   root has withdrawn itself, `malformed` or `badRequest` as `draftFirst`.
    public func draft(after previous: SignedDocument, issuer: String, at time: Int64) throws -> SignedDocument {
        try publicly {
            let key = try PublicKey(publishing: issuer)
            let old = try previous.revocationList()
            guard old.issuer == key.hash, previous.isSigned(by: key) else {
                throw Refusal(
                    .untrustedRoot,
                    "the previous list is not issued and signed by root \(key.id); a list follows one of the same root")
            }
            guard !old.revokesIssuer else {
                throw Refusal(.rootWithdrawn, "root \(key.id) has withdrawn itself; nothing follows that list")
            }
            guard old.sequence < JSONReader.maximumInteger else {
                throw Refusal(.limitExceeded, "the previous list has the greatest number there is")
            }
            var list = old
            list.sequence += 1
            list.issuedAt = time
            for entry in restored { try Self.restore(entry, in: &list) }
            return try draft(list, issuer: key, expiresAt: old.expiresAt)
        }
    }

    /// Returns a root's first list, signed.
    ///
    /// - Parameters:
    ///   - root: The root's key.
    ///   - time: When it is issued, in seconds since 1970 UTC.
    /// - Returns: The list with the root's signature.
    /// - Throws: As `draftFirst(issuer:at:)`.
    public func signFirst(with root: borrowing SecretKey, at time: Int64) throws -> SignedDocument {
        try publicly {
            try draftFirst(issuer: root.publicKeyText, at: time).signed(by: root)
        }
    }

    /// Returns the list that follows a root's previous one, signed.
    ///
    /// - Parameters:
    ///   - previous: The newest list of that root.
    ///   - root: The root's key.
    ///   - time: When it is issued, in seconds since 1970 UTC.
    /// - Returns: The list with the root's signature.
    /// - Throws: As `draft(after:issuer:at:)`.
    public func sign(
        after previous: SignedDocument, with root: borrowing SecretKey, at time: Int64
    ) throws -> SignedDocument {
        try publicly {
            try draft(after: previous, issuer: root.publicKeyText, at: time).signed(by: root)
        }
    }

    // MARK: - Entries

    private func draft(_ base: RevocationList, issuer: PublicKey, expiresAt: Int64?) throws -> SignedDocument {
        var list = base
        try add(to: &list, issuer: issuer)
        list.revokesIssuer = withdrawsIssuer
        switch expiry {
        case .unchanged: list.expiresAt = expiresAt
        case .never: list.expiresAt = nil
        case .at(let time): list.expiresAt = time
        }
        if let end = list.expiresAt, end < list.issuedAt {
            throw Trouble(
                .badRequest,
                "the list would expire \(Timestamp.text(end)), before it is issued, \(Timestamp.text(list.issuedAt)); "
                    + "say when it expires")
        }
        if let annotations { list.annotations = try Annotations(publishing: annotations) }
        let envelope = Envelope(kind: .revocations, payload: list.serialized)
        // Reading it back holds numbers, ids and texts to the reader's own rules.
        let document = try SignedDocument(parsing: envelope.serialized)
        let limit = Limits().revocationListBytes
        guard document.bytes.count + 1024 <= limit else {
            throw Refusal(.limitExceeded, "the revocation list would have more than \(limit) bytes")
        }
        return document
    }

    private func add(to list: inout RevocationList, issuer: PublicKey) throws {
        let hashes = try keys.map { try Self.digest($0, "key") }
        guard !hashes.contains(issuer.hash) else {
            throw Trouble(.badRequest, "root \(issuer.id) withdraws itself by withdrawing, not by naming its key")
        }
        list.keys.formUnion(SortedSet(hashes))
        list.packages.formUnion(SortedSet(try packages.map { try Self.digest($0, "package") }))
        list.certificates.formUnion(SortedSet(try certificates.map(Self.serial)))
        for (text, build) in minimumBuilds {
            let id = try Self.appID(text)
            if let floor = list.minimumBuilds[id], floor > build {
                throw Trouble(
                    .badRequest,
                    "the lowest build of \(id) is \(floor) already; restore minimumBuilds:\(id) to allow lower ones")
            }
            list.minimumBuilds[id] = build
        }
        for (text, build) in maximumBuilds { list.maximumBuilds[try Self.appID(text)] = build }
        for (text, publisher) in transfers {
            guard let publisher = DisplayText(publisher) else {
                throw Refusal.malformed("a publisher needs 1 to 255 bytes of displayable text")
            }
            list.transfers[try Self.appID(text)] = publisher
        }
    }

    private static func restore(_ entry: String, in list: inout RevocationList) throws {
        var removed = 0
        if let serial = Serial(hex: entry), list.certificates.remove(serial) { removed += 1 }
        if let digest = Digest(hex: entry) {
            if list.keys.remove(digest) { removed += 1 }
            if list.packages.remove(digest) { removed += 1 }
        }
        let parts = entry.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        let (map, id) = parts.count == 2 ? (parts[0], AppID(parts[1])) : ("", AppID(entry))
        if let id {
            func names(_ other: String) -> Bool { map.isEmpty && parts.count == 1 || map == other }
            if names("minimumBuilds"), list.minimumBuilds.removeValue(forKey: id) != nil { removed += 1 }
            if names("maximumBuilds"), list.maximumBuilds.removeValue(forKey: id) != nil { removed += 1 }
            if names("transfers"), list.transfers.removeValue(forKey: id) != nil { removed += 1 }
        }
        guard removed > 0 else {
            throw Trouble(
                .badRequest, "the previous list has no entry “\(Printable.escaped(entry, limit: 255))” to restore")
        }
    }

    private static func digest(_ text: String, _ what: String) throws(Refusal) -> Digest {
        guard let digest = Digest(hex: text) else {
            throw .malformed("“\(Printable.escaped(text, limit: 80))” is no \(what) hash: 64 lower-case hex digits")
        }
        return digest
    }

    private static func serial(_ text: String) throws(Refusal) -> Serial {
        guard let serial = Serial(hex: text) else {
            throw .malformed("“\(Printable.escaped(text, limit: 80))” is no serial: 32 lower-case hex digits")
        }
        return serial
    }

    private static func appID(_ text: String) throws(Refusal) -> AppID {
        guard let id = AppID(text) else {
            throw .malformed("“\(Printable.escaped(text, limit: 80))” is not an app id")
        }
        return id
    }
}

/// What an app declares that it needs, or what is left of it after the host granted less.
public struct NshCapabilities: Hashable, Sendable {
    /// The declaration; nil when there is none.
    package let object: JSONObject?

    /// Takes the declaration of a signed header.
    package init(_ object: JSONObject?) { self.object = object }

    /// Whether the app declares anything.
    public var isEmpty: Bool { object?.members.isEmpty ?? true }

    /// The capabilities as compact JSON with sorted names; `{}` when there are none.
    public var json: String {
        String(decoding: JSONValue.object(object ?? JSONObject()).serialized, as: UTF8.self)
    }

    /// Returns what both the app declares and the host grants.
    ///
    /// - Parameter grant: The most that the app may do, as JSON in the same shape; nil grants what is declared.
    /// - Returns: For host lists the narrower of each two patterns, for Booleans both, for any other shape what is equal.
    /// - Throws: `NshError` (`badRequest`) for JSON that is not strict, not an object, or has bad host patterns.
    public func granted(by grant: String?) throws -> NshCapabilities {
        guard let grant else { return self }
        let allowed: JSONObject
        do {
            allowed = try JSONReader.read(Array(grant.utf8), subject: "the grant of capabilities") {
                (reader: inout JSONReader) throws(Refusal) in
                try reader.tree(numbers: .integers)
            }
        } catch {
            throw NshError(Trouble(.badRequest, error.message))
        }
        if let problem = CapabilityIntersection.problem(inGrant: allowed) {
            throw NshError(Trouble(.badRequest, "the grant of capabilities: \(problem)"))
        }
        return NshCapabilities(CapabilityIntersection.of(declared: object ?? JSONObject(), granted: allowed))
    }

    /// Tells whether a network request to the host is allowed by `network.hosts`.
    ///
    /// - Parameter host: A host name; upper-case ASCII letters are taken as lower-case.
    /// - Returns: False for every host that no pattern allows, and for text that is no host name.
    public func allowsNetwork(to host: String) -> Bool { allows(host, in: "network") }

    /// Tells whether a web view may show the host, by `webview.hosts`.
    ///
    /// - Parameter host: A host name; upper-case ASCII letters are taken as lower-case.
    /// - Returns: False for every host that no pattern allows, and for text that is no host name.
    public func allowsWebView(of host: String) -> Bool { allows(host, in: "webview") }

    /// Tells whether a Boolean capability such as `openUrl` or `statusBar` is there and true.
    public func allows(_ name: String) -> Bool { object?[name] == .boolean(true) }

    private func allows(_ host: String, in name: String) -> Bool {
        guard case .object(let member)? = object?[name], case .array(let hosts)? = member["hosts"] else { return false }
        // Unicode's folding would make the name of one host that of another: U+212A is not the letter k of a host name.
        let lower = String(decoding: host.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
        return hosts.contains { value in
            if case .text(let text) = value { HostPattern(text)?.allows(lower) ?? false } else { false }
        }
    }
}

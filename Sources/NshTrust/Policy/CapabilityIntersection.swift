/// What an app may do when it declares one set of capabilities and its host grants another: what both allow.
///
/// - Spec: CAP-1
package enum CapabilityIntersection {
    /// Returns what both allow.
    ///
    /// Host lists become the narrower of each two patterns, Booleans are and-ed, any other shape stays only when it is
    /// equal in both, and a capability that only one side names is not there.
    ///
    /// - Parameters:
    ///   - declared: What the app's signed header says; a host pattern in it that is none grants nothing.
    ///   - granted: What the host allows.
    /// - Returns: The capabilities that remain.
    package static func of(declared: JSONObject, granted: JSONObject) -> JSONObject {
        var result = JSONObject()
        for (name, wanted) in declared.members {
            guard let allowed = granted[name] else { continue }
            if let both = intersect(wanted, allowed, hostsInside: name == "network" || name == "webview") {
                result.append(name, both)
            }
        }
        return result
    }

    /// Tells what is wrong with a grant, or nil: host lists must hold patterns.
    ///
    /// - Spec: CAP-4
    package static func problem(inGrant granted: JSONObject) -> String? {
        for name in ["network", "webview"] {
            guard case .object(let member)? = granted[name], let hosts = member["hosts"] else { continue }
            guard case .array(let patterns) = hosts else { return "“\(name).hosts” is not an array" }
            for pattern in patterns {
                guard case .text(let text) = pattern, HostPattern(text) != nil else {
                    return "“\(name).hosts” holds something that is not a lower-case host or `*.` pattern"
                }
            }
        }
        return nil
    }

    private static func intersect(_ wanted: JSONValue, _ allowed: JSONValue, hostsInside: Bool) -> JSONValue? {
        switch (wanted, allowed) {
        case (.boolean(let a), .boolean(let b)):
            return .boolean(a && b)
        case (.object(let a), .object(let b)) where hostsInside:
            var result = JSONObject()
            for (name, value) in a.members {
                guard let other = b[name] else { continue }
                if name == "hosts" {
                    result.append(name, .array(hosts(value, other)))
                } else if let both = intersect(value, other, hostsInside: false) {
                    result.append(name, both)
                }
            }
            return .object(result)
        default:
            return wanted == allowed ? wanted : nil
        }
    }

    private static func hosts(_ wanted: JSONValue, _ allowed: JSONValue) -> [JSONValue] {
        let (a, b) = (patterns(wanted), patterns(allowed))
        var result: [HostPattern] = []
        var seen: Set<HostPattern> = []
        for one in a {
            for other in b {
                guard let narrower = one.narrower(other), seen.insert(narrower).inserted else { continue }
                result.append(narrower)
            }
        }
        return result.map { .text($0.description) }
    }

    private static func patterns(_ value: JSONValue) -> [HostPattern] {
        guard case .array(let values) = value else { return [] }
        return values.compactMap { if case .text(let text) = $0 { HostPattern(text) } else { nil } }
    }
}

/// A host, or `*.` and a domain: one or more labels before it, not the domain itself.
///
/// - Spec: CAP-3
package struct HostPattern: Hashable, Sendable, CustomStringConvertible {
    private let isWildcard: Bool
    private let domain: String

    /// Makes a pattern, or nil unless it is lower-case ASCII labels of 1–63 letters, digits, `-`, joined by dots.
    package init?(_ text: String) {
        isWildcard = text.utf8.starts(with: "*.".utf8)
        let rest = Array(text.utf8.dropFirst(isWildcard ? 2 : 0))
        guard Self.areLabels(rest, besides: []) else { return nil }
        domain = String(decoding: rest, as: UTF8.self)
    }

    /// Tells whether the pattern allows a host name, which is lower-case; text that is no host name is not allowed.
    ///
    /// Names in use have underscores in their labels, too.
    ///
    /// - Spec: CAP-2
    package func allows(_ host: String) -> Bool {
        let bytes = Array(host.utf8)
        guard Self.areLabels(bytes, besides: [0x5F]) else { return false }
        guard isWildcard else { return bytes.elementsEqual(domain.utf8) }
        let suffix = Array(("." + domain).utf8)
        return bytes.count > suffix.count && bytes.suffix(suffix.count).elementsEqual(suffix)
    }

    /// Tells whether the bytes are labels of 1–63 lower-case letters, digits and `-`, or one of the others, and dots.
    ///
    /// - Spec: CAP-2, CAP-3
    private static func areLabels(_ bytes: [UInt8], besides others: Set<UInt8>) -> Bool {
        guard bytes.count <= 253 else { return false }
        return bytes.split(separator: 0x2E, omittingEmptySubsequences: false).allSatisfy { label in
            (1...63).contains(label.count)
                && label.allSatisfy {
                    (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D || others.contains($0)
                }
        }
    }

    /// Returns the narrower of two patterns when one lies within the other, else nil.
    package func narrower(_ other: HostPattern) -> HostPattern? {
        if self == other || other.contains(self) { return self }
        return contains(other) ? other : nil
    }

    private func contains(_ other: HostPattern) -> Bool {
        guard isWildcard else { return false }
        return other.domain.hasSuffix("." + domain) || other.isWildcard && other.domain == domain
    }

    /// The pattern as it is written.
    package var description: String { isWildcard ? "*." + domain : domain }
}

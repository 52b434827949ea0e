/// What a build is: one digest over app, capabilities, runtime and manifest; signatures and times are not in it.
///
/// Two packages of one build number are the same content exactly when their identities are equal.
///
/// - Spec: POL-10
package struct ContentIdentity: Hashable, Sendable {
    /// The digest over the canonical form.
    package let digest: Digest

    /// Restores an identity that the store kept.
    package init(digest: Digest) { self.digest = digest }

    /// Computes the identity of a header.
    package init(of header: PackageHeader) {
        var object: JSONObject = [
            "app": .object(header.app.json), "manifest": .text(header.payload.manifest.hex),
        ]
        object["capabilities"] = header.capabilities.map { .object($0) }
        object["runtime"] = header.minimumRuntime.map { .text($0.text) }
        digest = SHA256.hash(JSONValue.object(object).serialized)
    }
}

package import NshTrust

/// Makes a revocation list for a test: a good one by default, and hostile in any one place.
///
/// ```swift
/// var list = ListBuilder(sequence: 7)
/// list.signedBy = [.stranger]
/// host.mustRefuse(list: list.build(), .untrustedRoot)
/// ```
public struct ListBuilder: Sendable {
    /// The payload.
    package var list: RevocationList
    /// Who signs, in order.
    public var signedBy: [TestKey]
    /// Changes the payload's bytes before they are signed.
    public var editBytes: (@Sendable (inout [UInt8]) -> Void)?
    /// Changes the signatures.
    package var editSignatures: (@Sendable (inout [Envelope.Signature]) -> Void)?
    /// Changes the envelope's bytes.
    public var editEnvelope: (@Sendable (inout [UInt8]) -> Void)?

    /// Starts with a list that revokes nothing.
    ///
    /// - Parameters:
    ///   - sequence: Its number.
    ///   - issuer: The root that issues and signs it.
    public init(sequence: Int64 = 1, by issuer: TestKey = .root) {
        list = RevocationList(
            issuer: issuer.publicKey.hash, sequence: sequence, issuedAt: PackageBuilder.now - 1000 + min(sequence, 999))
        signedBy = [issuer]
    }

    /// Makes the list.
    public func build() -> [UInt8] {
        var bytes = list.serialized
        editBytes?(&bytes)
        var envelope = Envelope.signed(.revocations, bytes, by: signedBy, edit: editSignatures).serialized
        editEnvelope?(&envelope)
        return envelope
    }
}

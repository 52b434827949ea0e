/// What applying a verified list does to the list in force of the same issuer.
///
/// - Spec: REV-6, REV-7, REV-10, REV-11
package enum ListSuccession: Hashable, Sendable {
    /// It is the list in force: nothing changes.
    case unchanged
    /// It takes the place of the list in force, or is the issuer's first.
    case replaces
    /// It withdraws its issuer for good: its entries join those of the list in force.
    case unites

    /// Decides what applying the list does.
    ///
    /// - Parameters:
    ///   - list: The new list.
    ///   - inForce: The list of the same issuer in force, if there is one.
    /// - Returns: What applying the list does.
    /// - Throws: `rootWithdrawn` when the issuer's word no longer counts, `revocationsOlder` for a lower number,
    ///   `revocationsConflict` for an equal number with other bytes.
    package static func decide(_ list: VerifiedList, after inForce: ListSummary?) throws(Refusal) -> ListSuccession {
        if let inForce, inForce.payloadDigest == list.payloadDigest { return .unchanged }
        guard !list.issuerWasWithdrawn else {
            throw Refusal(.rootWithdrawn, "root \(list.list.issuer.shortHex), which issued the list, was withdrawn")
        }
        if list.list.revokesIssuer { return .unites }
        guard let inForce else { return .replaces }
        let (new, old) = (list.list.sequence, inForce.list.sequence)
        if new < old {
            throw Refusal(
                .revocationsOlder, "list \(new) is older than list \(old) of the same root, which is in force")
        }
        if new == old {
            throw Refusal(
                .revocationsConflict,
                "list \(new) differs from list \(old) of the same root, which is in force; a changed list needs a new number"
            )
        }
        return .replaces
    }
}

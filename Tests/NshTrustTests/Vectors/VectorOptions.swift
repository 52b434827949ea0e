@testable import NshTrust

extension NshTrust.Options {
    /// The options that a vector asks for.
    ///
    /// - Throws: `VectorError` for an option or a limit that is not known.
    init(vector: JSONObject, at: Int64?) throws {
        self.init()
        if let at { clock = { at } }
        durability = .processEndUnsafely
        for (name, value) in vector.members {
            switch (name, value) {
            case ("threshold", .integer(let number)): rootThreshold = Int(number)
            case ("atSigning", .boolean(let flag)): expiry = flag ? .atSigningOnly : .atOpening
            case ("runtime", .text(let text)): runtime = text
            case ("maxListAge", .integer(let seconds)): maximumListAgeSeconds = seconds
            case ("listExpiry", .text(let word)): listExpiry = word == "ignored" ? .ignoredUnsafely : .enforced
            case ("publisherContinuity", .text(let word)):
                publisherContinuity = word == "waived" ? .waivedUnsafely : .required
            case ("rebuilding", .text(let word)): rebuilding = word == "allowed" ? .allowedUnsafely : .refused
            case ("limits", .object(let object)): try apply(object)
            default: throw VectorError("unknown option \(name)")
            }
        }
    }

    private mutating func apply(_ object: JSONObject) throws {
        for (name, value) in object.members {
            switch (name, value) {
            case ("certificateEnvelopeBytes", .integer(let number)): limits.certificateEnvelopeBytes = number
            case ("headerEnvelopeBytes", .integer(let number)): limits.headerEnvelopeBytes = number
            case ("files", .integer(let number)): limits.files = number
            case ("directories", .integer(let number)): limits.directories = number
            case ("unpackedBytes", .integer(let number)): limits.unpackedBytes = number
            case ("revocationListBytes", .integer(let number)): limits.revocationListBytes = number
            case ("pinnedRoots", .integer(let number)): limits.pinnedRoots = Int(number)
            default: throw VectorError("unknown limit \(name)")
            }
        }
    }
}

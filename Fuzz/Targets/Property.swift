import NshTrust

/// Something that must hold for every input does not hold for this one.
package struct BrokenProperty: Error, CustomStringConvertible {
    /// What does not hold.
    package let description: String

    init(_ description: String) { self.description = description }
}

/// Ends the run unless the property holds.
func require(_ holds: Bool, _ property: @autoclosure () -> String) throws {
    guard holds else { throw BrokenProperty(property()) }
}

/// How something was judged: what came out, or the code.
enum Judged<Value> {
    case accepted(Value)
    case refused(String)

    /// One word.
    var word: String {
        switch self {
        case .accepted: "accepted"
        case .refused(let code): code
        }
    }

    /// What came out; nil when it was refused.
    var value: Value? {
        guard case .accepted(let value) = self else { return nil }
        return value
    }
}

/// Runs what either accepts or refuses.
///
/// - Parameters:
///   - codes: Codes of not being able to decide that may come, too. What lies in memory can always be decided.
///   - body: Does it.
/// - Returns: How it was judged; the message of a refusal was found safe to show.
/// - Throws: `BrokenProperty` for an error of any other kind.
func judged<Value>(allowing codes: Set<TroubleCode> = [], _ body: () throws -> Value) throws -> Judged<Value> {
    do {
        return .accepted(try body())
    } catch let refusal as Refusal {
        try requireSafe(refusal.message)
        return .refused(refusal.code.rawValue)
    } catch let trouble as Trouble where codes.contains(trouble.code) {
        try requireSafe(trouble.message)
        return .refused(trouble.code.rawValue)
    } catch let error as NshError where error.isRefusal || codes.contains(where: { $0.rawValue == error.code.rawValue })
    {
        try requireSafe(error.message)
        return .refused(error.code.rawValue)
    } catch let broken as BrokenProperty {
        throw broken
    } catch {
        throw BrokenProperty("neither accepted nor refused: \(error)")
    }
}

/// Requires that a message is what messages promise: one line of bounded length that no terminal acts on.
func requireSafe(_ message: String) throws {
    try require(message.utf8.count <= 8192, "a message has \(message.utf8.count) bytes")
    for scalar in message.unicodeScalars {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069, 0xFEFF:
            throw BrokenProperty("a message holds U+\(String(scalar.value, radix: 16)): \(message.debugDescription)")
        default: break
        }
    }
}

/// A number made of the input, for choices that have to be the same each time.
func fingerprint(_ bytes: [UInt8]) -> UInt64 {
    bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
}

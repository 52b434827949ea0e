package import NshTrust

/// Writes one JSON object on one line: members in the order given, nothing in it that a terminal would act on.
package enum JSONLine {
    /// Returns the object as text without a line end.
    package static func text(_ object: JSONObject) -> String {
        var text = ""
        append(.object(object), to: &text)
        return text
    }

    /// Returns a text in quotes, as it stands in a document.
    package static func quoted(_ value: String) -> String {
        var text = ""
        quote(value, to: &text)
        return text
    }

    private static func append(_ value: JSONValue, to text: inout String) {
        switch value {
        case .null: text += "null"
        case .boolean(let value): text += value ? "true" : "false"
        case .integer(let value): text += String(value)
        case .number(let digits): text += digits
        case .text(let value): quote(value, to: &text)
        case .array(let values):
            text += "["
            for (index, value) in values.enumerated() {
                if index > 0 { text += "," }
                append(value, to: &text)
            }
            text += "]"
        case .object(let object):
            text += "{"
            for (index, member) in object.members.enumerated() {
                if index > 0 { text += "," }
                quote(member.name, to: &text)
                text += ":"
                append(member.value, to: &text)
            }
            text += "}"
        }
    }

    private static func quote(_ value: String, to text: inout String) {
        text += "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\t": text += "\\t"
            case _ where UnicodeTables.isDisplayable(scalar): text.unicodeScalars.append(scalar)
            default: for unit in String(scalar).utf16 { text += "\\u" + hex(unit) }
            }
        }
        text += "\""
    }

    private static func hex(_ unit: UInt16) -> String {
        Hex.encode([UInt8(unit >> 8), UInt8(unit & 0xFF)])
    }
}

extension JSONObject {
    /// Adds a member unless the value was not established.
    package mutating func add(_ name: String, _ value: JSONValue?) {
        if let value { append(name, value) }
    }
}

/// A JSON value as strict parsing leaves it; equal by type and value, names in any order, text as bytes.
///
/// - Spec: SUM-15
package indirect enum JSONValue: Sendable, Hashable {
    case null
    case boolean(Bool)
    /// An integer of −(2⁵³−1) … 2⁵³−1.
    case integer(Int64)
    /// Any other number of RFC 8259, as it was written; only where fractions are allowed.
    case number(String)
    case text(String)
    case array([JSONValue])
    case object(JSONObject)

    /// Tells whether two values are equal by type and value.
    package static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.boolean(let a), .boolean(let b)): a == b
        case (.integer(let a), .integer(let b)): a == b
        case (.number(let a), .number(let b)): a == b
        case (.text(let a), .text(let b)): a.utf8.elementsEqual(b.utf8)
        case (.array(let a), .array(let b)): a == b
        case (.object(let a), .object(let b)): a == b
        default: false
        }
    }

    /// Feeds the value; equal values feed the same.
    package func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .boolean(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        case .number(let text): hasher.combine(text)
        case .text(let text): hasher.combine(Array(text.utf8))
        case .array(let values): hasher.combine(values)
        case .object(let object): hasher.combine(object)
        }
    }
}

/// A JSON object: members in the order of the document, no name twice.
package struct JSONObject: Sendable, Hashable {
    /// The members in the order of the document.
    package private(set) var members: [(name: String, value: JSONValue)] = []

    /// Makes an empty object.
    package init() {}

    /// The value of a name, compared as bytes; setting nil removes the member.
    package subscript(name: String) -> JSONValue? {
        get { members.first { $0.name.utf8.elementsEqual(name.utf8) }?.value }
        set {
            let index = members.firstIndex { $0.name.utf8.elementsEqual(name.utf8) }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append((name, value))
            case (nil, nil): break
            }
        }
    }

    /// Appends a member whose name the caller knows to be new.
    package mutating func append(_ name: String, _ value: JSONValue) { members.append((name, value)) }

    /// The members sorted by the bytes of their names.
    package var sortedMembers: [(name: String, value: JSONValue)] {
        members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// Tells whether both have the same names with equal values, in any order.
    package static func == (left: JSONObject, right: JSONObject) -> Bool {
        guard left.members.count == right.members.count else { return false }
        return zip(left.sortedMembers, right.sortedMembers).allSatisfy { a, b in
            a.name.utf8.elementsEqual(b.name.utf8) && a.value == b.value
        }
    }

    /// Feeds the members in sorted order.
    package func hash(into hasher: inout Hasher) {
        for member in sortedMembers {
            hasher.combine(Array(member.name.utf8))
            hasher.combine(member.value)
        }
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// Makes an object of members whose names differ; of equal names the last one stays.
    package init(dictionaryLiteral elements: (String, JSONValue)...) {
        self.init()
        for (name, value) in elements { self[name] = value }
    }
}

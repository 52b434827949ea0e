import NshTrust

/// Makes JSON schemas: closed objects, typed members.
enum Schema {
    /// A member of an object.
    struct Member {
        let name: String
        let schema: JSONObject
        let isRequired: Bool
    }

    /// A member that is always there.
    static func required(_ name: String, _ schema: JSONObject) -> Member {
        Member(name: name, schema: schema, isRequired: true)
    }

    /// A member that may be absent.
    static func optional(_ name: String, _ schema: JSONObject) -> Member {
        Member(name: name, schema: schema, isRequired: false)
    }

    /// An object with these members and no others.
    static func object(_ members: [Member]) -> JSONObject {
        var properties = JSONObject()
        for member in members { properties.append(member.name, .object(member.schema)) }
        var schema: JSONObject = ["type": .text("object"), "additionalProperties": .boolean(false)]
        let required = members.filter(\.isRequired).map { JSONValue.text($0.name) }
        if !required.isEmpty { schema.append("required", .array(required)) }
        if !members.isEmpty { schema.append("properties", .object(properties)) }
        return schema
    }

    /// An object with any names, whose values are alike.
    static func map(of values: JSONObject) -> JSONObject {
        ["type": .text("object"), "additionalProperties": .object(values)]
    }

    /// An array.
    static func array(_ items: JSONObject, maximum: Int64? = nil) -> JSONObject {
        var schema: JSONObject = ["type": .text("array"), "items": .object(items)]
        schema["maxItems"] = maximum.map { .integer($0) }
        return schema
    }

    /// Text.
    static func text(
        pattern: String? = nil, minimum: Int64? = nil, maximum: Int64? = nil, example: String? = nil
    ) -> JSONObject {
        var schema: JSONObject = ["type": .text("string")]
        schema["pattern"] = pattern.map { .text($0) }
        schema["minLength"] = minimum.map { .integer($0) }
        schema["maxLength"] = maximum.map { .integer($0) }
        schema["examples"] = example.map { .array([.text($0)]) }
        return schema
    }

    /// One of some words.
    static func words(_ words: [String]) -> JSONObject {
        ["type": .text("string"), "enum": .array(words.map { .text($0) })]
    }

    /// One of some words, or null.
    static func wordsOrNull(_ words: [String]) -> JSONObject {
        [
            "type": .array([.text("string"), .text("null")]),
            "enum": .array(words.map { .text($0) } + [.null]),
        ]
    }

    /// An integer.
    static func integer(
        _ range: ClosedRange<Int64> = 0...JSONReader.maximumInteger, example: Int64? = nil
    ) -> JSONObject {
        var schema: JSONObject = [
            "type": .text("integer"), "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound),
        ]
        schema["examples"] = example.map { .array([.integer($0)]) }
        return schema
    }

    /// True or false.
    static let boolean: JSONObject = ["type": .text("boolean")]

    /// Any JSON value, where somebody else decides what it is.
    static let anything: JSONObject = [
        "type": .array(["object", "array", "string", "number", "boolean", "null"].map { .text($0) })
    ]

    /// Bytes.
    static let binary: JSONObject = ["type": .text("string"), "format": .text("binary")]

    /// What a component says.
    static func component(_ name: String) -> JSONObject { ["$ref": .text("#/components/schemas/\(name)")] }

    // MARK: - Our own words

    /// A SHA-256 in hex.
    static let digest = text(
        pattern: "^[0-9a-f]{64}$", minimum: 64, maximum: 64,
        example: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")
    /// An app id.
    static let appID = text(
        pattern: #"^[A-Za-z0-9_][A-Za-z0-9_-]{0,62}(\.[A-Za-z0-9_][A-Za-z0-9_-]{0,62})+$"#, minimum: 3, maximum: 255,
        example: "com.example.orders")
    /// The path of a file: what ends in a slash or a dot names a directory.
    static let filePath = text(
        pattern: #"^/[^\x00]*[^\x00/.]$"#, minimum: 2, maximum: 4095, example: "/srv/packages/orders-6.nshpkg")
    /// An absolute path that the daemon says.
    static let path = text(pattern: "^/")
    /// Seconds since 1970 UTC.
    static let time = integer(example: 1_764_470_000)
    /// Canonical base64.
    static let base64 = text(
        pattern: "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$")
    /// Canonical base64 of 32 bytes.
    static let publicKey = text(pattern: "^[A-Za-z0-9+/]{43}=$", minimum: 44, maximum: 44)
}

/// What a request line asks for, split and then decoded, once and in one place.
///
/// Both parts are split before they are decoded, so that an encoded `/`, `&` or `=` is a character like any other.
struct RequestTarget: Sendable {
    /// The segments of the path; see `RequestHead.path`.
    let path: [String]?
    /// The parameters of the query; see `RequestHead.query`.
    let query: [(name: String, value: String)]?

    /// Takes a request target apart.
    ///
    /// - Parameter bytes: The target as it was sent, between the method and the version.
    init(_ bytes: some BidirectionalCollection<UInt8>) {
        let mark = bytes.firstIndex(of: UInt8(ascii: "?"))
        path = Self.segments(bytes[..<(mark ?? bytes.endIndex)])
        query = mark.map { Self.parameters(bytes[bytes.index(after: $0)...]) } ?? []
    }

    private static func segments(_ path: some BidirectionalCollection<UInt8>) -> [String]? {
        guard path.first == UInt8(ascii: "/") else { return nil }
        var segments: [String] = []
        var start = path.index(after: path.startIndex)
        if start == path.endIndex { return [] }
        segments.reserveCapacity(4)
        while true {
            let end = path[start...].firstIndex(of: UInt8(ascii: "/")) ?? path.endIndex
            guard let segment = decoded(path[start..<end]), !["", ".", ".."].contains(segment) else { return nil }
            segments.append(segment)
            if end == path.endIndex { return segments }
            start = path.index(after: end)
        }
    }

    private static func parameters(_ query: some BidirectionalCollection<UInt8>) -> [(name: String, value: String)]? {
        if query.isEmpty { return [] }
        var parameters: [(name: String, value: String)] = []
        for pair in query.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) {
            let sign = pair.firstIndex(of: UInt8(ascii: "="))
            guard let name = decoded(pair[..<(sign ?? pair.endIndex)]),
                let value = sign.map({ decoded(pair[pair.index(after: $0)...]) }) ?? ""
            else { return nil }
            parameters.append((name, value))
        }
        return parameters
    }

    /// Decodes `%XX`; nil for anything but two hexadecimal digits after a `%`, for controls and spaces sent as
    /// themselves, for an encoded NUL, and for what is not UTF-8.
    private static func decoded(_ bytes: some BidirectionalCollection<UInt8>) -> String? {
        var result: [UInt8] = []
        var rest = bytes.makeIterator()
        result.reserveCapacity(bytes.count)
        while let byte = rest.next() {
            guard byte > 0x20, byte != 0x7f else { return nil }
            guard byte == UInt8(ascii: "%") else {
                result.append(byte)
                continue
            }
            guard let high = rest.next().flatMap(digit), let low = rest.next().flatMap(digit) else { return nil }
            let value = high << 4 | low
            guard value != 0 else { return nil }
            result.append(value)
        }
        return String(validating: result, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

/// Reads one strict JSON document from the front, member by member, without building a tree.
///
/// RFC 8259 with everything ambiguous refused: no byte-order mark, no invalid UTF-8, no name twice after unescaping, no
/// lone surrogate, at most 16 containers deep, nothing after the value, integers only in plain decimal.
///
/// - Spec: JSN-1 … JSN-11, LIM-13
package struct JSONReader {
    private let bytes: [UInt8]
    private var at: Int
    private let end: Int
    private var depth = 0
    /// Bytes that the tree being read may still have in compact form.
    private var room = Int.max
    /// What is being read, for messages: `the certificate`.
    private let subject: String
    /// The name of the member of the outermost object that cannot be read, is not known, comes twice or is missing; nil
    /// when nothing was refused, or something outside of any member.
    package private(set) var wrongMember: [UInt8]?

    /// Containers a document may nest.
    private static let maximumDepth = 16

    /// Reads a whole document and refuses anything after it.
    ///
    /// - Parameters:
    ///   - bytes: The bytes that hold the document.
    ///   - range: Where the document lies in them; all of them when nil.
    ///   - subject: What the document is, for messages.
    ///   - body: Reads the document's one value.
    /// - Returns: What `body` returns.
    /// - Throws: `malformed` for anything that is not strict JSON or that `body` refuses.
    package static func read<Value>(
        _ bytes: [UInt8], in range: Range<Int>? = nil, subject: String,
        _ body: (inout JSONReader) throws(Refusal) -> Value
    ) throws(Refusal) -> Value {
        var reader = JSONReader(bytes: bytes, range: range ?? 0..<bytes.count, subject: subject)
        reader.skipSpace()
        let value = try body(&reader)
        reader.skipSpace()
        guard reader.at == reader.end else { throw reader.malformed("something stands after the value") }
        return value
    }

    private init(bytes: [UInt8], range: Range<Int>, subject: String) {
        // Nothing behind it is looked at, and what is read eight bytes at a time is not looked at again.
        precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count, "the document lies in the bytes")
        self.bytes = bytes
        self.at = range.lowerBound
        self.end = range.upperBound
        self.subject = subject
    }

    /// Makes the refusal of what stands here.
    package func malformed(_ problem: String) -> Refusal {
        .malformed("\(subject) is malformed: \(problem), at byte \(at)")
    }

    // MARK: - Containers

    /// Reads an object with a fixed set of names: each at most once, the required ones present, no other.
    ///
    /// - Parameters:
    ///   - type: An enum whose raw values are the names.
    ///   - optional: The names that may be absent.
    ///   - member: Reads the value of the name that it is handed.
    /// - Throws: `malformed`.
    package mutating func members<Name: RawRepresentable<String> & CaseIterable & Equatable>(
        of type: Name.Type, optional: [Name] = [],
        _ member: (inout JSONReader, Name) throws(Refusal) -> Void
    ) throws(Refusal) {
        let names = Array(Name.allCases)
        var isRead = [Bool](repeating: false, count: names.count)
        try object { (reader: inout JSONReader, name: [UInt8]) throws(Refusal) in
            guard let known = names.firstIndex(where: { $0.rawValue.utf8.elementsEqual(name) }) else {
                throw reader.malformed("the name “\(Printable.escaped(bytes: name, limit: 40))” is not known")
            }
            isRead[known] = true
            try member(&reader, names[known])
        }
        var missing: String?
        for (name, isRead) in zip(names, isRead) where !isRead && !optional.contains(name) {
            missing = min(missing ?? name.rawValue, name.rawValue)
        }
        if let name = missing {
            if depth == 0 { wrongMember = Array(name.utf8) }
            throw malformed("“\(name)” is missing")
        }
    }

    /// Reads an object with free names, none of which may come twice.
    ///
    /// - Parameter member: Reads the value of the name, which it is handed as text.
    /// - Throws: `malformed`.
    package mutating func dictionary(
        _ member: (inout JSONReader, String) throws(Refusal) -> Void
    ) throws(Refusal) {
        try object { (reader: inout JSONReader, name: [UInt8]) throws(Refusal) in
            try member(&reader, String(decoding: name, as: UTF8.self))
        }
    }

    /// Reads an array of any length.
    ///
    /// - Parameter element: Reads one element.
    /// - Throws: `malformed`.
    package mutating func array(_ element: (inout JSONReader) throws(Refusal) -> Void) throws(Refusal) {
        try enter(0x5B, "an array")
        if take(0x5D) { return leave() }
        repeat {
            skipSpace()
            try element(&self)
            skipSpace()
        } while take(0x2C)
        guard take(0x5D) else { throw malformed("“,” or “]” is expected") }
        leave()
    }

    private mutating func object(_ member: (inout JSONReader, [UInt8]) throws(Refusal) -> Void) throws(Refusal) {
        try enter(0x7B, "an object")
        if take(0x7D) { return leave() }
        var seen: Set<[UInt8]> = []
        repeat {
            skipSpace()
            let name = try textBytes()
            if depth == 1 { wrongMember = name }
            guard seen.insert(name).inserted else {
                throw malformed("the name “\(Printable.escaped(bytes: name, limit: 40))” stands twice")
            }
            skipSpace()
            guard take(0x3A) else { throw malformed("“:” is expected") }
            skipSpace()
            try member(&self, name)
            if depth == 1 { wrongMember = nil }
            skipSpace()
        } while take(0x2C)
        guard take(0x7D) else { throw malformed("“,” or “}” is expected") }
        leave()
    }

    private mutating func enter(_ open: UInt8, _ what: String) throws(Refusal) {
        guard take(open) else { throw malformed("\(what) is expected") }
        guard depth < Self.maximumDepth else { throw malformed("it nests more than \(Self.maximumDepth) deep") }
        depth += 1
        skipSpace()
    }

    private mutating func leave() { depth -= 1 }

    // MARK: - Values

    /// Reads an integer in plain decimal.
    ///
    /// - Parameter range: The values allowed; 0 … 2⁵³−1 unless said otherwise.
    /// - Returns: The integer.
    /// - Throws: `malformed`.
    package mutating func integer(in range: ClosedRange<Int64> = 0...JSONReader.maximumInteger) throws(Refusal) -> Int64
    {
        let start = at
        let isInteger = try number()
        guard isInteger, let value = Self.integer(bytes[start..<at]) else {
            throw malformed("a plain integer of at most 2⁵³−1 is expected")
        }
        guard range.contains(value) else {
            throw malformed("\(value) is not in \(range.lowerBound) … \(range.upperBound)")
        }
        return value
    }

    /// 2⁵³−1, the greatest integer that every JSON reader keeps exact.
    package static let maximumInteger: Int64 = 1 << 53 - 1

    /// Reads `true` or `false`.
    package mutating func boolean() throws(Refusal) -> Bool {
        if takeWord("true") { return true }
        if takeWord("false") { return false }
        throw malformed("true or false is expected")
    }

    /// Reads text and unescapes it.
    package mutating func text() throws(Refusal) -> String { String(decoding: try textBytes(), as: UTF8.self) }

    /// Reads text, unescapes it and returns its UTF-8.
    package mutating func textBytes() throws(Refusal) -> [UInt8] {
        guard take(0x22) else { throw malformed("text in quotes is expected") }
        let start = at
        while at < end, bytes[at] != 0x22, bytes[at] != 0x5C, bytes[at] >= 0x20, bytes[at] < 0x80 { at += 1 }
        if take(0x22) { return Array(bytes[start..<(at - 1)]) }
        var text = Array(bytes[start..<at])
        while true {
            guard at < end else { throw malformed("the text does not end") }
            switch bytes[at] {
            case 0x22:
                at += 1
                return text
            case 0x5C:
                at += 1
                try appendEscape(to: &text)
            case 0..<0x20:
                throw malformed("a control character stands in text")
            case 0x20..<0x80:
                text.append(bytes[at])
                at += 1
            default:
                try appendScalar(to: &text)
            }
        }
    }

    /// Reads canonical base64 in quotes.
    ///
    /// - Parameter count: The number of bytes it must hold; any when nil.
    /// - Returns: The bytes.
    /// - Throws: `malformed`.
    /// - Spec: ENV-3, KEY-6
    package mutating func base64(count: Int? = nil) throws(Refusal) -> [UInt8] {
        let decoded =
            if let text = plainText() { Base64.decode(bytes[text]) } else { Base64.decode(try textBytes()) }
        guard let decoded else { throw malformed("canonical base64 is expected") }
        guard count == nil || count == decoded.count else { throw malformed("\(count ?? 0) bytes are expected") }
        return decoded
    }

    /// Passes over text in quotes, and says where it stands: what it is remains for the caller to judge.
    ///
    /// - Returns: Where the text stands in the bytes; nil, and nothing was read, when an escape stands in it or it is none.
    package mutating func plainText() -> Range<Int>? {
        guard at < end, bytes[at] == 0x22 else { return nil }
        let close = bytes.withUnsafeBytes { Self.firstQuoteOrBackslash(in: $0, from: at + 1, to: end) }
        guard close < end, bytes[close] == 0x22 else { return nil }
        defer { at = close + 1 }
        return (at + 1)..<close
    }

    /// Where text in quotes ends or needs a closer look; `end` when it does neither.
    private static func firstQuoteOrBackslash(in bytes: UnsafeRawBufferPointer, from start: Int, to end: Int) -> Int {
        var at = start
        // Eight at a time: most of a header or a list is one long text.
        while at + 8 <= end {
            let letters = bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self)
            if hasZeroByte(letters ^ 0x2222_2222_2222_2222) || hasZeroByte(letters ^ 0x5C5C_5C5C_5C5C_5C5C) { break }
            at += 8
        }
        while at < end, bytes[at] != 0x22, bytes[at] != 0x5C { at += 1 }
        return at
    }

    private static func hasZeroByte(_ word: UInt64) -> Bool {
        (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080 != 0
    }

    /// Reads a SHA-256 in 64 lower-case hex digits.
    package mutating func digest() throws(Refusal) -> Digest {
        guard let digest = try hexDigits(64, Digest.init(hexDigits:)) else {
            throw malformed("64 lower-case hex digits are expected")
        }
        return digest
    }

    /// Reads a serial in 32 lower-case hex digits.
    package mutating func serial() throws(Refusal) -> Serial {
        guard let serial = try hexDigits(32, Serial.init(hexDigits:)) else {
            throw malformed("a serial has 32 lower-case hex digits")
        }
        return serial
    }

    /// Reads text of so many hex digits, where it stands unless it is spelled with escapes.
    private mutating func hexDigits<Value>(
        _ count: Int, _ make: (UnsafeRawBufferPointer) -> Value?
    ) throws(Refusal) -> Value? {
        let close = at + 1 + count
        if close < end, bytes[at] == 0x22, bytes[close] == 0x22,
            let value = bytes.withUnsafeBytes({ make(UnsafeRawBufferPointer(rebasing: $0[(at + 1)..<close])) })
        {
            at = close + 1
            return value
        }
        return try textBytes().withUnsafeBytes(make)
    }

    /// How many bytes are left: more values than these can hold cannot follow.
    package var bytesLeft: Int { end - at }

    /// Which numbers a tree may hold.
    package enum Numbers: Sendable {
        /// Plain integers of −(2⁵³−1) … 2⁵³−1.
        case integers
        /// Every number of RFC 8259.
        case any
    }

    /// Reads any value as a tree.
    ///
    /// - Spec: JSN-2, JSN-6, JSN-11, PKG-8, LIM-20
    package mutating func value(numbers: Numbers) throws(Refusal) -> JSONValue {
        guard at < end else { throw malformed("a value is expected") }
        try use(1)
        switch bytes[at] {
        case 0x7B: return .object(try tree(numbers: numbers))
        case 0x5B:
            var values: [JSONValue] = []
            try array { (reader: inout JSONReader) throws(Refusal) in
                values.append(try reader.value(numbers: numbers))
            }
            return .array(values)
        case 0x22:
            let text = try text()
            try use(text.utf8.count)
            return .text(text)
        case 0x74, 0x66: return .boolean(try boolean())
        case 0x6E where takeWord("null"): return .null
        default: return try numberValue(numbers)
        }
    }

    /// Reads an object as a tree.
    ///
    /// - Spec: JSN-3, PKG-8, LIM-20
    package mutating func tree(numbers: Numbers) throws(Refusal) -> JSONObject {
        var object = JSONObject()
        try dictionary { (reader: inout JSONReader, name: String) throws(Refusal) in
            try reader.use(name.utf8.count)
            object.append(name, try reader.value(numbers: numbers))
        }
        return object
    }

    /// Reads an object as a tree that is refused before it takes more memory than one of so many bytes.
    ///
    /// - Parameters:
    ///   - numbers: Which numbers it may hold.
    ///   - compactMax: Bytes that its compact form may have. One of more is refused while it is read; that it has no
    ///     more is the caller's to count, for only texts and the number of values are counted here.
    /// - Returns: The tree.
    /// - Throws: `malformed`.
    package mutating func tree(numbers: Numbers, compactMax: Int) throws(Refusal) -> JSONObject {
        room = compactMax
        let object = try tree(numbers: numbers)
        room = .max
        return object
    }

    /// Reads any value and keeps nothing of it.
    package mutating func skip(numbers: Numbers) throws(Refusal) {
        switch at < end ? bytes[at] : 0 {
        case 0x7B:
            try object { (reader: inout JSONReader, _: [UInt8]) throws(Refusal) in try reader.skip(numbers: numbers) }
        case 0x5B: try array { (reader: inout JSONReader) throws(Refusal) in try reader.skip(numbers: numbers) }
        default: _ = try value(numbers: numbers)
        }
    }

    /// - Spec: LIM-20
    private mutating func use(_ count: Int) throws(Refusal) {
        room -= count
        guard room >= 0 else { throw malformed("it is larger than allowed") }
    }

    private mutating func numberValue(_ numbers: Numbers) throws(Refusal) -> JSONValue {
        let start = at
        let isInteger = try number()
        if isInteger, let value = Self.integer(bytes[start..<at]) { return .integer(value) }
        guard numbers == .any else { throw malformed("a plain integer of at most 2⁵³−1 is expected") }
        return .number(String(decoding: bytes[start..<at], as: UTF8.self))
    }

    // MARK: - Letters

    private mutating func number() throws(Refusal) -> Bool {
        _ = take(0x2D)
        guard at < end, isDigit(bytes[at]) else { throw malformed("a number is expected") }
        if !take(0x30) { skipDigits() }
        var isInteger = true
        if take(0x2E) {
            isInteger = false
            guard at < end, isDigit(bytes[at]) else { throw malformed("a digit is expected after the point") }
            skipDigits()
        }
        if take(0x65) || take(0x45) {
            isInteger = false
            if !take(0x2B) { _ = take(0x2D) }
            guard at < end, isDigit(bytes[at]) else { throw malformed("a digit is expected in the exponent") }
            skipDigits()
        }
        return isInteger
    }

    /// - Spec: JSN-6, JSN-7, PKG-8
    private static func integer(_ spelling: ArraySlice<UInt8>) -> Int64? {
        let negative = spelling.first == 0x2D
        let digits = negative ? spelling.dropFirst() : spelling
        guard digits.count <= 16 else { return nil }
        let magnitude = digits.reduce(Int64(0)) { $0 * 10 + Int64($1 - 0x30) }
        guard magnitude <= maximumInteger, !(negative && magnitude == 0) else { return nil }
        return negative ? -magnitude : magnitude
    }

    private mutating func appendEscape(to text: inout [UInt8]) throws(Refusal) {
        guard at < end else { throw malformed("the text does not end") }
        let letter = bytes[at]
        at += 1
        switch letter {
        case 0x22, 0x5C, 0x2F: text.append(letter)
        case 0x62: text.append(0x08)
        case 0x66: text.append(0x0C)
        case 0x6E: text.append(0x0A)
        case 0x72: text.append(0x0D)
        case 0x74: text.append(0x09)
        case 0x75:
            let unit = try codeUnit()
            var value = UInt32(unit)
            if (0xD800...0xDBFF).contains(unit) {
                guard take(0x5C), take(0x75) else { throw malformed("a surrogate stands alone") }
                let low = try codeUnit()
                guard (0xDC00...0xDFFF).contains(low) else { throw malformed("a surrogate stands alone") }
                value = 0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(low) - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(value) else { throw malformed("a surrogate stands alone") }
            text += Array(String(Character(scalar)).utf8)
        default: throw malformed("the escape is not known")
        }
    }

    private mutating func codeUnit() throws(Refusal) -> UInt16 {
        guard end - at >= 4 else { throw malformed("four hex digits are expected") }
        var unit: UInt16 = 0
        for digit in bytes[at..<(at + 4)] {
            switch digit {
            case 0x30...0x39: unit = unit << 4 | UInt16(digit - 0x30)
            case 0x41...0x46: unit = unit << 4 | UInt16(digit - 0x41 + 10)
            case 0x61...0x66: unit = unit << 4 | UInt16(digit - 0x61 + 10)
            default: throw malformed("four hex digits are expected")
            }
        }
        at += 4
        return unit
    }

    private mutating func appendScalar(to text: inout [UInt8]) throws(Refusal) {
        let count = UTF8Sequence.count(startingAt: at, in: bytes, end: end)
        guard count > 0 else { throw malformed("the text is not UTF-8") }
        text += bytes[at..<(at + count)]
        at += count
    }

    private mutating func skipSpace() {
        while at < end, bytes[at] == 0x20 || bytes[at] == 0x0A || bytes[at] == 0x0D || bytes[at] == 0x09 { at += 1 }
    }

    private mutating func skipDigits() {
        while at < end, isDigit(bytes[at]) { at += 1 }
    }

    private func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard at < end, bytes[at] == byte else { return false }
        at += 1
        return true
    }

    private mutating func takeWord(_ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard end - at >= count else { return false }
        let matches = word.withUTF8Buffer { $0.elementsEqual(bytes[at..<(at + count)]) }
        if matches { at += count }
        return matches
    }
}

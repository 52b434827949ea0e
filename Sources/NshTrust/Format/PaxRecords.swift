/// The records of a pax header: a path, a size, both or nothing.
///
/// - Spec: TAR-9, TAR-10
struct PaxRecords: Sendable {
    /// The value of `path`, any bytes.
    private(set) var path: [UInt8]?
    /// The value of `size`, any bytes.
    private(set) var size: [UInt8]?

    /// Makes the records of an empty pax header.
    init() {}

    /// Reads records `<length> <keyword>=<value>` and a line feed that fill the data exactly.
    ///
    /// - Parameter data: The data of a pax header, without its padding.
    /// - Throws: `payloadCorrupt`.
    init(parsing data: UnsafeRawBufferPointer) throws(Refusal) {
        var at = 0
        while at < data.count {
            let (value, end) = try Self.length(data, from: at)
            guard let equals = data[value..<end].firstIndex(of: 0x3D), data[end - 1] == 0x0A else {
                throw Self.corrupt("has no “=” or no line feed", at)
            }
            let content = Array(data[(equals + 1)..<(end - 1)])
            let keyword = UnsafeRawBufferPointer(rebasing: data[value..<equals])
            if keyword.elementsEqual("path".utf8), path == nil {
                path = content
            } else if keyword.elementsEqual("size".utf8), size == nil {
                size = content
            } else {
                let shown = Printable.escaped(bytes: keyword, limit: 40)
                throw Self.corrupt("is “\(shown)”, which may not stand there, or not twice", at)
            }
            at = end
        }
    }

    /// Reads the length in front of a record; returns where its keyword starts and where the record ends.
    private static func length(
        _ data: UnsafeRawBufferPointer, from start: Int
    ) throws(Refusal) -> (keyword: Int, end: Int) {
        var at = start
        var length = 0
        // Four digits are enough for 2048; a fifth makes the record longer than any pax header.
        while at < data.count, at - start < 5, (0x30...0x39).contains(data[at]) {
            length = length * 10 + Int(data[at] - 0x30)
            at += 1
        }
        let hasDigits = at > start && data[start] != 0x30
        let hasSpace = at < data.count && data[at] == 0x20
        guard hasDigits, hasSpace, length > at + 1 - start, length <= data.count - start else {
            throw corrupt("has no right length", start)
        }
        return (at + 1, start + length)
    }

    private static func corrupt(_ problem: String, _ at: Int) -> Refusal {
        Refusal(.payloadCorrupt, "the archive is damaged: the record at byte \(at) of a pax header \(problem)")
    }
}

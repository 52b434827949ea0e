import NshTrust

/// Takes server-sent events out of a stream of bytes.
struct EventParser: Sendable {
    /// One event.
    struct Event: Hashable, Sendable {
        /// `id`; nil when it has none.
        var id: String?
        /// `event`; `message` when it has none.
        var kind: String
        /// The lines of `data`, joined.
        var data: [UInt8]
    }

    private var line: [UInt8] = []
    private var isAfterReturn = false
    private var id: String?
    private var kind = ""
    private var data: [UInt8]?
    private var size = 0

    /// Bytes that one event may have.
    static let maximumEvent = 1 << 20

    /// Takes bytes.
    ///
    /// - Returns: The events that became whole.
    /// - Throws: `ioFailure` for an event that is too large.
    mutating func add(_ bytes: [UInt8]) throws(Trouble) -> [Event] {
        var events: [Event] = []
        for byte in bytes {
            let endsPair = isAfterReturn && byte == 0x0A
            isAfterReturn = byte == 0x0D
            if endsPair { continue }
            if byte != 0x0A, byte != 0x0D {
                line.append(byte)
                size += 1
                guard size <= Self.maximumEvent else {
                    throw Trouble(.ioFailure, "an event of nsh-trustd is larger than \(Self.maximumEvent) bytes")
                }
                continue
            }
            if let event = endLine() { events.append(event) }
        }
        return events
    }

    private mutating func endLine() -> Event? {
        defer { line = [] }
        if line.isEmpty { return endEvent() }
        let colon = line.firstIndex(of: 0x3A) ?? line.endIndex
        var value = line[min(colon + 1, line.endIndex)...]
        if value.first == 0x20 { value = value.dropFirst() }
        switch String(decoding: line[..<colon], as: UTF8.self) {
        case "id": id = String(decoding: value, as: UTF8.self)
        case "event": kind = String(decoding: value, as: UTF8.self)
        case "data": data = data.map { $0 + [0x0A] + value } ?? Array(value)
        // A comment begins with the colon; it only shows that the other side is there.
        default: size -= line.count
        }
        return nil
    }

    private mutating func endEvent() -> Event? {
        defer { (id, kind, data, size) = (nil, "", nil, 0) }
        return data.map { Event(id: id, kind: kind.isEmpty ? "message" : kind, data: $0) }
    }
}

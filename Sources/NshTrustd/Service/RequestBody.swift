import Glibc
import NshTrust

/// The small JSON documents that requests bring.
///
/// A member that is not known, comes twice or is of the wrong type is a `badRequest` that names it.
enum RequestBody {
    /// How many bytes such a document may have: enough for the longest path, each of its bytes escaped.
    static let limit = 64 << 10

    private enum PathName: String, CaseIterable { case path }
    private enum DigestName: String, CaseIterable { case digest }
    private enum AppName: String, CaseIterable { case app }
    private enum KeyName: String, CaseIterable { case key }
    private enum PruneName: String, CaseIterable { case keep, dryRun }

    /// Reads `{"path": …}`.
    ///
    /// - Throws: `badRequest`, also for a path that is not absolute or holds a NUL.
    static func path(_ body: [UInt8]) throws(Problem) -> String {
        var path = ""
        try members(body, of: PathName.self) { (reader: inout JSONReader, _: PathName) throws(Refusal) in
            path = try reader.text()
            guard path.utf8.first == 0x2F, !path.utf8.contains(0) else {
                throw reader.malformed("an absolute path without NUL is expected")
            }
        }
        return path
    }

    /// Reads `{"digest": …}`, in the one spelling that clients use without looking at every letter twice.
    static func digest(_ body: [UInt8]) throws(Problem) -> Digest {
        if let digest = plainDigest(body) { return digest }
        var digest = Digest.zero
        try members(body, of: DigestName.self) { (reader: inout JSONReader, _: DigestName) throws(Refusal) in
            digest = try reader.digest()
        }
        return digest
    }

    /// Reads `{"app": …}`.
    static func app(_ body: [UInt8]) throws(Problem) -> AppID {
        var app: AppID?
        try members(body, of: AppName.self) { (reader: inout JSONReader, _: AppName) throws(Refusal) in
            app = AppID(try reader.text())
            guard app != nil else { throw reader.malformed("an app id is expected") }
        }
        guard let app else { throw Problem(.badRequest, "“app” is missing", member: AppName.app.rawValue) }
        return app
    }

    /// Reads `{"key": …}`.
    static func key(_ body: [UInt8]) throws(Problem) -> Digest {
        var key = Digest.zero
        try members(body, of: KeyName.self) { (reader: inout JSONReader, _: KeyName) throws(Refusal) in
            key = try reader.digest()
        }
        return key
    }

    /// Reads `{"keep": N?, "dryRun": BOOL?}`.
    static func prune(_ body: [UInt8]) throws(Problem) -> (keep: Int, isRehearsal: Bool) {
        var (keep, isRehearsal) = (1, false)
        try members(body, of: PruneName.self, optional: [.keep, .dryRun]) {
            (reader: inout JSONReader, name: PruneName) throws(Refusal) in
            switch name {
            case .keep: keep = Int(try integer(&reader, in: keepRange))
            case .dryRun: isRehearsal = try reader.boolean()
            }
        }
        return (keep, isRehearsal)
    }

    /// How many builds of each app a pruning may be told to keep.
    static let keepRange: ClosedRange<Int64> = 1...1000

    /// Reads `{}`.
    static func empty(_ body: [UInt8]) throws(Problem) {
        try document(body) { (reader: inout JSONReader) throws(Refusal) in
            try reader.dictionary { (reader: inout JSONReader, name: String) throws(Refusal) in
                throw reader.malformed("the name “\(Printable.escaped(name, limit: 40))” is not known")
            }
        }
    }

    // MARK: - Reading

    /// Reads an integer in any spelling that JSON has for it: for JSON Schema, and so for our document, `2.0` is one.
    private static func integer(
        _ reader: inout JSONReader, in range: ClosedRange<Int64>
    ) throws(Refusal) -> Int64 {
        let number: Int64? =
            switch try reader.value(numbers: .any) {
            case .integer(let value): value
            case .number(let digits): Double(digits).flatMap { Int64(exactly: $0) }
            default: nil
            }
        guard let number, range.contains(number) else {
            throw reader.malformed("an integer of \(range.lowerBound) to \(range.upperBound) is expected")
        }
        return number
    }

    /// Reads `{"digest":"<64 digits>"}` without any white space; nil for everything else.
    private static func plainDigest(_ body: [UInt8]) -> Digest? {
        body.withUnsafeBytes { bytes in
            let (start, end) = (digestStart.utf8CodeUnitCount, digestEnd.utf8CodeUnitCount)
            guard bytes.count == start + 64 + end, let base = bytes.baseAddress,
                memcmp(base, digestStart.utf8Start, start) == 0,
                memcmp(base.advanced(by: start + 64), digestEnd.utf8Start, end) == 0
            else { return nil }
            return Digest(hexDigits: UnsafeRawBufferPointer(rebasing: bytes[start..<(start + 64)]))
        }
    }

    private static let digestStart: StaticString = #"{"digest":""#
    private static let digestEnd: StaticString = #""}"#

    /// Reads a document of a fixed set of names.
    private static func members<Name: RawRepresentable<String> & CaseIterable & Equatable>(
        _ body: [UInt8], of type: Name.Type, optional: [Name] = [],
        _ member: (inout JSONReader, Name) throws(Refusal) -> Void
    ) throws(Problem) {
        try document(body) { (reader: inout JSONReader) throws(Refusal) in
            try reader.members(of: type, optional: optional, member)
        }
    }

    /// Reads a document, and names the member that is wrong.
    private static func document(
        _ body: [UInt8], _ read: (inout JSONReader) throws(Refusal) -> Void
    ) throws(Problem) {
        var wrong: String?
        do throws(Refusal) {
            try JSONReader.read(body, subject: "the body") { (reader: inout JSONReader) throws(Refusal) in
                do throws(Refusal) {
                    try read(&reader)
                } catch {
                    wrong = reader.wrongMember.map { Printable.escaped(bytes: $0, limit: 80) }
                    throw error
                }
            }
        } catch {
            throw Problem(.badRequest, error.message, member: wrong)
        }
    }
}

import FoundationEssentials
import NshTrust
import TestSupport

extension FuzzTarget {
    /// An envelope of any kind.
    static let envelope = FuzzTarget(
        "envelope", maximumLength: 16 << 10, dictionary: "json", seeds: { try $0.envelopes() },
        judge: { input in
            let draft = try judged { try Envelope(parsingDraft: input) }
            var word = draft.value == nil ? draft.word : "malformed"
            for kind in Envelope.Kind.allCases {
                let one = try judged { try Envelope(parsing: input, as: kind) }
                let isRight = draft.value?.kind == kind && draft.value?.signatures.isEmpty == false
                try require((one.value != nil) == isRight, "as \(kind) it is \(one.word), as a draft \(draft.word)")
                if isRight { word = one.word }
            }
            guard let envelope = draft.value else { return word }
            let again = try Envelope(parsingDraft: envelope.serialized)
            try require(
                again.kind == envelope.kind && again.signatures == envelope.signatures
                    && again.signedBytes == envelope.signedBytes, "an envelope is written otherwise than read")
            let payload = envelope.payload
            let type = envelope.kind.rawValue
            let expected = Array("DSSEv1 \(type.utf8.count) \(type) \(payload.count) ".utf8) + payload
            try require(envelope.signedBytes == expected, "the signed bytes are not those of DSSE")
            try require((0...8).contains(envelope.signatures.count), "\(envelope.signatures.count) signatures")
            return word
        })

    /// A JSON document.
    static let json = FuzzTarget(
        "json", maximumLength: 4 << 10, dictionary: "json",
        seeds: { vectors in
            try vectors.payloads(of: .package) + vectors.envelopes().prefix(20)
                + [
                    Seed("numbers", "[0,-1,9007199254740991,-9007199254740991]", outcome: "accepted"),
                    Seed("text", #""\u00e9\ud83d\ude00\n\"""#, outcome: "accepted"),
                    Seed(
                        "deep", String(repeating: "[", count: 16) + String(repeating: "]", count: 16),
                        outcome: "accepted"),
                    Seed(
                        "deeper", String(repeating: "[", count: 17) + String(repeating: "]", count: 17),
                        outcome: "malformed"),
                    Seed("fraction", "{\"a\":1.5e3,\"b\":[true,false,null]}", outcome: "accepted"),
                    Seed("twice", #"{"a":1,"\u0061":2}"#, outcome: "malformed"),
                ]
        },
        judge: { input in
            let any = try Self.read(input, numbers: .any)
            let strict = try Self.read(input, numbers: .integers)
            let skipped = try judged {
                try JSONReader.read(input, subject: "the document") { (reader: inout JSONReader) throws(Refusal) in
                    try reader.skip(numbers: .any)
                }
            }
            try require(any.word == skipped.word, "read it is \(any.word), skipped it is \(skipped.word)")
            guard let value = any.value else {
                try require(strict.value == nil, "with integers alone more is accepted")
                return any.word
            }
            let written = value.serialized
            let again = try Self.read(written, numbers: .any)
            try require(again.value == value, "JSON is written otherwise than read")
            try require(again.value?.serialized == written, "JSON is written in two ways")
            try require(Self.isStrict(input), "another reader finds this is not strict JSON")
            if let value = strict.value {
                // It is lenient, so that what it refuses must not have been accepted.
                let isRead = (try? JSONDecoder().decode(AnyJSON.self, from: Data(input))) != nil
                try require(isRead, "Foundation does not read what was accepted")
                try require(value == any.value, "the value depends on which numbers are allowed")
            }
            return any.word
        })

    private static func read(_ bytes: [UInt8], numbers: JSONReader.Numbers) throws -> Judged<JSONValue> {
        try judged {
            try JSONReader.read(bytes, subject: "the document") { (reader: inout JSONReader) throws(Refusal) in
                try reader.value(numbers: numbers)
            }
        }
    }

    /// What the bytes alone tell: valid UTF-8, no mark before it, no control inside, brackets in pairs and not too deep.
    private static func isStrict(_ bytes: [UInt8]) -> Bool {
        guard String(validating: bytes, as: UTF8.self) != nil, !bytes.starts(with: [0xEF, 0xBB, 0xBF]) else {
            return false
        }
        var open: [UInt8] = []
        var isText = false
        var isEscaped = false
        for byte in bytes {
            if isText {
                if byte < 0x20 { return false }
                if isEscaped {
                    isEscaped = false
                } else if byte == 0x5C {
                    isEscaped = true
                } else if byte == 0x22 {
                    isText = false
                }
                continue
            }
            switch byte {
            case 0x22: isText = true
            case 0x5B, 0x7B: open.append(byte + 2)
            case 0x5D, 0x7D: if open.popLast() != byte { return false }
            default: if byte > 0x7E || byte == 0x2B && open.isEmpty && bytes.first == byte { return false }
            }
            if open.count > 16 { return false }
        }
        return !isText && open.isEmpty
    }

    /// Revocation lists, each signed by two roots, a separator byte between them.
    static let revocations = FuzzTarget(
        "revocations", maximumLength: 8 << 10, dictionary: "json",
        seeds: { vectors in
            var list = RevocationList(issuer: TestKey.root.publicKey.hash, sequence: 1, issuedAt: Bench.now - 10)
            let plain = list.serialized
            list.sequence = 2
            list.minimumBuilds = [PackageBuilder.id("com.example.orders"): 43]
            let floor = list.serialized
            list.revokesIssuer = true
            let withdrawal = list.serialized
            return try vectors.payloads(of: .revocations).map {
                Seed($0.name, Self.naming(TestKey.root, in: $0.bytes))
            } + [
                Seed("plain", plain, outcome: "accepted"), Seed("floor", floor, outcome: "belowMinimumBuild"),
                Seed("both", plain + [separator] + floor, outcome: "belowMinimumBuild"),
                Seed("withdrawal", plain + [separator] + withdrawal, outcome: "rootWithdrawn"),
                Seed("conflict", floor + [separator] + plain.map { $0 == 0x31 ? 0x32 : $0 }),
            ]
        },
        judge: { input in
            let payloads = input.split(separator: separator, omittingEmptySubsequences: false).prefix(4).map(Array.init)
            var lists: [[UInt8]] = []
            var areAllRight = true
            for payload in payloads {
                let parsed = try judged { try RevocationList(parsing: payload) }
                let bytes = Envelope.signed(.revocations, payload, by: [.root, .secondRoot]).serialized
                let verified = try judged {
                    try VerifiedList.verifying(bytes, roots: Bench.roots, state: EmptyTrustState(), policy: Policy())
                }
                lists.append(bytes)
                guard let list = parsed.value else {
                    try require(verified.word == parsed.word, "read it is \(parsed.word), verified \(verified.word)")
                    areAllRight = false
                    continue
                }
                let again = try RevocationList(parsing: list.serialized)
                try require(
                    again == list && again.serialized == list.serialized, "a list is written otherwise than read")
                let isOurs = [TestKey.root, .secondRoot].contains { $0.publicKey.hash == list.issuer }
                try require(verified.word == (isOurs ? "accepted" : "untrustedRoot"), "a list is \(verified.word)")
                if !isOurs { areAllRight = false }
            }
            let verdict = try Bench.verify(Self.judgedPackage, lists: lists).word
            let reversed = try Bench.verify(Self.judgedPackage, lists: lists.reversed()).word
            if areAllRight {
                try require(verdict == reversed, "in this order \(verdict), in the other one \(reversed)")
                if fingerprint(input) % 64 == 0 {
                    try ListsInStore.compare(lists, verdict: verdict, Self.judgedPackage)
                }
            } else {
                try require(
                    verdict != "accepted" && reversed != "accepted", "with a list that was refused it is accepted")
            }
            return verdict
        })

    private static let separator: UInt8 = 0x1E
    private static let judgedPackage = PackageBuilder().build()

    /// Puts a root's hash where a payload names another issuer.
    private static func naming(_ root: TestKey, in payload: [UInt8]) -> [UInt8] {
        guard var list = try? RevocationList(parsing: payload) else {
            guard let at = payload.firstRange(of: Array("\"issuer\":\"".utf8)), at.upperBound + 64 <= payload.count
            else {
                return payload
            }
            return payload[..<at.upperBound] + Array(root.publicKey.hash.hex.utf8) + payload[(at.upperBound + 64)...]
        }
        list.issuer = root.publicKey.hash
        return list.serialized
    }
}

/// Whatever JSONDecoder takes.
private enum AnyJSON: Decodable {
    case value

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        if let object = try? decoder.container(keyedBy: Name.self) {
            for key in object.allKeys { _ = try object.decode(AnyJSON.self, forKey: key) }
        } else if var array = try? decoder.unkeyedContainer() {
            while !array.isAtEnd { _ = try array.decode(AnyJSON.self) }
        } else {
            let single = try decoder.singleValueContainer()
            guard
                single.decodeNil() || (try? single.decode(Bool.self)) != nil || (try? single.decode(String.self)) != nil
                    || (try? single.decode(Int64.self)) != nil
            else { throw BrokenProperty("no value") }
        }
        self = .value
    }
}

/// Lists applied to a store, against the same lists given to a verification.
enum ListsInStore {
    /// Applies lists one after another, the withdrawals last, and requires the verdict that giving them all brought.
    static func compare(_ lists: [[UInt8]], verdict: String, _ package: [UInt8]) throws {
        let directory = try TemporaryDirectory()
        var options = NshTrust.Options()
        options.clock = { Bench.now }
        options.durability = .processEndUnsafely
        let core = try TrustCore(directory: directory.path + "/state", options: options)
        for root in Bench.roots { try core.addRoot(root) }
        var order: [(list: RevocationList, bytes: [UInt8])] = []
        for bytes in lists {
            order.append((try RevocationList(parsing: Envelope(parsing: bytes, as: .revocations).payload), bytes))
        }
        // Of several of one issuer the newest counts: the older ones would be refused, not passed over.
        order.sort {
            ($0.list.revokesIssuer ? 1 : 0, $0.list.sequence) < ($1.list.revokesIssuer ? 1 : 0, $1.list.sequence)
        }
        for (_, bytes) in order {
            let applied = try judged { try core.applyRevocations(bytes) }
            // What only one way can say: two lists with one number, and what the issuer may not say any more.
            guard applied.value != nil else { return }
        }
        var input = BytesInput(package)
        var established = Established()
        let stored = try judged {
            try core.verification().verify(
                &input, store: core.store, sink: nil, monitor: Monitor(), established: &established)
        }
        try require(stored.word == verdict, "given, the lists make it \(verdict); applied, \(stored.word)")
    }
}

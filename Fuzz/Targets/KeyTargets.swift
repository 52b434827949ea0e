import FoundationEssentials
import NshTrust
import TestSupport

@testable import NshPublishing

extension FuzzTarget {
    /// Key files: the public half, the secret one, and opening it where that is cheap.
    static let keys = FuzzTarget(
        "keys", maximumLength: 1 << 10, dictionary: "json", seeds: { try $0.keys() },
        judge: { input in
            let pinned = try judged { try PinnedRoots.key(fromFile: input) }
            if let key = PublicKey(fileContent: input) {
                let text = Array(key.base64.utf8)
                try require(input == text || input == text + [0x0A], "a public key is read from another spelling of it")
                try require(
                    (pinned.value != nil) == key.isUsableAsRoot, "a key that cannot be a root was taken for one")
                return pinned.word
            }
            try require(pinned.value == nil, "what is no public key was taken for a root")
            let parsed = try judged { try SecretKeyDocument(parsing: input) }
            guard let document = parsed.value else { return parsed.word }
            let again = try SecretKeyDocument(parsing: document.serialized)
            try require(again.serialized == document.serialized, "a secret key is written in two ways")
            try require(!"\(document)".contains(Base64.encode(document.secret)), "a description holds the secret")
            guard Self.isCheap(document) else { return "costly" }
            return try Self.open(input)
        })

    /// Whether opening it takes no time worth mentioning.
    private static func isCheap(_ document: SecretKeyDocument) -> Bool {
        guard case .sealed(let cost) = document.protection else { return true }
        return cost.memory <= 64 << 10 && cost.operations <= 2
    }

    private static func open(_ bytes: [UInt8]) throws -> String {
        let directory = try TemporaryDirectory()
        let file = try SecretKeyFile(reading: try directory.write("key.secret", bytes))
        let opened = try judged(allowing: [.wrongPassphrase]) {
            let key = try file.open {
                var passphrase = Array("correct horse battery staple".utf8)
                return try Passphrase(wiping: &passphrase)
            }
            return key.publicKey
        }
        if let key = opened.value {
            try require(key == file.statedPublicKey, "a key of another public half was opened")
        }
        return opened.word
    }

    /// One text, taken for everything that a text can be.
    static let names = FuzzTarget(
        "names", maximumLength: 1 << 10, dictionary: "path",
        seeds: { vectors in
            try vectors.texts() + SharedPaths.lines.map { Seed("path-\($0.offset)", $0.element) }
                + [
                    "com.example.orders", "com.example.*", "*", "0.5.0", "1.2.3.4", "2026-11-03T10:00:00Z",
                    "1764470000",
                    "deadbeef", "AAEC", "Exämple Ltd", "日本語", "assets/é.txt", "CON.txt", "a\u{202E}b", "7d", "90m",
                ].enumerated().map { Seed("text-\($0.offset)", $0.element) }
        },
        judge: { input in
            let problem = PathRules.problem(of: input)
            if let problem { try requireSafe(problem) }
            if let bytes = Base64.decode(input) {
                try require(Array(Base64.encode(bytes).utf8) == input, "base64 is read from another spelling of it")
            }
            try requireSafe(Printable.escaped(bytes: input))
            guard let text = String(validating: input, as: UTF8.self) else {
                try require(problem != nil, "a path that is no UTF-8 was accepted")
                return "bytes"
            }
            if problem == nil { try Extracted.checkPath(text) }
            try Self.checkNames(text)
            try Self.checkTimes(text)
            return problem == nil ? "accepted" : "unsafePath"
        })

    private static func checkNames(_ text: String) throws {
        if let id = AppID(text) {
            try require(id.text.utf8.elementsEqual(text.utf8), "an app id is another text")
            let segments = text.split(separator: ".", omittingEmptySubsequences: false)
            let isPlain = segments.allSatisfy { segment in
                (1...63).contains(segment.utf8.count) && segment.first != "-"
                    && segment.utf8.allSatisfy { byte in
                        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == 0x5F
                            || byte == 0x2D
                    }
            }
            try require(
                isPlain && segments.count >= 2 && text.utf8.count <= 255, "\(text.debugDescription) is an app id")
            let name = id.directoryName
            try require(name == name.lowercased() && name.utf8.count <= 200, "an app has the directory \(name)")
            // After the name of a device the digest stands behind a dot, as APP-7 wants it.
            if !name.contains("!!") { try Extracted.checkPath(name) }
            try require(AppPattern(text)?.covers(id) == true, "an app id does not cover itself")
        }
        if let pattern = AppPattern(text) {
            try require(pattern.description.utf8.elementsEqual(text.utf8), "a pattern is written otherwise than read")
        }
        if let shown = DisplayText(text) {
            try require(
                shown.text.utf8.elementsEqual(text.utf8) && (1...255).contains(text.utf8.count), "a text changed")
            try requireSafe(text)
        }
        if let version = RuntimeVersion(text) {
            try require(version.text == text, "a version is written otherwise than read")
            let isPlain = text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E }
            try require(isPlain && text.utf8.count <= 39, "\(text.debugDescription) is a version")
        }
        if let digest = Digest(hex: text) { try require(digest.hex == text, "a digest is read from another spelling") }
        if let serial = Serial(hex: text) { try require(serial.hex == text, "a serial is read from another spelling") }
    }

    private static func checkTimes(_ text: String) throws {
        guard let seconds = Timestamp.seconds(from: text) else { return }
        try require((0...1 << 53).contains(seconds), "\(text) is \(seconds)")
        if text.utf8.last == 0x5A {
            try require(Timestamp.text(seconds) == text, "\(text) is written \(Timestamp.text(seconds))")
        }
    }
}

/// Paths that are known to have done harm somewhere; none where the shared test data is absent.
enum SharedPaths {
    /// The lines, numbered.
    static let lines: [(offset: Int, element: String)] = {
        guard SharedCorpora.isAvailable, let bytes = try? SharedCorpora.bytes("corpora/paths.txt") else { return [] }
        return Array(
            String(decoding: bytes, as: UTF8.self).split(separator: "\n").prefix(500).map(String.init).enumerated())
    }()
}

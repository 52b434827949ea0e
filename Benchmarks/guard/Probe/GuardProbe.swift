import NshTrust

/// Repeats one question in-process, for `Benchmarks/guard/guard.py` to count what one costs:
/// `GuardProbe check|lookup STATE ROOT.pub-content DIGEST COUNT`.
@main
struct GuardProbe {
    static func main() throws {
        let words = CommandLine.arguments
        guard words.count == 6, let count = Int(words[5]), let digest = Digest(hex: words[4]) else {
            print("usage: GuardProbe check|lookup STATE ROOT DIGEST COUNT")
            return
        }
        // A clock that stands still: asking the system for the time is not what is counted.
        var options = NshTrust.Options()
        options.clock = { 1_800_000_000 }
        let core = try TrustCore(directory: words[2], options: options, access: .readOnly)
        try core.addRoot(words[3])
        switch words[1] {
        case "check": print(try checks(of: digest, in: core, count))
        default: print(try lookups(from: digest, in: core, count))
        }
    }

    /// Asks whether the package may start; tells how often it might.
    private static func checks(of digest: Digest, in core: TrustCore, _ count: Int) throws -> Int {
        var allowed = 0
        for _ in 0..<count where try core.check(digest).facts.digest == digest { allowed += 1 }
        return allowed
    }

    /// Asks for keys, each of which the list in force may name; tells how many it does.
    private static func lookups(from digest: Digest, in core: TrustCore, _ count: Int) throws -> Int {
        try core.store.read { state in
            var revoked = 0
            var key = digest
            for _ in 0..<count {
                if try !state.revocations(ofKey: key).isEmpty { revoked += 1 }
                key = SHA256.hash(key.bytes)
            }
            return revoked
        }
    }
}

import Glibc
import NshTrust

/// Repeats one question in-process, for `Benchmarks/guard/guard.py` to count what one costs and for
/// `Benchmarks/scale/inprocess.py` to time it: `GuardProbe check|lookup STATE ROOT.pub-content DIGEST COUNT [THREADS]`,
/// COUNT on each of the threads.
@main
struct GuardProbe {
    static func main() throws {
        let words = CommandLine.arguments
        guard words.count == 6 || words.count == 7, let count = Int(words[5]), let digest = Digest(hex: words[4]) else {
            print("usage: GuardProbe check|lookup STATE ROOT DIGEST COUNT [THREADS]")
            exit(2)
        }
        // A clock that stands still: asking the system for the time is not what is counted.
        var options = NshTrust.Options()
        options.clock = { 1_800_000_000 }
        let core = try TrustCore(directory: words[2], options: options, access: .readOnly)
        try core.addRoot(words[3])
        let isCheck = words[1] == "check"
        let ask: @Sendable () throws -> Int = {
            try isCheck ? checks(of: digest, in: core, count) : lookups(from: digest, in: core, count)
        }
        let others = (1..<(words.count == 7 ? Int(words[6]) ?? 1 : 1)).map { _ in start(ask) }
        print(try ask())
        for thread in others { thread.join() }
    }

    /// Asks on a thread of its own; a question that fails ends the probe.
    private static func start(_ ask: @escaping @Sendable () throws -> Int) -> HelperThread {
        let thread = HelperThread {
            do {
                _ = try ask()
            } catch {
                fatalError("\(error)")
            }
        }
        guard let thread else { fatalError("no thread") }
        return thread
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

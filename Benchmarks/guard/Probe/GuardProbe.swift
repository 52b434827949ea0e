import Glibc
import NshTrust

/// Repeats one question in-process, for `Benchmarks/guard/guard.py` to count what one costs and for
/// `Benchmarks/scale/inprocess.py` to time it.
///
/// `GuardProbe check|lookup|lookup-often STATE ROOT.pub-content DIGEST[,DIGEST…] COUNT [THREADS]`, COUNT on each of the
/// threads. `check` asks for one digest after the other, each thread from another one on; `lookup-often` is a process that
/// has looked up so often before that what lists revoke is in its memory.
@main
struct GuardProbe {
    static func main() throws {
        let words = CommandLine.arguments
        guard words.count == 6 || words.count == 7, let count = Int(words[5]), let digests = digests(words[4])
        else {
            print("usage: GuardProbe check|lookup|lookup-often STATE ROOT DIGEST[,DIGEST...] COUNT [THREADS]")
            exit(2)
        }
        // A clock that stands still: asking the system for the time is not what is counted.
        var options = NshTrust.Options()
        options.clock = { 1_800_000_000 }
        let core = try TrustCore(directory: words[2], options: options, access: .readOnly)
        try core.addRoot(words[3])
        let isCheck = words[1] == "check"
        if words[1] == "lookup-often" {
            _ = try lookups(from: digests[0], in: core, 5 * lookupsOfOneSnapshot)
            // Meanwhile a thread of the library gathers what is revoked.
            sleep(3)
        }
        let ask: @Sendable (Int) throws -> Int = { thread in
            try isCheck
                ? checks(of: digests, from: thread, in: core, count) : lookups(from: digests[0], in: core, count)
        }
        let others = (1..<(words.count == 7 ? Int(words[6]) ?? 1 : 1)).map { thread in start { try ask(thread) } }
        print(try ask(0))
        for thread in others { thread.join() }
    }

    /// Reads digests with commas between them; nil when one is none.
    private static func digests(_ list: String) -> [Digest]? {
        let texts = list.split(separator: ",")
        let digests = texts.compactMap { Digest(hex: String($0)) }
        return digests.count == texts.count && !digests.isEmpty ? digests : nil
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

    /// Asks whether the packages may start; tells how often they might.
    private static func checks(of digests: [Digest], from first: Int, in core: TrustCore, _ count: Int) throws -> Int {
        var allowed = 0
        var place = first * 101 % digests.count
        for _ in 0..<count {
            if try core.check(digests[place]).digest == digests[place] { allowed += 1 }
            place = place + 1 == digests.count ? 0 : place + 1
        }
        return allowed
    }

    /// As many as judging a page of apps asks for.
    private static let lookupsOfOneSnapshot = 1000

    /// Asks for keys, each of which the list in force may name; tells how many it does.
    private static func lookups(from digest: Digest, in core: TrustCore, _ count: Int) throws -> Int {
        var (revoked, key) = (0, digest)
        for begin in stride(from: 0, to: count, by: lookupsOfOneSnapshot) {
            try core.store.read { state in
                for _ in begin..<min(begin + lookupsOfOneSnapshot, count) {
                    if try !state.revocations(ofKey: key).isEmpty { revoked += 1 }
                    key = SHA256.hash(key.bytes)
                }
            }
        }
        return revoked
    }
}

import FoundationEssentials
import NshTrust

/// One task that uses the public face: awaits, streams, gives up, follows.
struct FaceWork: Sendable {
    let plan: Plan
    let journal: Journal
    let trust: NshTrust
    let core: TrustCore

    /// Works until the time is over.
    func run(seed: UInt64) async {
        var dice = Dice(seed: seed)
        while !plan.isOver {
            let place = dice.package(plan)
            let url = URL(fileURLWithPath: plan.packages[place].path)
            switch dice.below(4) {
            case 0: await journal.noteAsync("open", place) { try await open(trust.openPackage(at: url)) }
            case 1:
                await journal.noteAsync("open", place) { try await open(trust.openPackage(from: pieces(of: url))) }
            case 2:
                let microseconds = UInt64(dice.below(4000))
                await journal.noteAsync("open", place) {
                    let task = Task { try await trust.openPackage(at: url).digest }
                    try await Task.sleep(nanoseconds: microseconds * 1000)
                    task.cancel()
                    _ = try await task.value
                    return ""
                }
            default:
                await journal.noteAsync("verify", place) {
                    _ = try await trust.verifyPackage(at: url)
                    return ""
                }
            }
        }
    }

    /// Follows the log from now on until it is cancelled: no row is missing, none comes twice.
    func follow() async {
        await journal.noteAsync("follow") {
            var last = try core.store.read { try $0.newestEvent() }
            let first = last
            for try await event in trust.events(following: last) {
                guard event.sequence == last + 1 else {
                    throw Trouble(.ioFailure, "event \(event.sequence) came after \(last)")
                }
                last = event.sequence
            }
            return ",\"first\":\(first + 1),\"last\":\(last)"
        }
    }

    private func open(_ package: NshPackage) throws -> String {
        try Tree.check(package.directory)
        withExtendedLifetime(package) {}
        return ""
    }

    private func pieces(of url: URL) throws -> AsyncStream<[UInt8]> {
        let bytes = Array(try Data(contentsOf: url))
        return AsyncStream { stream in
            for start in stride(from: 0, to: bytes.count, by: 700) {
                stream.yield(Array(bytes[start..<min(start + 700, bytes.count)]))
            }
            stream.finish()
        }
    }
}

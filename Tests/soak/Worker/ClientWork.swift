import FoundationEssentials
import NshTrust
import NshTrustClient

/// One task that asks the daemon, which may be killed and started again at any time.
struct ClientWork: Sendable {
    let plan: Plan
    let journal: Journal
    let client: NshTrustClient

    /// Works until the time is over.
    func run(seed: UInt64) async {
        var dice = Dice(seed: seed)
        while !plan.isOver {
            if await ask(&dice) != "ioFailure" { continue }
            // It was killed; it is there again soon.
            do { try await Task.sleep(nanoseconds: 500_000_000) } catch { return }
        }
    }

    private func ask(_ dice: inout Dice) async -> String {
        let place = dice.package(plan)
        let url = URL(fileURLWithPath: plan.packages[place].path)
        switch dice.below(20) {
        case ..<8:
            return await journal.noteAsync("open", place) {
                let package = try await client.openPackage(at: url)
                try Tree.check(package.directory)
                withExtendedLifetime(package) {}
                return ""
            }
        case ..<11:
            return await journal.noteAsync("verify", place) {
                _ = try await client.verifyPackage(at: url)
                return ""
            }
        case ..<14:
            return await journal.noteAsync("check", place) {
                let verdict = try await client.check(digest: plan.packages[place].digest)
                if let code = verdict.code { throw NshError(code: code, message: verdict.message, report: nil) }
                return ""
            }
        case ..<16:
            let list = dice.list(plan)
            return await journal.noteAsync("apply", list) {
                let text = String(
                    decoding: try Data(contentsOf: URL(fileURLWithPath: plan.lists[list])), as: UTF8.self)
                return ",\"changed\":\(try await client.updateRevocations(text).changed)"
            }
        case ..<18:
            return await journal.noteAsync("newest") { ",\"n\":\(try await client.status.newestEvent)" }
        default:
            let app = dice.below(plan.apps.count)
            return await journal.noteAsync("build", app) {
                ",\"n\":\(try await client.acceptedBuild(forApp: plan.apps[app])?.build ?? -1)"
            }
        }
    }

    /// Follows the log through the daemon, whatever happens to it, until the task is cancelled.
    func follow() async {
        await journal.noteAsync("follow") {
            var last = try await client.status.newestEvent
            let first = last
            for try await item in client.events(following: last) {
                guard case .event(let event) = item else { throw Trouble(.ioFailure, "a gap after \(last)") }
                guard event.sequence == last + 1 else {
                    throw Trouble(.ioFailure, "event \(event.sequence) came after \(last)")
                }
                last = event.sequence
            }
            return ",\"first\":\(first + 1),\"last\":\(last)"
        }
    }
}

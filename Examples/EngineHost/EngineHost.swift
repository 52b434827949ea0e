import FoundationEssentials
import NshTrust
import NshTrustClient

/// An engine of a machine where a daemon decides: `EngineHost SOCKET PACKAGE`.
///
/// It opens the package through the daemon, runs it, and ends when a revocation stops it.
@main
struct EngineHost {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3 else {
            print("usage: EngineHost SOCKET PACKAGE")
            return
        }
        let trust = NshTrustClient(socketPath: arguments[1])
        do {
            // Asked before the package is opened, so that no event can fall between the two.
            let newest = try await trust.status.newestEvent
            // The tree stays on disk for as long as the package is held: no clean-up takes it from under the app.
            let package = try await trust.openPackage(at: URL(fileURLWithPath: arguments[2]))
            let engine = Engine(package, trust: trust)
            try await engine.start()

            for try await item in trust.events(following: newest) {
                switch item {
                case .event(let event) where event.kind == "revocations": say("event: \(event.message)")
                case .event: continue
                case .gap: say("event: some were missed")  // ask about everything that runs
                }
                guard try await engine.asksAgain() else { return }
            }
        } catch {
            say("refused: \(error)")
        }
    }
}

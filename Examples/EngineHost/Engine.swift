import FoundationEssentials
import Glibc
import NshTrust
import NshTrustClient

/// An engine that runs one package and asks the daemon before each start and after each event.
actor Engine {
    private let trust: NshTrustClient
    private let package: NshOpenedPackage
    private var isRunning = false

    init(_ package: NshOpenedPackage, trust: NshTrustClient) {
        self.package = package
        self.trust = trust
    }

    /// Starts the app unless the daemon says no; no verdict means no start.
    func start() async throws {
        let verdict = try await trust.check(digest: package.digest)
        guard verdict.isAllowed else {
            say("not started: \(verdict.message) (\(verdict.code?.rawValue ?? "no code"))")
            return
        }
        isRunning = true
        say("running \(package.info.id) (build \(package.info.build)) from \(package.directory.path)")
    }

    /// Stops the app when it may not run any more; returns whether it goes on.
    func asksAgain() async throws -> Bool {
        let verdict = try await trust.check(digest: package.digest)
        // A newer build does not end the one that runs, which only must not be started again.
        if verdict.isAllowed || verdict.code == .rolledBack { return isRunning }
        isRunning = false
        say("stopped: \(verdict.message) (\(verdict.code?.rawValue ?? "no code"))")
        return false
    }
}

/// Prints a line at once, also into a pipe.
func say(_ line: String) {
    print(line)
    fflush(nil)
}

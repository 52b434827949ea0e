import FoundationEssentials
import NshTrust

/// Stands for a view that shows one app: what an engine does with a package, without a screen.
///
/// The real thing evaluates the bundle; this one reads it and keeps it, which is enough to see which app runs.
actor AppView {
    private var running: NshRun?

    /// The line that tells which app runs.
    var status: String {
        guard let info = running?.info else { return "no app runs" }
        return "\(info.id) \(info.version) (build \(info.build)) runs"
    }

    /// Verifies the package at a URL, then runs it.
    ///
    /// When it is refused, the running app stays.
    func loadPackage(at url: URL, trust: NshTrust) async throws -> NshPackage.Info {
        let package = try await trust.openPackage(at: url)
        try run(package)
        return package.info
    }

    /// Runs a verified package; a package runs only once.
    func run(_ package: NshPackage) throws {
        let run = try package.take()
        let names = ["bundle.nshc", "bundle.qbc", "bundle.js"]
        let bundle = names.lazy.map { run.directory.appendingPathComponent($0) }
            .first { FileManager.default.fileExists(atPath: $0.path) }
        // The rules promise a bundle; a tree without one means that somebody changed it behind the store's back.
        guard let bundle else { throw CocoaError(.fileReadNoSuchFile) }
        _ = try Data(contentsOf: bundle)
        running = run  // the app that ran before stops here, and its tree may be cleaned up
    }
}

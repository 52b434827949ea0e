import FoundationEssentials
import NshTrust

/// A host app that loads signed packages one after another: `EmbedHost STATE-DIRECTORY ROOT.pub PACKAGE…`.
@main
struct EmbedHost {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst().map { URL(fileURLWithPath: $0) }
        guard arguments.count >= 3 else {
            print("usage: EmbedHost STATE-DIRECTORY ROOT.pub PACKAGE…")
            return
        }
        let app = AppView()
        let rootPublicKey = String(decoding: try Data(contentsOf: arguments[1]), as: UTF8.self)

        let trust = try NshTrust(stateDirectory: arguments[0])
        try trust.addRoot(rootPublicKey)  // the contents of root.pub from `nsh-pkgtool keygen`

        for downloadedFile in arguments.dropFirst(2) {
            do {
                let info = try await app.loadPackage(at: downloadedFile, trust: trust)
                print("running \(info.id) \(info.version) (build \(info.build))")
            } catch {
                print("refused: \(error)")  // the running app stays
            }
            print("  now: \(await app.status)")
        }
    }
}

import NshTrust
import NshTrustWire

/// `store apps`: accepted builds and installed packages.
enum StoreAppsVerb {
    static let verb = Verb(
        name: "store apps",
        summary: "list each app's accepted build and what is installed of it",
        details: ["Builds below the accepted one are refused, whether or not anything of the app is still installed."],
        options: [.state, .socket],
        choices: [.store],
        examples: ["nsh-pkgtool store apps --state store"],
        run: run)

    private static func run(_ invocation: Invocation) throws -> ExitStatus {
        let console = invocation.console
        let store = try StoreDoors.open(invocation, isReadOnly: true)
        var after: String?
        while true {
            let page = try store.apps(after: after, limit: 500)
            for app in page { try report(app, console) }
            guard let last = page.last else { return .done }
            after = last.accepted.app
        }
    }

    private static func report(_ app: AppDocument, _ console: Console) throws(OutputFailure) {
        let build = app.accepted
        var lines = [
            "\(Terminal.safe(build.app))  build \(build.build)  \(Terminal.safe(build.publisher))  accepted "
                + Timestamp.text(build.acceptedAt)
        ]
        for package in app.installed {
            lines.append(
                "    build \(package.build)  \(Terminal.safe(package.version))  "
                    + "\(Amount.bytes(package.unpackedSize))  \(Terminal.safe(package.directory))")
        }
        try console.answer(app.object, text: lines.joined(separator: "\n"))
    }
}

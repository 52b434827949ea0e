import NshTrust
import NshTrustWire

/// `store apps`: accepted builds and installed packages.
enum StoreAppsVerb {
    static let verb = Verb(
        name: "store apps",
        summary: "list each app's accepted build and what is installed of it",
        details: ["Builds below the accepted one are refused, whether or not anything of the app is still installed."],
        options: [.state],
        examples: ["nsh-pkgtool store apps --state store"],
        run: run)

    private static func run(_ invocation: Invocation) throws -> ExitStatus {
        let console = invocation.console
        let store = try StoreAccess.open(try Judging.requiredState(invocation), isReadOnly: true)
        var after: AppID?
        while true {
            let page = try store.apps(after: after, limit: 500)
            for record in page { try report(record, store.state, console) }
            guard let last = page.last else { return .done }
            after = last.build.app
        }
    }

    private static func report(
        _ record: AppRecord, _ state: StateDirectory, _ console: Console
    ) throws {
        let build = record.build
        var installed: [JSONValue] = []
        var lines = [
            "\(build.app)  build \(build.build)  \(Terminal.safe(build.publisher.text))  accepted "
                + Timestamp.text(build.acceptedAt)
        ]
        for package in record.installed {
            let directory = try state.absolutePath(of: package.tree)
            installed.append(
                .object([
                    "build": .integer(package.app.build), "version": .text(package.app.version.text),
                    "digest": .text(package.facts.digest.hex), "directory": .text(directory),
                    "files": .integer(package.files), "unpackedSize": .integer(package.unpackedSize),
                ]))
            lines.append(
                "    build \(package.app.build)  \(Terminal.safe(package.app.version.text))  "
                    + "\(Amount.bytes(package.unpackedSize))  \(Terminal.safe(directory))")
        }
        var object: JSONObject = [
            "id": .text(build.app.text), "build": .integer(build.build), "publisher": .text(build.publisher.text),
        ]
        object.add("digest", build.digest.map { .text($0.hex) })
        object.append("acceptedAt", .integer(build.acceptedAt))
        object.append("installed", .array(installed))
        try console.answer(object, text: lines.joined(separator: "\n"))
    }
}

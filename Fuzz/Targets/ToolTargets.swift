import NshCommandLine
import NshTrust
import NshTrustWire
import TestSupport

@testable import NshPkgTool
@testable import NshTrustd

extension FuzzTarget {
    /// A command line of the tool or, when the first word is `nsh-trustd`, of the daemon; words end with a line feed.
    static let arguments = FuzzTarget(
        "arguments", maximumLength: 2 << 10, dictionary: "arguments",
        seeds: { _ in
            VerbTable.all.enumerated().flatMap { index, verb in
                [Seed("verb-\(index)", verb.name.replacing(" ", with: "\n"))]
                    + verb.examples.enumerated().map { number, line in
                        let words = line.split(separator: " ").dropFirst().map { $0.replacing("\"", with: "") }
                        return Seed("example-\(index)-\(number)", words.joined(separator: "\n"))
                    }
            } + [
                Seed(
                    "daemon", "nsh-trustd\n--state\n/s\n--socket-mode=0660\n--client-timeout\n30s", outcome: "accepted"),
                Seed(
                    "judging", "verify\na\n--root=r\n--threshold\n2\n--max-list-age=7d\n--at\n1\n--runtime=1.2",
                    outcome: "accepted"),
                Seed("abbreviation", "verify\na\n--roo=r", outcome: "usage"), Seed("empty", [], outcome: "usage"),
                Seed("end", "verify\n--\n--root", outcome: "accepted"),
            ]
        },
        judge: { input in
            // The system hands words over that end with a NUL.
            let words = input.filter { $0 != 0 }.split(separator: 0x0A, omittingEmptySubsequences: false)
                .prefix(100).map { String(validating: $0, as: UTF8.self) }
            guard words.allSatisfy({ $0 != nil }) else { return "bytes" }
            return try judgeWords(words.compactMap { $0 })
        })

    private static func judgeWords(_ words: [String]) throws -> String {
        do {
            if words.first == "nsh-trustd" {
                let arguments = try ArgumentParser.arguments(Array(words.dropFirst()), of: DaemonOptions.syntax)
                try check(arguments, DaemonOptions.syntax)
                if arguments.has("help") { return "help" }
                let options = try DaemonOptions(arguments)
                let paths = [options.state, options.roots, options.socket]
                try require(paths.allSatisfy { $0.utf8.first == 0x2F }, "a relative path was accepted")
                return "accepted"
            }
            let (verb, rest) = try CommandLineParser.verb(words, among: VerbTable.all)
            let arguments = try ArgumentParser.arguments(rest, of: verb.syntax)
            try check(arguments, verb.syntax)
            if arguments.has("help") { return "help" }
            try readValues(arguments)
            return "accepted"
        } catch let error as UsageError {
            try requireSafe(error.message)
            try requireSafe(error.hint ?? "")
            return "usage"
        }
    }

    /// What verbs make of the values before they act.
    private static func readValues(_ arguments: Arguments) throws(UsageError) {
        for name in ["at", "not-after", "not-before", "expires"] {
            for text in arguments.values(name) where text != "never" { _ = try OptionValue.time(text, name) }
        }
        for text in arguments.values("max-list-age") { _ = try OptionValue.duration(text, "max-list-age") }
        for name in ["after", "limit", "days", "keep", "threshold"] {
            for text in arguments.values(name) {
                _ = try OptionValue.integer(text, name, in: 0...JSONReader.maximumInteger)
            }
        }
        for name in ["min-build", "max-build", "transfer", "annotate"] {
            for text in arguments.values(name) { _ = try OptionValue.pair(text, name, "ID=N") }
        }
    }

    /// Writes what was understood as plainly as it can be written, and requires that it is understood in the same way.
    private static func check(_ arguments: Arguments, _ syntax: CommandSyntax) throws {
        if arguments.has("help") { return }
        var words: [String] = []
        for option in syntax.allOptions {
            for value in arguments.values(option.name) {
                words.append(option.value == nil ? "--\(option.name)" : "--\(option.name)=\(value)")
            }
        }
        do {
            let again = try ArgumentParser.arguments(words + ["--"] + arguments.operands, of: syntax)
            try require(
                again.operands.elementsEqual(arguments.operands) { $0.utf8.elementsEqual($1.utf8) }
                    && again.given == arguments.given, "a command line is understood in two ways")
        } catch let error as UsageError {
            throw BrokenProperty("understood, and refused when written plainly: \(error.message)")
        }
    }

    /// A file given to `inspect`: whatever it says must be safe to show, in text and in JSON.
    static let inspect = FuzzTarget(
        "inspect", maximumLength: 16 << 10, dictionary: "json",
        seeds: { vectors in
            try vectors.envelopes() + vectors.keys().map { Seed("key-\($0.name)", $0.bytes) }
                + vectors.packages().filter { $0.bytes.count <= 8 << 10 }.prefix(200)
                .map { Seed("package-\($0.name)", $0.bytes) }
        },
        judge: { input in
            let directory = try TemporaryDirectory()
            let file = try directory.write("input", input)
            let described = try judged {
                let inspected = try InspectedFile.read(file)
                return (inspected, try inspected.description())
            }
            guard let (inspected, description) = described.value else { return described.word }
            for row in description.rows {
                try requireSafe(row.label)
                // Values are bounded by the file, not by the tool.
                for piece in row.value.split(separator: " ") { try requireSafe(String(piece.prefix(2000))) }
            }
            let line = JSONLine.text(description.object)
            let read = try WireReader(parsing: Array(line.utf8), subject: "the line").object
            try require(read == description.object, "a line of JSON says something else than was described")
            let roots = Bench.roots.compactMap { RootKey($0) }.map { NamedRoot(root: $0, path: "root.pub") }
            let inspection = Inspection(roots: TrustedRoots(roots: roots), policy: Policy(), clock: Bench.now)
            switch inspection.judge(inspected) {
            case .refused(let failure): try requireSafe(failure.message)
            case .verified(let text), .unverified(let text): try requireSafe(text)
            case .unsigned: break
            }
            return described.word
        })
}

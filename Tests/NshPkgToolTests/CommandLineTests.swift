import NshCommandLine
import NshTrust
import TestSupport
import Testing

@testable import NshPkgTool

/// getopt_long keeps its place in global variables: everything that parses is in this one serialized suite.
@Suite("Command line", .serialized)
struct CommandLineTests {
    private static let verb = Verb(
        name: "test",
        operands: [
            Operand(name: "FILE", kind: .file([]), help: "a file"),
            Operand(name: "MORE", kind: .text, count: .optional, help: "more"),
        ],
        summary: "test",
        options: [
            .flag("dry-run", "n", "nothing"), .value("root", nil, "FILE", repeatable: true, help: "a root"),
            .value("state", nil, "DIR", help: "a directory"), .value("output", "o", "FILE", help: "a file"),
            .value("kind", nil, "KIND", .words(["a", "b"]), help: "a kind"), .flag("first", nil, "first"),
        ],
        choices: [Verb.Choice(names: ["dry-run", "first"])], run: { _ in .done })

    private func parse(_ words: String...) throws -> Arguments {
        try ArgumentParser.arguments(words, of: Self.verb.syntax)
    }

    @Test func takesOptionsAndOperandsInAnyOrder() throws {
        let arguments = try parse("--root", "r1", "file", "-n", "--root=r2", "more", "--state=a=b")
        #expect(arguments.operands == ["file", "more"])
        #expect(arguments.values("root") == ["r1", "r2"])
        #expect(arguments.value("state") == "a=b")
        #expect(arguments.has("dry-run"))
        #expect(!arguments.has("json"))
    }

    @Test func takesAValueThatBeginsWithACombiningMark() throws {
        let arguments = try parse("--root=\u{301}a", "--root", "\u{301}b", "file")
        #expect(arguments.values("root") == ["\u{301}a", "\u{301}b"])
    }

    @Test func takesLettersInABundleAndWithTheirValue() throws {
        let arguments = try parse("-nqo", "out", "file")
        #expect(arguments.has("dry-run"))
        #expect(arguments.has("quiet"))
        #expect(arguments.value("output") == "out")
        #expect(try parse("-oout", "file").value("output") == "out")
    }

    @Test func endsOptionsAtTwoDashes() throws {
        #expect(try parse("--root", "r", "--", "--root", "-n").operands == ["--root", "-n"])
        #expect(try parse("-", "--").operands == ["-"])
    }

    @Test func startsAfreshForEachCommandLine() throws {
        #expect(throws: UsageError.self) { try parse("--nope", "file") }
        #expect(try parse("file", "-n").operands == ["file"])
    }

    @Test func honoursHelpBeforeAnyMistake() throws {
        #expect(try parse("--nope", "--help").has("help"))
        #expect(try parse("-h").has("help"))
    }

    struct Mistake: CustomTestStringConvertible, Sendable {
        let words: [String]
        let message: String
        var hint: String?
        var testDescription: String { words.joined(separator: " ") }
    }

    @Test(
        .attack("M2"),
        arguments: [
            Mistake(words: [], message: "needs FILE"),
            Mistake(words: ["a", "b", "c"], message: "“c” is too much"),
            Mistake(words: [""], message: "FILE is empty"),
            Mistake(words: ["a", "--rot", "b"], message: "no option --rot", hint: "--root"),
            Mistake(words: ["a", "--roo", "b"], message: "no option --roo", hint: "--root"),
            Mistake(words: ["a", "--root"], message: "--root needs a value: --root FILE"),
            Mistake(words: ["a", "-o"], message: "--output needs a value"),
            Mistake(words: ["a", "-x"], message: "no option -x"),
            Mistake(words: ["a", "-nx"], message: "no option -x"),
            Mistake(words: ["a", "--dry-run=yes"], message: "--dry-run takes no value"),
            Mistake(words: ["a", "--state", "b", "--state", "c"], message: "--state is given twice"),
            Mistake(words: ["a", "--state="], message: "the value of --state is empty"),
            Mistake(words: ["a", "--kind", "c"], message: "--kind is one of a, b, not “c”"),
            Mistake(words: ["a", "-n", "--first"], message: "--dry-run and --first exclude each other"),
            Mistake(words: ["a", "--\u{1B}[2J"], message: "\\u{1B}[2J"),
        ])
    func namesTheMistake(_ row: Mistake) {
        let error = #expect(throws: UsageError.self) {
            try ArgumentParser.arguments(row.words, of: Self.verb.syntax)
        }
        #expect(error?.message.contains(row.message) == true, "\(error?.message ?? "")")
        if let hint = row.hint { #expect(error?.hint?.contains(hint) == true, "\(error?.hint ?? "no hint")") }
        #expect(error?.message.hasSuffix(".") == false)
    }

    @Test func findsVerbsOfOneAndTwoWords() throws {
        #expect(try CommandLineParser.verb(["store", "apps", "x"], among: VerbTable.all).0.name == "store apps")
        #expect(try CommandLineParser.verb(["verify"], among: VerbTable.all).0.name == "verify")
        for words in [["store"], ["store", "-x"], ["stoer", "apps"], ["--state", "s"], [""], []] {
            #expect(throws: UsageError.self) { try CommandLineParser.verb(words, among: VerbTable.all) }
        }
    }

    @Test(arguments: VerbTable.all.map(\.name))
    func takesEveryOptionThatAVerbLists(_ name: String) throws {
        let verb = try #require(VerbTable.all.first { $0.name == name })
        for option in verb.allOptions {
            let words = option.value == nil ? ["--\(option.name)"] : ["--\(option.name)", "x"]
            #expect(
                OptionReader.read(words, options: verb.allOptions) == [.option(option, option.value == nil ? nil : "x")]
            )
            guard let letter = option.letter else { continue }
            let short = option.value == nil ? ["-\(letter)"] : ["-\(letter)", "x"]
            #expect(
                OptionReader.read(short, options: verb.allOptions) == [.option(option, option.value == nil ? nil : "x")]
            )
        }
    }
}

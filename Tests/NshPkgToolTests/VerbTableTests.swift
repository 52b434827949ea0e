import NshCommandLine
import NshTrust
import Testing

@testable import NshPkgTool

@Suite("The table of verbs")
struct VerbTableTests {
    @Test func namesEachVerbOnce() {
        #expect(Set(VerbTable.all.map(\.name)).count == VerbTable.all.count)
    }

    @Test(arguments: VerbTable.shown.map(\.name))
    func describesEachVerbInOneStyle(_ name: String) throws {
        let verb = try #require(VerbTable.all.first { $0.name == name })
        let options = verb.allOptions
        #expect(Set(options.map(\.name)).count == options.count)
        let letters = options.compactMap(\.letter)
        #expect(Set(letters).count == letters.count)
        #expect(options.count <= 60, "the C side has room for 64")
        for text in [verb.summary] + options.map(\.help) + verb.operands.map(\.help) {
            #expect(!text.hasSuffix(".") && !text.isEmpty && !text.contains("\n"), "\(text)")
            #expect(text.first?.isUppercase == false || text.hasPrefix("FILE") || text.hasPrefix("NAME"), "\(text)")
        }
        for paragraph in verb.details { #expect(paragraph.hasSuffix(".") && !paragraph.contains("  "), "\(paragraph)") }
        for choice in verb.choices {
            for member in choice.names { #expect(verb.option(named: member) != nil) }
        }
        let counts = verb.operands.map(\.count)
        #expect(counts.dropLast().allSatisfy { $0 == .one } || name == "help")
        for example in verb.examples { #expect(example.contains("nsh-pkgtool \(name)"), "\(example)") }
        #expect(name == "help" || name.hasPrefix("store re") || !verb.examples.isEmpty)
    }

    @Test(arguments: VerbTable.shown.map(\.name))
    func keepsHelpWithinAHundredColumns(_ name: String) throws {
        let verb = try #require(VerbTable.all.first { $0.name == name })
        for line in Help.text(of: verb).split(separator: "\n") { #expect(line.count <= 102, "\(line)") }
    }

    @Test func escapesWhatRoffWouldTake() {
        #expect(Roff.escape(".x -y \\ “z” ’ …") == "\\&.x \\-y \\e \\(lqz\\(rq \\(cq ...")
    }
}

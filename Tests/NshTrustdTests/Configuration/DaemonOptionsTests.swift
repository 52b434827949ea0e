import NshCommandLine
import NshTrust
import Testing

@testable import NshTrustd

/// The daemon's command line.
struct DaemonOptionsTests {
    private func options(_ words: String...) throws -> DaemonOptions {
        try DaemonOptions(ArgumentParser.arguments(["--state", "/s"] + words, of: DaemonOptions.syntax))
    }

    @Test
    func hasSafeDefaults() throws {
        let options = try options()
        #expect(options.roots == "/etc/nsh-trust/roots.d")
        #expect(options.socket == "/run/nsh-trust/trustd.sock")
        #expect(options.socketMode == 0o660)
        #expect(options.revocations == nil)
        #expect(options.engines.isEmpty && options.admins.isEmpty)
        #expect(options.trust.rootThreshold == 1)
        #expect(options.trust.busyTimeoutSeconds == 10)
        #expect(options.logFormat == .text)
    }

    @Test
    func takesAPathThatBeginsWithACombiningMark() throws {
        #expect(try options("--roots=/\u{301}r", "--socket", "/\u{301}s").roots == "/\u{301}r")
    }

    @Test
    func takesEveryOption() throws {
        let options = try options(
            "--roots", "/r", "--revocations", "/l", "--socket", "/x", "--socket-mode", "0600", "--socket-group", "g",
            "--engine", "a", "--engine", "@b", "--admin", "c", "--threshold", "2", "--max-list-age", "7d",
            "--max-package", "1000", "--workers", "3", "--max-connections", "9", "--client-timeout", "5",
            "--log-format", "json")
        #expect(options.roots == "/r" && options.revocations == "/l" && options.socket == "/x")
        #expect(options.socketMode == 0o600 && options.socketGroup == "g")
        #expect(options.engines == ["a", "@b"] && options.admins == ["c"])
        #expect(options.trust.rootThreshold == 2 && options.trust.maximumListAgeSeconds == 604_800)
        #expect(options.maximumPackageBytes == 1000 && options.workers == 3 && options.connections == 9)
        #expect(options.clientSeconds == 5 && options.logFormat == .json)
    }

    @Test(arguments: [
        ["--socket-mode", "666x"], ["--socket-mode", "0066"], ["--socket-mode", "4660"], ["--socket-mode", "6"],
        ["--socket", "relative"], ["--roots", "relative"], ["--threshold", "0"], ["--threshold", "17"],
        ["--workers", "0"], ["--client-timeout", "0"], ["--client-timeout", "2h"], ["--log-format", "xml"],
        ["--max-package", "-1"], ["--stat", "/x"], ["operand"], ["--state", "/twice"],
    ])
    func refusesWhatMakesNoSense(_ words: [String]) {
        #expect(throws: UsageError.self) {
            try DaemonOptions(ArgumentParser.arguments(["--state", "/s"] + words, of: DaemonOptions.syntax))
        }
    }

    @Test
    func needsAStateDirectory() throws {
        let arguments = try ArgumentParser.arguments([], of: DaemonOptions.syntax)
        #expect(throws: UsageError.self) { try DaemonOptions(arguments) }
    }

    @Test
    func explainsEachOptionInHelpAndManual() {
        for option in DaemonOptions.syntax.options {
            #expect(DaemonHelp.text.contains(option.synopsis), "\(option.name)")
            #expect(DaemonManual.text.contains(Roff.escape(option.name)), "\(option.name)")
        }
    }
}

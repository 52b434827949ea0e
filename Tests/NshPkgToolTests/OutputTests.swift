import NshCommandLine
import NshTrust
import NshTrustWire
import TestSupport
import Testing

@testable import NshPkgTool

@Suite("Output")
struct OutputTests {
    // MARK: - The message table

    @Test(.attack("M15", "M16"), arguments: RefusalCode.allCases)
    func advisesOnEachRefusal(_ code: RefusalCode) throws {
        let hint = Advice.hint(code)
        check(hint)
        #expect(Advice.hint(code.rawValue) == hint)
        #expect(Failure(Refusal(code, "m")).status == .refused)
        #expect(Failure(NshError(Refusal(code, "m"))) == Failure(Refusal(code, "m")))
    }

    @Test(.attack("M15"), arguments: TroubleCode.allCases)
    func advisesOnEachTrouble(_ code: TroubleCode) {
        if let hint = Advice.hint(code) { check(hint) }
        #expect(Failure(Trouble(code, "m")).status == (code == .badRequest ? .usage : .undecided))
        #expect(Failure(NshError(Trouble(code, "m"))) == Failure(Trouble(code, "m")))
    }

    private func check(_ hint: String) {
        #expect(!hint.hasSuffix(".") && !hint.contains("\n") && hint.count < 140, "\(hint)")
        #expect(hint.first?.isLowercase == true, "\(hint)")
    }

    @Test func ordersExitStatuses() {
        #expect(ExitStatus.allCases.map(\.rawValue) == [0, 1, 2, 3])
        #expect([ExitStatus.refused, .undecided, .done].max() == .undecided)
    }

    @Test func writesAFailureInOneLine() {
        let failure = Failure(.refused, "rolledBack", "build 5 is older than build 6")
        let plain = Paint(isOn: false)
        #expect(
            VerdictReporter.line(failure, file: "a\u{1B}.nshpkg", paint: plain)
                == "REFUSED rolledBack  a\\u{1B}.nshpkg: build 5 is older than build 6")
        let error = Failure(.error, "noSuchFile", "not there")
        #expect(VerdictReporter.line(error, file: "x", paint: plain) == "ERROR noSuchFile  x: not there")
        #expect(
            VerdictReporter.line(error, file: "x", paint: Paint(isOn: true)).hasPrefix("\u{1B}[1;33mERROR\u{1B}[0m "))
    }

    // MARK: - JSON

    @Test func keepsTheOrderOfMembersAndHidesNothing() {
        var object = JSONObject()
        object.append("z", .integer(-1))
        object.append("a", .array([.null, .boolean(true), .text("é\"\\\n\t")]))
        object.add("absent", nil)
        object.append("o", .object(["n": .number("1.5")]))
        #expect(JSONLine.text(object) == #"{"z":-1,"a":[null,true,"é\"\\\n\t"],"o":{"n":1.5}}"#)
    }

    @Test(
        .attack("M8"),
        arguments: [
            ("\u{1B}[31m", #""\u001b[31m""#), ("\u{9B}", #""\u009b""#), ("\u{202E}x", #""\u202ex""#),
            ("\0", #""\u0000""#),
            ("\u{E0041}", #""\udb40\udc41""#), ("\u{7F}", #""\u007f""#), ("\r", #""\u000d""#), ("😀", "\"😀\""),
        ])
    func escapesWhatTerminalsActOn(_ row: (text: String, json: String)) {
        #expect(JSONLine.text(["t": .text(row.text)]) == "{\"t\":\(row.json)}")
    }

    @Test func leavesOutWhatWasNotEstablished() {
        let failure = Failure(.refused, "untrustedRoot", "m")
        let empty = NshReport(Established(), payloadVerified: false)
        let object = failure.object(file: "f", report: empty)
        #expect(object.members.map(\.name) == ["file", "verdict", "code", "message"])
    }

    // MARK: - For people

    @Test(
        arguments: [
            (0, "0 bytes"), (1, "1 byte"), (1023, "1023 bytes"), (1024, "1.0 KiB"), (1536, "1.5 KiB"),
            (20 << 20, "20.0 MiB"), (1 << 40, "1.0 TiB"), (1 << 52, "4096.0 TiB"),
        ] as [(Int64, String)])
    func saysAmounts(_ row: (Int64, String)) { #expect(Amount.bytes(row.0) == row.1) }

    @Test(arguments: [10, 20, 40, 80, 200, 0])
    func fitsTheProgressBarIntoTheTerminal(_ columns: Int) {
        for (done, total) in [(0, 100), (50, 100), (100, 100), (200, 100), (5 << 30, 0)] as [(Int64, Int64)] {
            let line = ProgressBar.line("some/very/long/path/to/a.nshpkg", done: done, total: total, columns: columns)
            #expect(line.count < (columns == 0 ? 80 : columns), "\(line)")
        }
    }

    @Test func warnsThirtyDaysAhead() {
        let now: Int64 = 1_800_000_000
        #expect(Expiry.warning(now + 30 * 86_400, now: now) == nil)
        #expect(Expiry.warning(now + 30 * 86_400 - 1, now: now)?.hasSuffix("in 29 days") == true)
        #expect(Expiry.warning(now + 86_400, now: now)?.hasSuffix("in 1 day") == true)
        #expect(Expiry.warning(now, now: now)?.hasSuffix("in 0 days") == true)
        #expect(Expiry.warning(now - 1, now: now)?.hasPrefix("ended 2027-") == true)
    }

    @Test(
        arguments: [
            ("--rot", "--root"), ("verfy", "verify"), ("vreify", "verify"), ("sto", "store"), ("xyzzy", nil), ("", nil),
        ] as [(String, String?)])
    func findsTheClosestName(_ row: (String, String?)) {
        #expect(ClosestName.to(row.0, among: ["--root", "verify", "store", "publish"]) == row.1)
    }
}

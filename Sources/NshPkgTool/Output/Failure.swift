import NshTrust
import NshTrustWire

/// Something that was refused or could not be decided, as the tool reports it.
struct Failure: Error, Hashable, Sendable {
    /// Refused, or not decided.
    enum Kind: String, Sendable { case refused, error }

    /// Which of the two.
    let kind: Kind
    /// The stable code.
    let code: String
    /// One line, safe to show.
    let message: String
    /// What to do next, where the failure itself knows better than its code.
    let hint: String?

    /// What to do next.
    var advice: String? { hint ?? Advice.hint(code) }

    /// Makes a failure.
    init(_ kind: Kind, _ code: String, _ message: String, hint: String? = nil) {
        self.kind = kind
        self.code = code
        self.message = message
        self.hint = hint
    }

    /// Takes over an error of the library.
    init(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as NshError:
            self.init(error.isRefusal ? .refused : .error, error.code.rawValue, error.message)
        case let refusal as Refusal: self.init(.refused, refusal.code.rawValue, refusal.message)
        case let trouble as Trouble: self.init(.error, trouble.code.rawValue, trouble.message)
        default: self.init(.error, TroubleCode.ioFailure.rawValue, Terminal.safe("\(error)"))
        }
    }

    /// The object that programs get, about a file.
    func object(file: String, report: NshReport? = nil) -> JSONObject {
        let verdict: Verdict = kind == .refused ? .refused : .error
        return VerdictDocument(verdict, code: code, message: message, report: report, file: file).object
    }

    /// The exit status it leads to.
    var status: ExitStatus {
        switch kind {
        case .refused: .refused
        case .error: code == TroubleCode.badRequest.rawValue ? .usage : .undecided
        }
    }
}

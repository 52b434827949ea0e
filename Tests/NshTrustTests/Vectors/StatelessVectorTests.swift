import TestSupport
import Testing

@testable import NshTrust

/// The vectors that need no store.
@Suite("Test vectors")
struct StatelessVectorTests {
    @Test("packages", arguments: Vector.all("package"))
    func judgesPackage(_ vector: Vector) throws {
        let options = try NshTrust.Options(vector: vector.options, at: vector.at)
        var input = BytesInput(try Vector.bytes(try #require(vector.file)))
        let outcome = outcome {
            let report = try verification(vector, options).report(&input, store: nil, monitor: Monitor())
            return [
                "app": .object([
                    "build": .integer(Int64(report.info!.build)), "id": .text(report.info!.id),
                    "name": .text(report.info!.name), "version": .text(report.info!.version),
                ]),
                "digest": .text(report.digest!), "files": .integer(report.files!),
                "unpackedSize": .integer(report.unpackedSize!),
            ]
        }
        compare(outcome, vector.expect)
    }

    @Test("certificates", arguments: Vector.all("certificate"))
    func judgesCertificate(_ vector: Vector) throws {
        let options = try NshTrust.Options(vector: vector.options, at: vector.at)
        let outcome = outcome {
            let verified = try verification(vector, options).judge(
                certificate: try Vector.bytes(try #require(vector.file)), against: EmptyTrustState())
            return [
                "serial": .text(verified.certificate.serial.hex),
                "publisher": .text(verified.certificate.publisher.text),
                "keyHash": .text(verified.certificate.key.hash.hex),
            ]
        }
        compare(outcome, vector.expect)
    }

    @Test("revocation lists", arguments: Vector.all("revocations"))
    func judgesList(_ vector: Vector) throws {
        let options = try NshTrust.Options(vector: vector.options, at: vector.at)
        let outcome = outcome {
            let list = try VerifiedList.verifying(
                try Vector.bytes(try #require(vector.file)), roots: try pinned(vector.roots, options),
                state: EmptyTrustState(), policy: try options.policy())
            _ = try ListSuccession.decide(list, after: nil)
            return ["issuer": .text(list.list.issuer.hex), "sequence": .integer(list.list.sequence)]
        }
        compare(outcome, vector.expect)
    }

    @Test("app ids", arguments: Vector.all("appId"))
    func judgesAppID(_ vector: Vector) throws {
        let outcome = outcome {
            guard let id = AppID(try #require(vector.id)) else { throw Refusal.malformed("not an app id") }
            return ["directoryName": .text(id.directoryName)]
        }
        compare(outcome, vector.expect)
    }

    @Test("public keys", arguments: Vector.all("key").filter { $0.file?.hasSuffix(".pub") ?? true })
    func judgesPublicKey(_ vector: Vector) throws {
        let outcome = outcome {
            let key = try PinnedRoots.key(fromFile: try Vector.bytes(try #require(vector.file))).key
            return ["public": .text(key.base64), "keyHash": .text(key.hash.hex), "keyID": .text(key.id)]
        }
        compare(outcome, vector.expect)
    }

    private func verification(_ vector: Vector, _ options: NshTrust.Options) throws -> Verification {
        Verification(
            roots: try pinned(vector.roots, options), policy: try options.policy(),
            lists: try vector.revocations.map { Verification.GivenList(name: $0, bytes: try Vector.bytes($0)) },
            clock: .fixed(try #require(vector.at)))
    }

    private func pinned(_ files: [String], _ options: NshTrust.Options) throws -> [PublicKey] {
        var roots = PinnedRoots(limit: options.limits.pinnedRoots)
        for file in files { try roots.add(try PinnedRoots.key(fromFile: try Vector.bytes(file))) }
        return roots.keys
    }
}

/// What came out of a vector or of a step.
struct Outcome {
    let verdict: String
    let code: String?
    let message: String
    let members: JSONObject
}

/// Runs the body and takes down what came out.
func outcome(_ body: () throws -> JSONObject) -> Outcome {
    do {
        return Outcome(verdict: "accepted", code: nil, message: "", members: try body())
    } catch {
        let error = NshError(wrapping: error)
        return Outcome(
            verdict: error.isRefusal ? "refused" : "error", code: error.code.rawValue, message: error.message,
            members: JSONObject())
    }
}

/// Compares verdict, code and every member that the expectation names.
func compare(_ outcome: Outcome, _ expected: Vector.Expectation, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(outcome.verdict == expected.verdict, "\(outcome.message)", sourceLocation: sourceLocation)
    #expect(outcome.code == expected.code, "\(outcome.message)", sourceLocation: sourceLocation)
    for (name, value) in expected.members.members where name != "verdict" && name != "code" {
        #expect(outcome.members[name] == value, "\(name)", sourceLocation: sourceLocation)
    }
    if expected.verdict != "accepted" {
        #expect(!outcome.message.isEmpty && !outcome.message.contains("\n"), sourceLocation: sourceLocation)
    }
}

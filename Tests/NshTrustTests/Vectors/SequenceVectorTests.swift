import FoundationEssentials
import TestSupport
import Testing

@testable import NshTrust

/// The vectors that need a store: steps one after another on a new state directory.
@Suite("Sequences of test vectors")
struct SequenceVectorTests {
    @Test("sequences", arguments: Vector.all("sequence"))
    func runsSequence(_ vector: Vector) throws {
        try #require(!vector.steps.isEmpty)
        let directory = try TemporaryDirectory()
        var runner = Runner(directory: directory.path, options: vector.options)
        for (index, step) in vector.steps.enumerated() {
            let outcome = outcome {
                try runner.run(step, index: index)
                return JSONObject()
            }
            #expect(outcome.verdict == step.expect.verdict, "step \(index), \(step.action): \(outcome.message)")
            #expect(outcome.code == step.expect.code, "step \(index), \(step.action): \(outcome.message)")
        }
    }

    /// One state directory and the instance that works on it.
    private struct Runner {
        let directory: String
        var options: JSONObject
        var core: TrustCore?
        var packages: [Int: NshPackage] = [:]
        let clock = Locked<Int64>(0)

        init(directory: String, options: JSONObject) {
            self.directory = directory
            self.options = options
        }

        mutating func run(_ step: Vector.Step, index: Int) throws {
            if let at = step.at { clock.withLock { $0 = at } }
            if step.action == "restart" {
                core = nil
                packages = [:]
                options = step.options ?? options
                _ = try instance()
                return
            }
            let core = try instance()
            switch step.action {
            case "addRoot": try core.addRoot(String(decoding: try bytes(of: step), as: UTF8.self))
            case "updateRevocations": _ = try core.applyRevocations(try bytes(of: step))
            case "verify":
                var input = BytesInput(try bytes(of: step))
                _ = try core.verify(&input)
            case "open":
                let bytes = try bytes(of: step)
                var input = BytesInput(bytes)
                packages[index] = try core.open(&input, length: Int64(bytes.count))
            case "take":
                let opened = try #require(step.of)
                _ = try #require(packages[opened]).take()
            default: throw VectorError("unknown step \(step.action)")
            }
        }

        private mutating func instance() throws -> TrustCore {
            if let core { return core }
            var options = try NshTrust.Options(vector: options, at: nil)
            let clock = clock
            options.clock = { clock.withLock { $0 } }
            let opened = try TrustCore(directory: directory, options: options)
            core = opened
            return opened
        }

        private func bytes(of step: Vector.Step) throws -> [UInt8] { try Vector.bytes(try #require(step.file)) }
    }
}

import FoundationEssentials
import TestSupport
import Testing

/// What `make fuzz` runs by the million, run once for each input that is known: no fuzzer, no sanitizer.
@Suite("Fuzz targets")
struct ReplayTests {
    private static let project = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func target(_ name: String) throws -> FuzzTarget {
        try #require((FuzzTarget.all + [.planted]).first { $0.name == name })
    }

    @Test("judge every seed as it must be judged", arguments: FuzzTarget.all.map(\.name))
    func seeds(_ name: String) throws {
        let target = try Self.target(name)
        let vectors = try SeedVectors(directory: Self.project.appendingPathComponent("testvectors").path)
        let seeds = try target.seeds(from: vectors)
        #expect(!seeds.isEmpty)
        for seed in seeds {
            do {
                let outcome = try target.run(seed.bytes)
                #expect(seed.outcome == nil || outcome == seed.outcome, "\(name)/\(seed.name)")
            } catch {
                Issue.record("\(name)/\(seed.name): \(error)")
            }
        }
    }

    /// The name of a kept input begins with what must come out, or with `any`.
    @Test("judge every input that was kept", arguments: FuzzTarget.all.map(\.name))
    func keptInputs(_ name: String) throws {
        let target = try Self.target(name)
        let folder = Self.project.appendingPathComponent("Fuzz/corpus/\(name)")
        guard FileManager.default.fileExists(atPath: folder.path) else { return }
        for file in try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() {
            let expected = String(file.prefix { $0 != "-" })
            let bytes = Array(try Data(contentsOf: folder.appendingPathComponent(file)))
            do {
                let outcome = try target.run(bytes)
                #expect(expected == "any" || outcome == expected, "\(name)/\(file)")
            } catch {
                Issue.record("\(name)/\(file): \(error)")
            }
        }
    }

    @Test("take inputs of any length", arguments: FuzzTarget.all.map(\.name))
    func anyLength(_ name: String) throws {
        let target = try Self.target(name)
        for count in [0, 1, 2, 19, 20, 511, 512, 513, 1024] {
            _ = try target.run([UInt8](repeating: 0, count: count))
            _ = try target.run(Noise.bytes(count))
        }
    }

    @Test("report a property that does not hold")
    func plantedFault() throws {
        #expect(try FuzzTarget.planted.run(Array("Ns".utf8)) == "accepted")
        #expect(throws: BrokenProperty.self) { try FuzzTarget.planted.run(Array("Nsh".utf8)) }
    }
}

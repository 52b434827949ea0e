import FoundationEssentials
import TestSupport
import Testing

@testable import NshTrust

/// Engines that open, run, apply, prune and query at once, through the public face.
extension ConcurrentStoreTests {
    @Test("opening, applying, pruning and querying at once", .rules("STO-8", "STO-13", "POL-18"))
    func enginesOnOneStateDirectory() async throws {
        let host = try Host()
        let builds = Array(Int64(1)...24)
        let urls = try builds.map { build in
            try host.package(build: build) { $0.files["assets/big"] = Noise.bytes(200_000) }
        }
        let instances = try (0..<4).map { _ in try host.trust() }
        let opened = Locked<[Int]>([])

        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, url) in urls.enumerated() {
                for instance in instances {
                    group.addTask {
                        do {
                            let package = try await instance.openPackage(at: url)
                            opened.withLock { $0.append(package.info.build) }
                            let run = try package.take()
                            // Whatever is pruned meanwhile, the tree of a run stays.
                            let bundle = run.directory.appendingPathComponent("bundle.js")
                            #expect(FileManager.default.fileExists(atPath: bundle.path))
                        } catch let error as NshError {
                            #expect(error.code == .rolledBack, "build \(index + 1): \(error)")
                        }
                    }
                }
            }
            for (number, instance) in instances.enumerated() {
                group.addTask {
                    for sequence in 1...6 {
                        do {
                            try instance.updateRevocations(host.list(Int64(sequence)))
                        } catch let error as NshError {
                            #expect(error.code == .revocationsOlder, "\(error)")
                        }
                    }
                }
                group.addTask { for _ in 0..<6 { _ = try instance.prune(keeping: 1 + number % 2) } }
                group.addTask {
                    var highest = 0
                    for _ in 0..<40 {
                        let build = try instance.acceptedBuild(forApp: "com.example.orders")?.build ?? 0
                        #expect(build >= highest, "the accepted build fell")
                        highest = build
                        _ = try instance.events(after: 0, limit: 10)
                    }
                }
            }
            try await group.waitForAll()
        }

        let last = try #require(try instances[0].acceptedBuild(forApp: "com.example.orders"))
        #expect(last.build == 24 && opened.withLock { $0.max() } == 24)
        let accepted = try instances[0].events().filter { $0.kind == "opened" }.compactMap(\.build)
        #expect(accepted == accepted.sorted() && accepted.last == 24)
        #expect(host.staged.isEmpty)
        #expect(try instances[0].core.store.problems().isEmpty)
    }

    @Test("of many who apply the same list at once one is told that it changed something", .rules("REV-7", "STO-8"))
    func sameListAppliedByMany() async throws {
        let host = try Host()
        let instances = try (0..<8).map { _ in try host.trust { $0.durability = .processEndUnsafely } }
        for sequence in Int64(1)...12 {
            let list = host.list(sequence)
            let changed = Locked(0)
            try await threads(instances.count) { number in
                if try instances[number].updateRevocations(list).changed { changed.withLock { $0 += 1 } }
            }
            #expect(changed.withLock { $0 } == 1, "list \(sequence)")
        }
        #expect(try instances[0].events().filter { $0.kind == "revocations" }.count == 12)
    }
}

import FoundationEssentials
import Glibc
import NshTrust
import TestSupport
import Testing

/// Files that change while they are judged, and verifications that run side by side.
@Suite struct RaceAttacks {
    @Test(.attack("B10", "G11"), .rules("POL-18", "PAY-1")) func whatWasVerifiedIsVerifiedAgainWhenItIsUsed() throws {
        let host = try AttackHost()
        let file = try host.write(PackageBuilder(build: 5).build(), as: "app.nshpkg")
        _ = try host.core.verify(path: file)
        var other = PackageBuilder(build: 5)
        other.damagePayload = { $0[2000] ^= 1 }
        let swapped = try host.write(other.build(), as: "other.nshpkg")
        #expect(rename(swapped, file) == 0)
        let before = try host.contents
        #expect(AttackHost.code { try host.open(file: file) } == .payloadCorrupt)
        let after = try host.contents
        #expect(after.rows == before.rows && after.files == before.files)
    }

    @Test(.attack("B10", "G11"), .rules("POL-18")) func aNameThatChangesHandsDoesNotChangeTheFile() throws {
        let host = try AttackHost()
        let path = try host.write(PackageBuilder(build: 5).build(), as: "app.nshpkg")
        let file = try host.core.packageFile(path)
        let other = try host.write(PackageBuilder(build: 9).build(), as: "other.nshpkg")
        #expect(rename(other, path) == 0)
        #expect(try host.core.open(file).info.build == 5)
    }

    @Test(.attack("G11"), .rules("PAY-1", "POL-18"), arguments: ["write", "mmap", "hard link", "rename"])
    func aFileThatChangesMeanwhileIsWhatWasSignedOrNothing(_ way: String) throws {
        let host = try AttackHost()
        var package = PackageBuilder(build: 5)
        package.files["assets/noise.bin"] = Noise.bytes(900_000)
        let bytes = package.build()
        let path = try host.write(bytes, as: "app.nshpkg")
        let linked = host.directory.path + "/linked.nshpkg"
        #expect(link(path, linked) == 0)
        let (isDone, failure) = (Locked(false), Locked<String?>(nil))
        var (accepted, refused) = (0, 0)
        try OwnThread.whileRunning {
            var turn = 0
            while !isDone.withLock({ $0 }) {
                turn += 1
                do {
                    try Self.change(way, path, linked, bytes, turn)
                } catch {
                    return failure.withLock { $0 = "turn \(turn): \(error)" }
                }
            }
        } _: {
            defer { isDone.withLock { $0 = true } }
            for _ in 0..<60 {
                // Each round is a store of its own, so that each open reads everything.
                if try Self.opensWhatWasSigned(path, package) { accepted += 1 } else { refused += 1 }
            }
        }
        #expect(failure.withLock { $0 } == nil)
        #expect(accepted > 0, "the good bytes are there half of the time")
        if way == "rename" { #expect(refused > 0, "so are the changed ones") }
    }

    /// Opens a package that changes meanwhile: what was signed is there afterwards, or nothing; returns whether it is.
    private static func opensWhatWasSigned(_ path: String, _ package: PackageBuilder) throws -> Bool {
        let host = try AttackHost()
        do {
            let tree = try host.open(file: path).directory.path
            let noise = try Data(contentsOf: URL(fileURLWithPath: tree + "/assets/noise.bin"))
            #expect(Array(noise) == package.files["assets/noise.bin"])
            return true
        } catch let error as NshError {
            let codes: [NshError.Code] = [
                .payloadCorrupt, .truncated, .noSuchFile, .ioFailure, .malformed, .untrustedRoot, .badSignature,
                .trailingData, .unsupportedFormat,
            ]
            #expect(codes.contains(error.code), "\(error)")
            #expect(try host.contents.files.allSatisfy { !$0.contains("bundle.js") })
            #expect(try host.build() == nil)
            return false
        }
    }

    /// Changes the file in place, or what its name stands for; every other turn puts the good bytes back, and until then
    /// the damage stays.
    private static func change(_ way: String, _ path: String, _ linked: String, _ bytes: [UInt8], _ turn: Int) throws {
        let place = bytes.count - 1 - turn / 2 * 7919 % (bytes.count - 2000)
        if way == "rename" {
            var changed = bytes
            if turn % 2 == 0 { changed[place] ^= 0xFF }
            let beside = path + ".new"
            try Data(changed).write(to: URL(fileURLWithPath: beside))
            guard rename(beside, path) == 0 else { throw Failed() }
            return
        }
        let descriptor = Glibc.open(way == "hard link" ? linked : path, O_RDWR)
        guard descriptor >= 0 else { throw Failed() }
        defer { close(descriptor) }
        var byte = turn % 2 == 0 ? bytes[place] ^ 0xFF : bytes[place]
        if way == "mmap" {
            let map = mmap(nil, bytes.count, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
            guard let map, map != MAP_FAILED else { throw Failed() }
            map.storeBytes(of: byte, toByteOffset: place, as: UInt8.self)
            munmap(map, bytes.count)
        } else {
            _ = pwrite(descriptor, &byte, 1, off_t(place))
        }
    }

    private struct Failed: Error {}

    @Test(.attack("B16", "B14", "K16"), .rules("POL-14", "STO-8")) func verificationsSideBySideDoNotMixTheirPolicies()
        async throws
    {
        let host = try AttackHost(roots: [.root, .secondRoot])
        var both = PackageBuilder(build: 3)
        both.certifiedBy = [.root, .secondRoot]
        both.minimumRuntime = RuntimeVersion("2.0")
        let one = PackageBuilder(build: 2).build()
        let two = both.build()
        let pool = WorkerPool(maximumThreads: 64)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<64 {
                group.addTask {
                    try await pool.runBlocking { _ in
                        var policy = Policy()
                        policy.rootThreshold = 1 + number % 2
                        policy.runtime = number % 4 < 2 ? RuntimeVersion("1.0") : RuntimeVersion("2.0")
                        let verification = Verification(
                            roots: host.core.roots, policy: policy, clock: WallClock { PackageBuilder.now })
                        for _ in 0..<5 {
                            var (first, second) = (BytesInput(one), BytesInput(two))
                            let single = AttackHost.code {
                                try verification.report(&first, store: host.core.store, monitor: Monitor())
                            }
                            #expect(single == (number % 2 == 0 ? nil : .untrustedRoot))
                            let double = AttackHost.code {
                                try verification.report(&second, store: host.core.store, monitor: Monitor())
                            }
                            #expect(double == (number % 4 < 2 ? .runtimeTooOld : nil))
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

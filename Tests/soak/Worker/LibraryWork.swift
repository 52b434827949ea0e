import FoundationEssentials
import NshTrust

/// One thread of a process that has the store itself: opens, verifies, checks, applies, prunes, removes and asks.
struct LibraryWork: Sendable {
    let plan: Plan
    let journal: Journal
    let core: TrustCore
    /// The place of a package in the plan, by its digest.
    let places: [String: Int]

    /// Works until the time is over.
    func run(seed: UInt64) throws {
        var dice = Dice(seed: seed)
        while !plan.isOver {
            switch dice.below(100) {
            case ..<34: open(&dice)
            case ..<37: cancelledOpen(&dice)
            case ..<47: verify(dice.package(plan))
            case ..<62: check(&dice)
            case ..<70: apply(dice.list(plan))
            case ..<75: prune { try core.administration().prune(keeping: 1 + dice.below(3)) }
            case ..<77: remove(dice.below(plan.apps.count))
            case ..<99: try query(&dice)
            default: reopenStore()
            }
        }
    }

    private func open(_ dice: inout Dice) {
        let place = dice.package(plan)
        let opened = Locked<NshPackage?>(nil)
        journal.note("open", place) {
            let package = try core.open(path: plan.packages[place].path)
            opened.withLock { $0 = package }
            return ""
        }
        guard let package = opened.withLock({ $0 }) else { return }
        opened.withLock { $0 = nil }
        hold(package, place, &dice)
    }

    /// Uses a package as an engine does: the tree has to stay whole for as long as it is held, whoever cleans up.
    private func hold(_ package: NshPackage, _ place: Int, _ dice: inout Dice) {
        let milliseconds = UInt64(dice.below(40))
        let takes = dice.below(2) == 0
        journal.note("hold", place) {
            let run = Locked<NshRun?>(nil)
            if takes {
                journal.note("take", place) {
                    let taken = try package.take()
                    run.withLock { $0 = taken }
                    return ""
                }
            }
            MonotonicTime.sleep(nanoseconds: milliseconds * 1_000_000)
            try Tree.check(package.directory)
            withExtendedLifetime((package, run)) {}
            return ""
        }
    }

    private func cancelledOpen(_ dice: inout Dice) {
        let place = dice.package(plan)
        // A package here is a few chunks: it is given up at the first or second question, or not at all.
        let left = Locked(dice.below(4))
        journal.note("open", place) {
            _ = try core.open(
                path: plan.packages[place].path,
                monitor: Monitor(
                    isCancelled: {
                        left.withLock { left in
                            left -= 1
                            return left < 0
                        }
                    }))
            return ""
        }
    }

    private func verify(_ place: Int) {
        journal.note("verify", place) {
            _ = try core.verify(path: plan.packages[place].path)
            return ""
        }
    }

    private func check(_ dice: inout Dice) {
        for _ in 0..<8 {
            let place = dice.package(plan)
            guard let digest = Digest(hex: plan.packages[place].digest) else { fatalError("the plan is wrong") }
            journal.note("check", place) {
                _ = try core.check(digest)
                return ""
            }
        }
    }

    private func apply(_ place: Int) {
        journal.note("apply", place) {
            let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: plan.lists[place])))
            return ",\"changed\":\(try core.applyRevocations(bytes).changed)"
        }
    }

    private func prune(_ body: () throws -> Trees.Pruning) {
        journal.note("prune") { try removed(try body()) }
    }

    private func remove(_ app: Int) {
        journal.note("remove", app) {
            try removed(try core.administration().remove(try TrustCore.appID(plan.apps[app])))
        }
    }

    private func removed(_ pruning: Trees.Pruning) throws -> String {
        let gone = pruning.removed.compactMap { places[$0.facts.digest.hex] }
        return ",\"removed\":\(gone),\"aside\":\(pruning.setAside.count)"
    }

    private func query(_ dice: inout Dice) throws {
        switch dice.below(8) {
        case 0:
            journal.note("status") {
                _ = try core.administration().status()
                return ""
            }
        case 1:
            journal.note("lists") {
                _ = try core.store.read { try $0.storedLists() }
                return ""
            }
        case 2, 3:
            let app = dice.below(plan.apps.count)
            journal.note("build", app) {
                let id = try TrustCore.appID(plan.apps[app])
                return ",\"n\":\(try core.store.read { try $0.acceptedBuild(of: id)?.build } ?? -1)"
            }
        default: journal.note("newest") { ",\"n\":\(try core.store.read { try $0.newestEvent() })" }
        }
    }

    /// What every start of a process does: cleans up staging, pins again what was pinned.
    private func reopenStore() {
        journal.note("reopen") {
            let other = try TrustCore(directory: plan.state, options: NshTrust.Options())
            return ",\"n\":\(try other.store.read { try $0.newestEvent() })"
        }
    }
}

/// An installed tree as an engine sees it.
enum Tree {
    /// Reads every file that `SHA256SUMS` names.
    ///
    /// - Throws: `manifestMismatch` when one is not what it should be, `ioFailure` when it is not there.
    static func check(_ directory: URL) throws {
        let list = try read(directory.appendingPathComponent("SHA256SUMS"))
        for line in String(decoding: list, as: UTF8.self).split(separator: "\n") {
            let (sum, name) = (line.prefix(64), line.dropFirst(66))
            guard SHA256.hash(try read(directory.appendingPathComponent(String(name)))).hex == sum else {
                throw Refusal(.manifestMismatch, "\(name) is torn")
            }
        }
    }

    private static func read(_ file: URL) throws -> [UInt8] {
        do { return Array(try Data(contentsOf: file)) } catch {
            throw Trouble(.ioFailure, "\(file.path) is gone: \(error)")
        }
    }
}

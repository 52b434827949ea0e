import FoundationEssentials
import Glibc
import NshTrust
import NshTrustClient

/// One process of `Tests/soak/soak.py`: `SoakWorker PLAN JOURNAL SEED THREADS library|client ROOTS`.
///
/// ROOTS are letters of the plan's roots, such as `AB`. Everything that is asked and answered goes to the journal; the
/// driver judges it.
@main
struct SoakWorker {
    /// Tasks of the public face beside the threads.
    private static let tasks = 4

    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count == 7, let seed = UInt64(words[3]), let threads = Int(words[4]) else {
            print("usage: SoakWorker PLAN JOURNAL SEED THREADS library|client ROOTS")
            exit(2)
        }
        let plan = try JSONDecoder().decode(Plan.self, from: Data(contentsOf: URL(fileURLWithPath: words[1])))
        let roots = words[6].map(String.init)
        let journal = try Journal(path: words[2], roots: roots, mode: words[5])
        if words[5] == "client" {
            try await askDaemon(plan, journal, seed, threads)
        } else {
            try await useStore(plan, journal, seed, threads, roots.compactMap { plan.roots[$0] })
        }
        journal.finish(OpenFiles.census())
    }

    private static func useStore(
        _ plan: Plan, _ journal: Journal, _ seed: UInt64, _ threads: Int, _ roots: [String]
    ) async throws {
        guard let (core, trust) = start(plan, journal) else { return }
        for root in roots {
            // One that was withdrawn before this process started is refused; the others remain.
            let answer = journal.note("root") {
                try core.addRoot(root)
                return ""
            }
            guard answer == "accepted" else { continue }
            journal.note("root") {
                try trust.addRoot(root)
                return ""
            }
        }
        let places = Dictionary(
            plan.packages.enumerated().map { ($0.element.digest, $0.offset) }, uniquingKeysWith: { first, _ in first })
        let work = LibraryWork(plan: plan, journal: journal, core: core, places: places)
        let face = FaceWork(plan: plan, journal: journal, trust: trust, core: core)
        let pool = WorkerPool(maximumThreads: threads)
        let follower = Task { await face.follow() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<threads {
                group.addTask {
                    try await pool.runBlocking { _ in try work.run(seed: seed &* 1000 &+ UInt64(number)) }
                }
            }
            for number in 0..<tasks {
                group.addTask { await face.run(seed: seed &* 1000 &+ UInt64(threads + number)) }
            }
            try await group.waitForAll()
        }
        follower.cancel()
        await follower.value
    }

    /// Opens the store twice, as two parts of one program may; again and again when others keep it too long.
    private static func start(_ plan: Plan, _ journal: Journal) -> (TrustCore, NshTrust)? {
        while !plan.isOver {
            let stores = Locked<(TrustCore, NshTrust)?>(nil)
            journal.note("start") {
                let core = try TrustCore(directory: plan.state, options: NshTrust.Options())
                let trust = try NshTrust(stateDirectory: URL(fileURLWithPath: plan.state, isDirectory: true))
                stores.withLock { $0 = (core, trust) }
                return ""
            }
            if let opened = stores.withLock({ $0 }) { return opened }
        }
        return nil
    }

    private static func askDaemon(_ plan: Plan, _ journal: Journal, _ seed: UInt64, _ tasks: Int) async throws {
        let clients = (0..<max(1, tasks / 4)).map { _ in NshTrustClient(socketPath: plan.socket) }
        let follower = Task { await ClientWork(plan: plan, journal: journal, client: clients[0]).follow() }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<tasks {
                let work = ClientWork(plan: plan, journal: journal, client: clients[number % clients.count])
                group.addTask { await work.run(seed: seed &* 1000 &+ UInt64(number)) }
            }
        }
        follower.cancel()
        await follower.value
    }
}

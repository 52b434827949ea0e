/// The threads of the service: a few lanes, so that work of one kind never keeps another kind waiting.
///
/// Each has a bounded number of threads and of jobs that wait; what is beyond is turned away at once. No one user can
/// fill a lane that everybody may use.
final class WorkQueue: Sendable {
    /// The lanes.
    enum LaneName: String, CaseIterable, Sendable {
        /// Packages named by paths.
        case files
        /// Packages that are sent; their threads mostly wait for the network.
        case uploads
        /// What administrators do to the store.
        case upkeep
        /// Short reads of the store.
        case queries
    }

    private let lanes: [LaneName: Lane]

    /// Makes lanes without threads.
    ///
    /// - Parameter workers: How many packages named by paths are worked on at once.
    init(workers: Int) {
        lanes = Dictionary(
            uniqueKeysWithValues: LaneName.allCases.map { name in
                let lane =
                    switch name {
                    case .files: Lane(threads: workers, waiting: 64, perUser: 48, yields: true)
                    case .uploads: Lane(threads: 16, waiting: 16, perUser: 8, yields: true)
                    case .upkeep: Lane(threads: 1, waiting: 8, yields: true)
                    case .queries: Lane(threads: 2, waiting: 256, perUser: 128)
                    }
                return (name, lane)
            })
    }

    /// Adds a job to a lane.
    ///
    /// - Parameters:
    ///   - name: The lane.
    ///   - user: For whom it is done.
    ///   - job: The work; it must not trap, and reports by itself.
    /// - Throws: `overloaded` when the lane is full, or the user has as much in it as one may.
    func add(to name: LaneName, for user: UInt32, _ job: @escaping Lane.Job) throws(Problem) {
        guard let lane = lanes[name], lane.add(job, for: user) else {
            throw Problem(.overloaded, "there is more work of this kind than is taken on at once; ask again soon")
        }
    }

    /// How full each lane is, in the order of their names' declaration.
    var figures: [(name: LaneName, figures: Lane.Figures)] {
        LaneName.allCases.compactMap { name in lanes[name].map { (name, $0.figures) } }
    }

    /// Takes no more work, ends what waits, and returns when no thread runs any more.
    func stop() {
        for name in LaneName.allCases { lanes[name]?.stop() }
    }
}

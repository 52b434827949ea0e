import FoundationEssentials
import NshTrust

/// What all processes of one soak share, written by the driver: where the store is, and what there is to open and apply.
struct Plan: Decodable, Sendable {
    /// A package file.
    struct Package: Decodable, Sendable {
        let path: String
        let digest: String
    }

    /// The state directory.
    let state: String
    /// The daemon's socket.
    let socket: String
    /// Root keys in base64, by the letter that the command line names them with.
    let roots: [String: String]
    /// App ids.
    let apps: [String]
    /// Places in `packages`: by app, by rising build, those of one build together.
    let builds: [[[Int]]]
    /// All packages.
    let packages: [Package]
    /// Revocation lists in the order in which they were issued.
    let lists: [String]
    /// When the soak began and when it ends, in nanoseconds of the monotonic clock.
    let begun: UInt64
    let until: UInt64

    /// How much of the time has passed, 0 … 1.
    var progress: Double {
        let now = min(max(MonotonicTime.nanoseconds(), begun), until)
        return Double(now - begun) / Double(until - begun)
    }

    /// Whether the time is over.
    var isOver: Bool { MonotonicTime.nanoseconds() >= until }
}

/// What one worker picks, the same for the same seed; builds and lists rise with the time, a few to and fro.
struct Dice: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// A number below a bound.
    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    /// A package of any app near the build of the hour.
    mutating func package(_ plan: Plan) -> Int {
        let builds = plan.builds[below(plan.builds.count)]
        let place = Int(plan.progress * Double(builds.count)) + below(7) - 3
        let same = builds[min(max(place, 0), builds.count - 1)]
        return same[below(same.count)]
    }

    /// The place of a list near the one of the hour.
    mutating func list(_ plan: Plan) -> Int {
        let place = Int(plan.progress * Double(plan.lists.count)) + below(4) - 2
        return min(max(place, 0), plan.lists.count - 1)
    }
}

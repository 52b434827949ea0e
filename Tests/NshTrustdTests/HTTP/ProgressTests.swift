import CLinux
import NshTrust
import TestSupport
import Testing

@testable import NshTrustd

struct ProgressTests {
    private let limits = ServerLimits()

    @Test(arguments: [
        (Progress.Stage.head, 30.0, ServerEvent.Deadline.head), (.body, 30, .body), (.answer, 60, .answer),
    ])
    func eachStageHasItsLimit(stage: Progress.Stage, seconds: Double, deadline: ServerEvent.Deadline) {
        let progress = Progress(stage: stage, since: 1000)
        let last = 1000 + Int64(seconds * 1000)
        #expect(progress.overdue(at: last, limits) == nil)
        #expect(progress.overdue(at: last + 1, limits) == deadline)
    }

    @Test(arguments: [Progress.Stage.working, .events])
    func aClientDoesNotAnswerForTheServer(stage: Progress.Stage) {
        #expect(Progress(stage: stage, since: 0).overdue(at: 10_000_000, limits) == nil)
    }

    @Test
    func aStreamHasToKeepItsSpeedAfterAWhile() {
        var progress = Progress(stage: .stream, since: 0, streamSince: 0)
        #expect(progress.overdue(at: 30_000, limits) == nil)
        #expect(progress.overdue(at: 30_001, limits) == .body)
        progress.streamedBytes = 64 * 1024 * 100
        #expect(progress.overdue(at: 100_000, limits) == nil)
        #expect(progress.overdue(at: 100_001, limits) == .body)
    }

    @Test
    func theTimeThatTheServerHeldAStreamUpDoesNotCount() {
        var progress = Progress(stage: .held, since: 30_000, streamSince: 0)
        #expect(progress.overdue(at: 3_000_000, limits) == nil)
        progress.stage = .stream
        progress.heldMilliseconds = 2_970_000
        #expect(progress.overdue(at: 3_000_000, limits) == nil)
        #expect(progress.overdue(at: 3_000_001, limits) == .body)
    }

    @Test(arguments: [Progress.Stage.stream, .held])
    func aStreamHasAnHourInAll(stage: Progress.Stage) {
        let progress = Progress(stage: stage, since: 3_000_000, streamSince: 0, streamedBytes: 1 << 40)
        #expect(progress.overdue(at: 3_600_000, limits) == nil)
        #expect(progress.overdue(at: 3_600_001, limits) == .body)
    }
}

struct ConnectionTableTests {
    private func connection(_ descriptor: Int32, _ user: UInt32) -> Connection {
        Connection(descriptor: descriptor, user: user, peer: nil)
    }

    @Test
    func oneUserMayHaveHalfOfTheConnections() {
        var table = ConnectionTable(limits: ServerLimits(connections: 4), descriptors: 1024)
        let admitted = [(0, 1000), (1, 1000), (2, 1000), (2, 0), (3, 0), (4, 7)].map { descriptor, user in
            table.add(connection(Int32(descriptor), UInt32(user)))
        }
        #expect(admitted == [true, true, false, true, true, false])
        table.remove(0)
        table.remove(9)
        let isAdmitted = table.add(connection(0, 1000))
        #expect(isAdmitted)
        #expect(table.count == 4)
    }

    @Test(.attack("L13"), arguments: [(256, 192, 96), (65, 1, 1), (10, 1, 1), (1 << 20, 2048, 1024)])
    func thereAreFewerConnectionsThanDescriptors(descriptors: Int, limit: Int, limitPerUser: Int) {
        let table = ConnectionTable(limits: ServerLimits(), descriptors: descriptors)
        #expect(table.limit == limit)
        #expect(table.limitPerUser == limitPerUser)
    }
}

struct PeerOfConnectionTests {
    private func peer(_ user: UInt32, _ process: Int32 = 42, groups: [UInt32]? = [5]) -> Peer? {
        Peer(recorded: nsh_peer(process: process, user: user, group: 7), groups: groups, overflowUser: 65534)
    }

    @Test(.attack("L3", "L25"))
    func isWhomTheKernelRecorded() {
        #expect(peer(1000) == Peer(uid: 1000, gid: 7, pid: 42, groups: [5]))
        #expect(peer(0, groups: []) == Peer(uid: 0, gid: 7, pid: 42, groups: []))
    }

    @Test(.attack("L25", "L2"), .rules("API-2"))
    func isNobodyWhenItCannotBeToldApart() {
        #expect(peer(.max) == nil)
        #expect(peer(65534) == nil)
        #expect(peer(1000, 0) == nil)
        #expect(peer(1000, groups: nil) == nil)
        #expect(Peer(recorded: nil, groups: [], overflowUser: 65534) == nil)
    }
}

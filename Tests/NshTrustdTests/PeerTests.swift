import NshTrust
import Testing

@testable import NshTrustd

struct PeerTests {
    @Test
    func isNamedInTheLogByUserAndProcess() {
        let peer = Peer(uid: 1000, gid: 100, pid: 42, groups: [100, 27])
        #expect(peer.caller == Caller(uid: 1000, pid: 42))
    }
}

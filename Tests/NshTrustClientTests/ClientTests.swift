import NshTrustClient
import Testing

struct ClientTests {
    @Test
    func keepsTheNameOfItsSocket() {
        #expect(NshTrustClient(socketPath: "/run/x.sock").socketPath == "/run/x.sock")
    }
}

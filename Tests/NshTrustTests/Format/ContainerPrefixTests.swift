import TestSupport
import Testing

@testable import NshTrust

@Suite("The first bytes of a package")
struct ContainerPrefixTests {
    private func bytes(_ certificate: UInt32, _ header: UInt32) -> [UInt8] {
        func word(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(value >> (8 * UInt32($0)) & 0xFF) } }
        return ContainerPrefix.magic + word(1) + word(certificate) + word(header)
    }

    @Test(
        "neither envelope is empty", .rules("PKG-3"),
        arguments: [(1, 1, nil), (0, 1, .malformed), (1, 0, .malformed)] as [(UInt32, UInt32, RefusalCode?)])
    func refusesEmptyEnvelopes(_ certificate: UInt32, _ header: UInt32, _ expected: RefusalCode?) throws {
        let code = try refusalCode { try ContainerPrefix(parsing: bytes(certificate, header), limits: Limits()) }
        #expect(code == expected)
    }

    @Test(
        "what cannot be stated in 32 bits, or is empty, is not written", .rules("PKG-3"),
        arguments: [
            (1, 1, true), (0, 1, false), (1, 0, false), (1 << 32 - 1, 1 << 32 - 1, true), (1 << 32, 1, false),
            (1, 1 << 32, false),
        ])
    func writesWhatFits(_ certificate: Int, _ header: Int, _ isWritten: Bool) {
        #expect((ContainerPrefix(certificateCount: certificate, headerCount: header) != nil) == isWritten)
    }
}

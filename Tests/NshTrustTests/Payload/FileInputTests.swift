import Glibc
import TestSupport
import Testing

@testable import NshTrust

@Suite("Packages in files")
struct FileInputTests {
    @Test("what cannot be read is no end", .rules("STO-14")) func failsWhenTheSystemDoes() throws {
        let directory = try TemporaryDirectory()
        let descriptor = open(directory.path, O_RDONLY | O_DIRECTORY)
        defer { close(descriptor) }
        var input = FileInput(descriptor: descriptor, name: "the package")
        let error = #expect(throws: Trouble.self) { try input.bytes(upTo: 10) }
        #expect(error?.code == .ioFailure)
    }
}

import Glibc
import NshTrust
import TestSupport
import Testing

@testable import NshTrustd

/// Socket files: who may connect, and what is replaced.
struct ListeningSocketTests {
    private let directory: TemporaryDirectory
    private var path: String { "\(directory.path)/d.sock" }

    init() throws { directory = try TemporaryDirectory() }

    @Test(.attack("L2"), arguments: [0o600, 0o660, 0o666] as [UInt32])
    func hasTheModeThatIsAskedFor(_ mode: UInt32) throws {
        let socket = try ListeningSocket.make(path, .init(mode: mode))
        #expect(try directory.permissions(of: "d.sock") == mode)
        try socket.remove()
        #expect(try directory.contents().isEmpty)
    }

    @Test
    func makesItsDirectory() throws {
        let socket = try ListeningSocket.make("\(directory.path)/a/b/d.sock", .init())
        #expect(try directory.permissions(of: "a/b") == 0o755)
        try socket.remove()
    }

    @Test
    func findsANameThatBeginsWithACombiningMark() throws {
        let socket = try ListeningSocket.make("\(directory.path)/a/\u{301}/\u{301}.sock", .init())
        #expect(try directory.permissions(of: "a/\u{301}") == 0o755)
        #expect(try directory.permissions(of: "a/\u{301}/\u{301}.sock") != nil)
        try socket.remove()
    }

    @Test
    func replacesASocketThatNobodyListensOn() throws {
        do {
            let dead = try ListeningSocket.make(path, .init())
            _ = dead.take()  // closed here; the file stays
        }
        _ = try ListeningSocket.make(path, .init())
    }

    @Test
    func neverReplacesALiveSocketOrAnotherFile() throws {
        let alive = try ListeningSocket.make(path, .init())
        var trouble = #expect(throws: Trouble.self) { try ListeningSocket.make(path, .init()) }
        #expect(trouble?.code == .exists)
        try alive.remove()
        try directory.write("d.sock", [1])
        trouble = #expect(throws: Trouble.self) { try ListeningSocket.make(path, .init()) }
        #expect(trouble?.code == .exists)
        #expect(try directory.read("d.sock") == [1])
    }

    @Test
    func doesNotRemoveAnothersSocket() throws {
        let first = try ListeningSocket.make(path, .init())
        directory.remove("d.sock")
        let second = try ListeningSocket.make(path, .init())
        try first.remove()
        #expect(try directory.contents() == ["d.sock"])
        try second.remove()
        #expect(try directory.contents().isEmpty)
    }

    @Test
    func refusesPathsThatNoSocketCanHave() throws {
        let long = directory.path + "/" + String(repeating: "x", count: 108 - directory.path.utf8.count)
        for path in [long, "relative.sock", "\(directory.path)/", "/a\0b"] {
            let trouble = #expect(throws: Trouble.self) { try ListeningSocket.make(path, .init()) }
            #expect(trouble?.code == .badRequest, "\(path)")
        }
        _ = try ListeningSocket.make(String(long.dropLast(2)), .init())
    }

    @Test
    func refusesADirectoryThatOthersMayWrite() throws {
        chmod(directory.path, 0o777)
        let trouble = #expect(throws: Trouble.self) { try ListeningSocket.make(path, .init()) }
        #expect(trouble?.code == .storeUnsafe)
    }

    @Test(.attack("L2"))
    func adoptsOnlyListeningUnixSocketsWithAPath() throws {
        let network = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #expect(throws: Trouble.self) { try ListeningSocket.adopt(network) }
        let datagram = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        #expect(throws: Trouble.self) { try ListeningSocket.adopt(datagram) }
        let made = try ListeningSocket.make(path, .init())
        guard let listening = made.take() else {
            Issue.record("the socket was taken before")
            return
        }
        let adopted = try ListeningSocket.adopt(dup(listening.raw))
        #expect(adopted.path == path)
        try adopted.remove()
        #expect(try directory.contents() == ["d.sock"])
    }
}

import Glibc
import NshTrust

/// A file, or standard input, that is read from the front as far as it is wanted.
struct Source: ~Copyable {
    private let descriptor: Int32
    private let owned: OwnedDescriptor?
    private let shown: String

    /// Opens a regular file, or takes standard input for `-`.
    ///
    /// - Throws: `Trouble`: `noSuchFile`, `notARegularFile`, `ioFailure`.
    init(_ path: String) throws(Trouble) {
        if path == "-" {
            descriptor = 0
            owned = nil
            shown = "standard input"
            return
        }
        let shown = Terminal.safe(path)
        let file = try PlainFile.open(path, name: shown).take()
        descriptor = file.raw
        owned = consume file
        self.shown = shown
    }

    /// Reads at most `count` bytes; fewer only at the end.
    ///
    /// - Throws: `Trouble` (`ioFailure`).
    mutating func bytes(upTo count: Int) throws(Trouble) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let got = bytes.withUnsafeMutableBytes { buffer in
                buffer.baseAddress.map { Glibc.read(descriptor, $0 + filled, count - filled) } ?? 0
            }
            if got < 0, errno == EINTR { continue }
            if got < 0 { throw SystemCall.trouble(errno, "cannot read \(shown)") }
            if got == 0 { break }
            filled += got
        }
        bytes.removeLast(count - filled)
        return bytes
    }

    /// Reads what is left.
    ///
    /// - Throws: `Trouble` (`ioFailure`), `Refusal` (`limitExceeded`) when it is more than `limit` bytes.
    mutating func rest(limit: Int) throws -> [UInt8] {
        var all: [UInt8] = []
        while true {
            let piece = try bytes(upTo: 1 << 16)
            all += piece
            guard all.count <= limit else {
                throw Refusal(.limitExceeded, "\(shown) is larger than \(limit) bytes, the most that is read")
            }
            if piece.count < 1 << 16 { return all }
        }
    }
}

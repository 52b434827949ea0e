import FoundationEssentials
import Glibc

/// A new directory of the test's own, removed with all that is in it when the value goes.
///
/// It lies in memory where the system offers that: tests that write and delete many files would make a disk slow for
/// the ones after them. `NSH_TEST_DIRECTORY` names another place, which whoever says so cleans up: a fuzzer ends
/// without letting go of anything.
public final class TemporaryDirectory: Sendable {
    /// The absolute path.
    public let path: String

    /// Makes the directory, mode 0700.
    public init() throws {
        let usual = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
        let parent = getenv("NSH_TEST_DIRECTORY").map { String(cString: $0) } ?? usual
        var template = Array("\(parent)/nsh-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw TemporaryDirectoryError(errno: errno) }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        chmod(path, 0o700)
        // What a test made unreadable stays for the system to clean up.
        try? FileManager.default.removeItem(atPath: path)
    }
}

/// No directory could be made.
public struct TemporaryDirectoryError: Error {
    /// The system's error number.
    public let errno: Int32
}

import Glibc
import NshTrust

/// The right to be the daemon of a state directory; there is one at a time.
///
/// It is an exclusive `flock` on a file of its own, which ends with the process however that ends. Libraries and tools
/// that use the same state directory do not take it: the store itself is made for many processes.
final class InstanceLock {
    /// The name of the file in the state directory.
    static let fileName = "trustd.lock"

    private let file: OwnedDescriptor

    private init(_ file: consuming OwnedDescriptor) { self.file = file }

    /// Takes the right.
    ///
    /// - Parameter directory: The state directory.
    /// - Returns: The lock, held for as long as the value lives.
    /// - Throws: `exists` when another daemon has it, `ioFailure`.
    static func take(in directory: borrowing Directory) throws(Trouble) -> InstanceLock {
        if try directory.status(of: fileName) == nil {
            do {
                try directory.makeEmptyFile(fileName, permissions: 0o600)
            } catch  where error.code == .exists {
                // Another daemon starts at the same time; the lock decides.
            }
        }
        let file = try directory.openFile(fileName)
        guard try FileLock.take(file.raw, .exclusive, directory.shown(fileName)) else {
            throw Trouble(.exists, "another nsh-trustd serves \(Printable.escaped(directory.path)); it goes on")
        }
        return InstanceLock(file)
    }
}

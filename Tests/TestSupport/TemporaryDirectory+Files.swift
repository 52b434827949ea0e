import FoundationEssentials
import Glibc
package import NshTrust

extension TemporaryDirectory {
    /// Opens the directory.
    package func open() throws -> Directory { try Directory.open(path) }

    /// Writes a file, and the directories above it.
    ///
    /// - Parameters:
    ///   - name: Its path below the directory.
    ///   - bytes: What it holds.
    /// - Returns: Its whole path.
    /// - Throws: What the file system says.
    @discardableResult
    package func write(_ name: String, _ bytes: [UInt8] = []) throws -> String {
        let file = "\(path)/\(name)"
        try FileManager.default.createDirectory(
            atPath: String(file[..<(file.lastIndex(of: "/") ?? file.startIndex)]), withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        return file
    }

    /// Makes a symbolic link.
    package func link(_ name: String, to target: String) {
        precondition(symlink(target, "\(path)/\(name)") == 0, "symlink \(name): \(errno)")
    }

    /// Removes a file or an empty directory.
    package func remove(_ name: String) {
        precondition(Glibc.remove("\(path)/\(name)") == 0, "remove \(name): \(errno)")
    }

    /// Removes a file, if there is one.
    package func remove(ifPresent name: String) {
        guard Glibc.remove("\(path)/\(name)") != 0 else { return }
        precondition(errno == ENOENT, "remove \(name): \(errno)")
    }

    /// Reads a file.
    package func read(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)")))
    }

    /// The permission bits of a file or directory, itself when it is a link.
    package func permissions(of name: String) throws -> UInt32? { try open().status(of: name)?.permissions }

    /// The paths below the directory, sorted.
    package func contents() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: path).sorted()
    }
}

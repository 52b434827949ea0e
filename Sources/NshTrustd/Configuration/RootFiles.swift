import NshTrust

/// Reads the root keys that the machine trusts: a directory of `.pub` files which only root or the daemon can change.
enum RootFiles {
    /// The longest file that can hold a key.
    private static let maximumBytes = 4096

    /// Reads the directory.
    ///
    /// - Parameter files: The directory.
    /// - Returns: The keys with their files, each key once, and the files that cannot be used; the directory itself is
    ///   one of those when others may write it or it cannot be read: then nothing is trusted. And whether the system, which
    ///   may do better the next time, stood in the way of none.
    static func read(_ files: WatchedFiles) -> (roots: [RootFile], bad: [BadFile], isDone: Bool) {
        var (roots, bad): ([RootFile], [BadFile]) = ([], [])
        var isDone = true
        do throws(Trouble) {
            let directory = try files.directory()
            if let exposure = try directory.status().exposure {
                throw Trouble(.storeUnsafe, "\(Printable.escaped(files.path)): \(exposure)")
            }
            for name in try files.names(in: directory) {
                let path = "\(files.path)/\(name)"
                do {
                    let key = try key(name, in: directory)
                    if !roots.contains(where: { $0.key == key }) { roots.append(RootFile(key: key, file: path)) }
                } catch {
                    if Configuration.isPassing(error) { isDone = false }
                    bad.append(BadFile(file: path, message: NshError(wrapping: error).message))
                }
            }
        } catch {
            if Configuration.isPassing(error) { isDone = false }
            bad.append(BadFile(file: files.path, message: error.message))
        }
        return (roots, bad, isDone)
    }

    private static func key(_ name: String, in directory: borrowing Directory) throws -> PublicKey {
        let file = try directory.openFile(name)
        let status = try FileStatus.of(descriptor: file.raw, directory.shown(name))
        if let exposure = status.exposure { throw Trouble(.storeUnsafe, "\(directory.shown(name)): \(exposure)") }
        return try PinnedRoots.key(
            fromFile: try file.contents(limit: maximumBytes, directory.shown(name))
        ).key
    }
}

public import FoundationEssentials

/// The public test data that lies beside the project and is read there, never copied.
///
/// `NSH_SHARED` names its folder (default: `../shared` beside the project). Suites that need it are skipped where it is
/// absent, unless `NSH_REQUIRE_SHARED` is 1: then its absence is a failure.
public enum SharedCorpora {
    /// The folder.
    public static let directory: URL = {
        if let path = ProcessInfo.processInfo.environment["NSH_SHARED"] { return URL(fileURLWithPath: path) }
        let project = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return project.deletingLastPathComponent().appendingPathComponent("shared")
    }()

    /// Whether suites that need the data run: it is there, or its absence must be reported.
    public static let isAvailable: Bool =
        FileManager.default.fileExists(atPath: directory.appendingPathComponent("corpora").path)
        || ProcessInfo.processInfo.environment["NSH_REQUIRE_SHARED"] == "1"

    /// Reads a file of the data.
    ///
    /// - Parameter path: Relative to the folder, such as `corpora/paths.txt`.
    /// - Returns: Its bytes.
    /// - Throws: What reading throws.
    public static func bytes(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: directory.appendingPathComponent(path)))
    }

    /// The sorted names of the files in a folder of the data.
    ///
    /// - Returns: No names when the folder is absent, so that a table of cases can be made before the suite is skipped.
    public static func names(in path: String) -> [String] {
        let folder = directory.appendingPathComponent(path).path
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
    }
}

#if !Foundation
/// Where a file lies: what stands for Foundation's `URL` where the package is built without its trait `Foundation`.
///
/// Tool and daemon are; they name files by path, make no URL, and start faster for it (docs/decisions/0012).
public struct URL: Hashable, Sendable {
    /// The path.
    public let path: String

    /// Names a file or directory.
    ///
    /// - Parameters:
    ///   - path: Its path.
    ///   - isDirectory: Of no meaning here.
    public init(fileURLWithPath path: String, isDirectory: Bool = false) { self.path = path }
}
#endif

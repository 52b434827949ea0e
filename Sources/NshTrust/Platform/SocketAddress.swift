package import Glibc

/// The address of a Unix socket.
package struct SocketAddress {
    /// Bytes of the longest path; one more is the NUL.
    package static let maximumPathBytes = 107

    private let raw: sockaddr_un
    private let length: socklen_t

    /// Makes the address of a path; nil when the path is too long for one.
    package init?(path: String) {
        self.init(bytes: Array(path.utf8), length: socklen_t(MemoryLayout<sockaddr_un>.size))
    }

    /// Makes the address of a name that is not in the file system; nil when it is too long.
    ///
    /// - Parameter abstractName: The name, without what stands for its leading NUL.
    package init?(abstractName: String) {
        let bytes = [0] + Array(abstractName.utf8)
        self.init(bytes: bytes, length: socklen_t(MemoryLayout<sa_family_t>.size + bytes.count))
    }

    private init?(bytes: [UInt8], length: socklen_t) {
        guard bytes.count <= Self.maximumPathBytes else { return nil }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        raw = address
        self.length = length
    }

    /// Runs the body with the address.
    ///
    /// - Parameter body: A call that takes a socket address.
    /// - Returns: What the body returns.
    package func with<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: raw) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    /// The path that a Unix socket is bound to; nil for any other socket, an abstract name included.
    package static func path(of socket: Int32) -> String? {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let failed = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) }
        }
        guard failed == 0, address.sun_family == sa_family_t(AF_UNIX) else { return nil }
        let bytes = withUnsafeBytes(of: &address.sun_path) { Array($0.prefix { $0 != 0 }) }
        return bytes.first == UInt8(ascii: "/") ? String(validating: bytes, as: UTF8.self) : nil
    }
}

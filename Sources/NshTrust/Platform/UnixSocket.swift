import CLinux

/// Unix sockets without a name, which do not block and are closed on exec.
package enum UnixSocket {
    /// Makes one for bytes.
    ///
    /// - Returns: The socket, neither bound nor connected.
    /// - Throws: `ioFailure`.
    package static func stream() throws(Trouble) -> OwnedDescriptor {
        OwnedDescriptor(owning: try SystemCall.check("cannot make a socket") { nsh_stream_socket() })
    }

    /// Makes one for datagrams.
    ///
    /// - Parameter patience: How long a receiver that takes none keeps the sender waiting, in seconds.
    /// - Returns: The socket, neither bound nor connected.
    /// - Throws: `ioFailure`.
    package static func datagram(patience: Int32) throws(Trouble) -> OwnedDescriptor {
        OwnedDescriptor(owning: try SystemCall.check("cannot make a socket") { nsh_datagram_socket(patience) })
    }

    /// Tells whether a descriptor is a socket for bytes on which somebody listens.
    package static func isListeningStream(_ descriptor: Int32) -> Bool { nsh_is_listening_stream(descriptor) == 1 }
}

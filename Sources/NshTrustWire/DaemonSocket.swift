/// Where the daemon listens unless it is told otherwise.
package enum DaemonSocket {
    /// The path of the socket.
    package static let defaultPath = "/run/nsh-trust/trustd.sock"
    /// Names the socket for the tool and for clients.
    package static let environmentVariable = "NSH_TRUST_SOCKET"
}

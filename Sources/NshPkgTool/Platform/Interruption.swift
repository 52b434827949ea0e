import CLinux
import Glibc

/// Ctrl-C and its kin during long work: the first one asks the work to stop and clean up, a second one acts at once.
enum Interruption {
    /// Begins to remember the first SIGINT, SIGTERM or SIGHUP instead of dying of it.
    ///
    /// Before anything is written: what is short goes on to its end, what is long asks for `signal` on its way.
    static func remember() { nsh_remember_interruption() }

    /// The remembered signal, or 0.
    static var signal: Int32 { nsh_interruption() }

    /// Ends the process as the remembered signal would have, once everything is cleaned up.
    static func resume() {
        let number = signal
        if number != 0 { raise(number) }
    }
}

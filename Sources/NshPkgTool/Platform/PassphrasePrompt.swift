import CLinux
import Glibc
import NshPublishing
import NshTrust

/// Asks for a passphrase on the terminal, echo off, and gives the terminal back as it was whatever happens.
///
/// Signals that would end or stop the program are held back while echo is off: one of them ends the question, the
/// terminal is restored, and only then it acts.
enum PassphrasePrompt {
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]

    /// Asks once.
    ///
    /// - Parameter question: What is asked, without a colon.
    /// - Returns: What was typed before the line end.
    /// - Throws: `Trouble`: `ioFailure` without a terminal, `cancelled` when a signal or the end of input came.
    static func ask(_ question: String) throws -> Passphrase {
        let raw = nsh_openat(AT_FDCWD, "/dev/tty", O_RDWR, 0)
        guard raw >= 0 else {
            throw Trouble(.ioFailure, "a passphrase is needed, and there is no terminal to ask for it")
        }
        let terminal = OwnedDescriptor(owning: raw)
        while true {
            if let passphrase = try askOnce(question, terminal.raw) { return passphrase }
            guard Interruption.signal == 0 else { throw Trouble(.cancelled, "interrupted") }
        }
    }

    /// Asks twice and compares.
    ///
    /// - Throws: As `ask`; `badRequest` for two that differ.
    static func askTwice(_ question: String) throws -> Passphrase {
        let first = try ask(question)
        let second = try ask("The same again")
        guard first.matches(second) else { throw Trouble(.badRequest, "the two passphrases differ") }
        return first
    }

    /// Returns nil when the program was stopped and goes on now: the question must be asked again.
    private static func askOnce(_ question: String, _ terminal: Int32) throws -> Passphrase? {
        let watcher = OwnedDescriptor(
            owning: try SystemCall.check("cannot watch for signals") {
                nsh_signal_descriptor(signals, Int32(signals.count))
            })
        var before = termios()
        guard tcgetattr(terminal, &before) == 0 else {
            let number = errno
            nsh_unblock_signals(signals, Int32(signals.count))
            throw SystemCall.trouble(number, "cannot ask the terminal for its settings")
        }
        defer {
            // TCSADRAIN keeps what was typed ahead for the shell; there is nobody to tell if it fails.
            _ = tcsetattr(terminal, TCSADRAIN, &before)
            say("\n", terminal)
            nsh_unblock_signals(signals, Int32(signals.count))
        }
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO | ECHONL)
        guard tcsetattr(terminal, TCSAFLUSH, &silent) == 0 else {
            throw SystemCall.trouble(errno, "cannot switch the terminal's echo off")
        }
        say("\(question): ", terminal)
        do {
            let signals = watcher.raw
            return try Passphrase(reading: { buffer in try readLine(into: buffer, terminal, signals) })
        } catch is Interrupted {
            return nil
        }
    }

    /// A signal is pending.
    private struct Interrupted: Error {}

    /// Reads a line, one byte at a time so that nothing of it is left elsewhere.
    private static func readLine(
        into buffer: UnsafeMutableRawBufferPointer, _ terminal: Int32, _ watcher: Int32
    ) throws -> Int {
        var filled = 0
        while filled < buffer.count, let place = buffer.baseAddress {
            try waitForKey(terminal, watcher)
            let count = read(terminal, place + filled, 1)
            if count < 0, errno == EINTR { continue }
            if count < 0 { throw SystemCall.trouble(errno, "cannot read from the terminal") }
            if count == 0 { break }
            filled += 1
            if buffer[filled - 1] == 0x0A { break }
        }
        return filled
    }

    private static func waitForKey(_ terminal: Int32, _ watcher: Int32) throws {
        var descriptors = [
            pollfd(fd: watcher, events: Int16(POLLIN), revents: 0),
            pollfd(fd: terminal, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&descriptors, 2, -1) < 0 {
            guard errno == EINTR else { throw SystemCall.trouble(errno, "cannot wait for the terminal") }
        }
        if descriptors[0].revents != 0 { throw Interrupted() }
    }

    private static func say(_ text: String, _ terminal: Int32) {
        let bytes = Array(text.utf8)
        _ = write(terminal, bytes, bytes.count)
    }
}

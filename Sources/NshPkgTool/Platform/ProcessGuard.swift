import CLinux
import Glibc
import NshPublishing
import NshTrust

/// Keeps what this process holds in memory from leaving it: by a core file, another process, or a crash report.
enum ProcessGuard {
    /// Forbids core files and other processes' looks, before a secret is loaded.
    ///
    /// - Throws: `Trouble` (`ioFailure`) when the system does not allow it: then no secret is loaded.
    static func forbidCoreDumps() throws(Trouble) {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        guard setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0 else {
            throw SystemCall.trouble(errno, "cannot forbid core files")
        }
        _ = try SystemCall.check("cannot forbid core files") { nsh_forbid_core_dumps() }
        // Swift's runtime may have been told to report crashes with what is in memory.
        for number in [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP] { signal(number, SIG_DFL) }
    }

    /// Warns when the system did not let a secret that is loaded be kept out of swap.
    static func warnOfSwap(_ console: Console) throws(OutputFailure) {
        guard SecretKey.mayReachSwap else { return }
        try console.warning(
            "this process may not lock memory, so secrets could be written to swap; raise the limit (ulimit -l), "
                + "or switch swap off")
    }
}

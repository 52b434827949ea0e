import Glibc

/// Another process that holds a lock on a file until it is stopped.
final class LockHolder {
    private var process: pid_t = 0
    private let input: Int32

    struct Failed: Error {}

    init(_ path: String, exclusively: Bool) throws {
        let script = """
            import fcntl, os, sys
            fd = os.open(sys.argv[1], os.O_RDONLY)
            fcntl.flock(fd, fcntl.LOCK_EX if sys.argv[2] == "x" else fcntl.LOCK_SH)
            os.write(1, b"!")
            sys.stdin.read()
            """
        var (toChild, fromChild): ([Int32], [Int32]) = ([0, 0], [0, 0])
        guard pipe(&toChild) == 0, pipe(&fromChild) == 0 else { throw Failed() }
        for descriptor in toChild + fromChild { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        input = toChild[1]
        let actions = UnsafeMutablePointer<posix_spawn_file_actions_t>.allocate(capacity: 1)
        defer { actions.deallocate() }
        posix_spawn_file_actions_init(actions)
        defer { posix_spawn_file_actions_destroy(actions) }
        posix_spawn_file_actions_adddup2(actions, toChild[0], 0)
        posix_spawn_file_actions_adddup2(actions, fromChild[1], 1)
        let words: [String] = ["python3", "-c", script, path, exclusively ? "x" : "s"]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { (word: String) in strdup(word) } + [nil]
        defer { for argument in arguments { free(argument) } }
        let result = posix_spawnp(&process, "python3", actions, nil, &arguments, environ)
        close(toChild[0])
        close(fromChild[1])
        defer { close(fromChild[0]) }
        var byte: UInt8 = 0
        guard result == 0, read(fromChild[0], &byte, 1) == 1 else { throw Failed() }
    }

    /// Lets the process end, and waits until it has.
    func stop() {
        guard process != 0 else { return }
        kill(process, SIGKILL)
        close(input)
        waitpid(process, nil, 0)
        process = 0
    }

    deinit { stop() }
}

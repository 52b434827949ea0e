import Glibc

/// What the system says of this process.
enum ProcessFigures {
    /// Bytes of memory in use; nil when `/proc` does not say.
    static var residentBytes: Int64? {
        let file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var text = [UInt8](repeating: 0, count: 128)
        let count = read(file, &text, text.count)
        guard count > 0 else { return nil }
        let fields = String(decoding: text.prefix(count), as: UTF8.self).split(separator: " ")
        guard fields.count > 1, let pages = Int64(fields[1]) else { return nil }
        return pages * Int64(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// Number of open descriptors; nil when `/proc` does not say.
    static var openDescriptors: Int64? {
        guard let directory = opendir("/proc/self/fd") else { return nil }
        defer { closedir(directory) }
        var count: Int64 = 0
        while readdir(directory) != nil { count += 1 }
        return count - 3  // the two dots, and the descriptor that reads this
    }

    /// How many descriptors the process may have.
    static var maximumDescriptors: Int64? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &limit) == 0 else { return nil }
        return Int64(clamping: limit.rlim_cur)
    }

    /// Nanoseconds of processor time used.
    static var processorNanoseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

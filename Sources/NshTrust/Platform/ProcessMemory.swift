import CLinux

/// The memory that this process has and does not use.
package enum ProcessMemory {
    /// Keeps little of it from now on; to be called before threads start, by a process that runs for long.
    package static func keepSmall() { nsh_keep_memory_small() }

    /// Gives back to the system what is free now; takes a millisecond or so.
    package static func giveBack() { nsh_give_memory_back() }
}

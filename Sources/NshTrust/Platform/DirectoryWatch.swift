import CLinux
import Glibc

/// Waits until files of a directory change, without opening any of them.
///
/// Where the system cannot watch, each wait ends after a twentieth of a second at the latest, with "perhaps".
package final class DirectoryWatch: Sendable {
    /// How long a wait lasts at most where nothing is watched, in seconds.
    private static let pollingSeconds = 0.05
    /// More than one event with the longest name.
    private static let bufferBytes = 4096

    /// The names whose content counts.
    private let modified: Set<String>
    /// The names whose coming and going counts.
    private let replaced: Set<String>
    private let events: OwnedDescriptor?
    private let alarm: OwnedDescriptor?
    private let isWatching: Locked<Bool>

    /// Starts to watch.
    ///
    /// - Parameters:
    ///   - directory: The directory.
    ///   - modified: Names of files in it whose content counts.
    ///   - replaced: Names in it whose coming and going counts.
    package init(_ directory: borrowing Directory, modified: Set<String>, replaced: Set<String>) {
        self.modified = modified
        self.replaced = replaced
        let mask = UInt32(IN_MODIFY | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR)
        let raw = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        let isWatched = raw >= 0 && inotify_add_watch(raw, "/proc/self/fd/\(directory.raw)/.", mask) >= 0
        events = raw >= 0 ? OwnedDescriptor(owning: raw) : nil
        let counter = nsh_event_counter()
        alarm = counter >= 0 ? OwnedDescriptor(owning: counter) : nil
        // Without an alarm nobody could end a long wait.
        isWatching = Locked(isWatched && counter >= 0)
    }

    /// Waits until something that counts may have changed, or somebody calls `wake`, or the time is over.
    ///
    /// - Parameter seconds: The longest wait; 0 or less looks and does not wait.
    /// - Returns: Whether something may have changed or `wake` was called; false when the time was over.
    package func wait(seconds: Double) -> Bool {
        let deadline = MonotonicTime.moment(in: seconds)
        while true {
            let left = MonotonicTime.seconds(until: deadline)
            let isWatching = isWatching.withLock { $0 }
            pause(seconds: isWatching ? left : min(left, Self.pollingSeconds))
            let wasWoken = takeAlarm()
            if takeEvents() || wasWoken { return true }
            if !isWatching { return left > 0 }
            if left == 0 { return false }
        }
    }

    /// Ends the wait of another thread, or the next one.
    package func wake() {
        guard let descriptor = rawAlarm else { return }
        _ = nsh_raise_event_counter(descriptor)
    }

    // MARK: - Steps

    private var rawAlarm: Int32? {
        switch alarm {
        case .some(let descriptor): descriptor.raw
        case nil: nil
        }
    }

    private var rawEvents: Int32? {
        switch events {
        case .some(let descriptor): descriptor.raw
        case nil: nil
        }
    }

    /// Sleeps until one of the descriptors has something to say; a signal may end the sleep early.
    private func pause(seconds: Double) {
        var descriptors = [rawEvents, rawAlarm].compactMap { $0 }
            .map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        // Rounded up: a wait never turns into a loop of waits of no length.
        let milliseconds = Int32(min((seconds * 1000).rounded(.up), 86_400_000))
        poll(&descriptors, nfds_t(descriptors.count), milliseconds)
    }

    private func takeAlarm() -> Bool {
        guard let descriptor = rawAlarm else { return false }
        var count: UInt64 = 0
        return read(descriptor, &count, MemoryLayout<UInt64>.size) > 0
    }

    /// Reads all events that are there and tells whether one of them counts.
    private func takeEvents() -> Bool {
        guard let descriptor = rawEvents else { return false }
        var counts = false
        while true {
            let found = withUnsafeTemporaryAllocation(
                byteCount: Self.bufferBytes, alignment: MemoryLayout<inotify_event>.alignment
            ) { buffer -> Bool in
                let count = read(descriptor, buffer.baseAddress, buffer.count)
                guard count > 0 else { return false }
                // Never left early: all events of the buffer have been taken from the queue.
                for event in Self.events(in: UnsafeRawBufferPointer(rebasing: buffer[..<count])) where judge(event) {
                    counts = true
                }
                return true
            }
            if !found { return counts }
        }
    }

    private func judge(_ event: (mask: UInt32, name: String)) -> Bool {
        let lost = UInt32(IN_IGNORED | IN_UNMOUNT)
        if event.mask & lost != 0 { isWatching.withLock { $0 = false } }
        if event.mask & (lost | UInt32(IN_Q_OVERFLOW)) != 0 { return true }
        return event.mask & UInt32(IN_MODIFY) != 0 ? modified.contains(event.name) : replaced.contains(event.name)
    }

    private static func events(in buffer: UnsafeRawBufferPointer) -> [(mask: UInt32, name: String)] {
        var events: [(mask: UInt32, name: String)] = []
        var offset = 0
        let size = MemoryLayout<inotify_event>.size
        while offset + size <= buffer.count {
            let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
            let end = offset + size + Int(event.len)
            guard end <= buffer.count else { break }
            let name = buffer[(offset + size)..<end].prefix { $0 != 0 }
            events.append((event.mask, String(decoding: name, as: UTF8.self)))
            offset = end
        }
        return events
    }
}

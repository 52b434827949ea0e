/// A few buffers of one size that are used in turn.
///
/// They are taken in order by one thread and given back in the same order, by any: so that bytes can go through several
/// hands without being copied, in constant memory.
package final class SlotRing: @unchecked Sendable {
    // Sendable because the slots never change, what lies in one belongs to who has taken it, and `next` to the one thread
    // that takes.
    private let slots: [UnsafeMutableRawBufferPointer]
    private let free: Semaphore
    private var next = 0

    /// Makes the buffers.
    ///
    /// - Parameters:
    ///   - count: How many, at least 1.
    ///   - byteCount: The bytes of each.
    package init(count: Int, byteCount: Int) {
        slots = (0..<count).map { _ in .allocate(byteCount: byteCount, alignment: 4096) }
        free = Semaphore(count)
    }

    deinit { for slot in slots { slot.deallocate() } }

    /// How many buffers there are.
    package var count: Int { slots.count }

    /// Waits until the next buffer is free, and takes it.
    package func take() -> UnsafeMutableRawBufferPointer {
        free.wait()
        defer { next = (next + 1) % slots.count }
        return slots[next]
    }

    /// Gives back the buffer that was taken first of those that are out.
    package func giveBack() { free.post() }
}

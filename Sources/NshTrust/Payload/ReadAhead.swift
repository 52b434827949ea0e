import Glibc
import Synchronization

/// Reads and checks chunks on a thread of its own, a few ahead of their use: one core hashes while the other unpacks.
///
/// A failure takes the place of its chunk: it is thrown when that chunk is asked for, so the bytes before it are judged
/// first.
final class ReadAhead<Input: PackageInput>: ChunkSource, @unchecked Sendable {
    // Sendable because of the hand-over below: `reader` belongs to the thread from `init` until `finish` has joined it;
    // a slot belongs to the thread between a wait for `free` and a post of `filled`, and to the caller otherwise; the
    // rest is the caller's alone.
    private let reader: ChunkReader<Input>
    private let slots: [UnsafeMutableRawBufferPointer]
    private let results: UnsafeMutableBufferPointer<Result<Int, any Error>>
    private let free: Semaphore
    private let filled = Semaphore(0)
    private let isStopping = Atomic(false)
    private var thread: pthread_t?
    private var taken = 0
    private var holdsSlot = false

    /// Bytes that all slots together may have.
    ///
    /// More was not faster, and what a small package does not fill counts as growth: a large one is to need at most 4 MiB
    /// more, of which the window of zstd takes two.
    private static var budget: Int { 2 << 20 }
    /// The most slots.
    private static var slotsMax: Int { 16 }

    /// Starts reading where that brings something and does not need too much memory.
    ///
    /// - Parameters:
    ///   - reader: Before its first chunk; nobody else uses it until `finish` returns.
    ///   - payload: The shape of the payload.
    /// - Returns: Nil for short payloads, large chunks, and inputs that may keep their reader waiting.
    static func started(_ reader: ChunkReader<Input>, payload: PackageHeader.Payload) -> ReadAhead? {
        guard reader.input.allowsReadingAhead, payload.chunks.count > 1 else { return nil }
        guard payload.size >= 512 << 10, payload.chunkSize <= budget else { return nil }
        let count = min(max(budget / reader.bufferCount, 2), slotsMax, payload.chunks.count)
        let ahead = ReadAhead(reader, slots: count)
        return ahead.start() ? ahead : nil
    }

    private init(_ reader: ChunkReader<Input>, slots count: Int) {
        self.reader = reader
        slots = (0..<count).map { _ in .allocate(byteCount: reader.bufferCount, alignment: 4096) }
        results = .allocate(capacity: count)
        results.initialize(repeating: .success(0))
        free = Semaphore(UInt32(count))
    }

    deinit {
        for slot in slots { slot.deallocate() }
        results.deinitialize()
        results.deallocate()
    }

    private func start() -> Bool {
        // Signals are the host's: none is handled on a thread that it does not know.
        var (all, before) = (sigset_t(), sigset_t())
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let body: () -> Void = { [unowned self] in readAll() }
        let box = Unmanaged.passRetained(ThreadBody(body))
        var started: pthread_t = 0
        let failed = pthread_create(
            &started, nil,
            { argument in
                if let argument { Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, box.toOpaque())
        guard failed == 0 else {
            // Without the thread the chunks are read one by one.
            box.release()
            return false
        }
        thread = started
        return true
    }

    /// Runs on the thread until the last chunk, a failure, or `finish`.
    private func readAll() {
        var index = 0
        while true {
            free.wait()
            if isStopping.load(ordering: .acquiring) { return }
            let slot = index % slots.count
            let result = Result { try reader.read(into: slots[slot]) }
            results[slot] = result
            filled.post()
            guard case .success(let count) = result, count > 0 else { return }
            index += 1
        }
    }

    func next() throws -> UnsafeRawBufferPointer? {
        if holdsSlot { free.post() }
        holdsSlot = false
        filled.wait()
        let slot = taken % slots.count
        let count = try results[slot].get()
        guard count > 0 else {
            // The end may be asked for again.
            filled.post()
            return nil
        }
        taken += 1
        holdsSlot = true
        return UnsafeRawBufferPointer(rebasing: slots[slot][..<count])
    }

    func finish() {
        guard let running = thread else { return }
        isStopping.store(true, ordering: .releasing)
        free.post()
        pthread_join(running, nil)
        thread = nil
    }
}

/// What a thread runs, in a form that C can carry.
private final class ThreadBody {
    let run: () -> Void
    init(_ run: @escaping () -> Void) { self.run = run }
}

/// A counting semaphore.
private final class Semaphore: @unchecked Sendable {
    // Sendable because a sem_t is made for several threads; its address never changes.
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init(_ count: UInt32) {
        guard sem_init(semaphore, 0, count) == 0 else { fatalError("sem_init fails only above SEM_VALUE_MAX") }
    }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    func wait() {
        while sem_wait(semaphore) != 0 {}  // a signal interrupted it
    }

    func post() { sem_post(semaphore) }
}

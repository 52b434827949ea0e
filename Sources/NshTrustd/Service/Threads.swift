import Glibc

/// Threads of the service's own.
enum Threads {
    /// Bytes of a thread's stack; the deepest of our work needs a small part of it.
    private static let stackBytes = 1 << 20

    /// Starts a thread that nobody joins.
    ///
    /// - Parameter body: What it does.
    /// - Returns: Whether the system gave one; the body is dropped when it did not.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
        defer { attributes.deallocate() }
        pthread_attr_init(attributes)
        defer { pthread_attr_destroy(attributes) }
        pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(attributes, stackBytes)
        let box = Unmanaged.passRetained(Box(body))
        var thread: pthread_t = 0
        let number = pthread_create(
            &thread, attributes,
            { box in
                if let box { Unmanaged<Box>.fromOpaque(box).takeRetainedValue().body() }
                return nil
            }, box.toOpaque())
        if number != 0 { box.release() }
        return number == 0
    }

    private final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}

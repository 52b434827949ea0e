package import Glibc

/// Starts threads of the system that run a closure.
package enum SystemThread {
    /// Bytes of the stack of a thread that nobody joins; the deepest of our work needs a small part of it.
    private static let stackBytes = 1 << 20

    /// Starts a thread that nobody joins.
    ///
    /// - Parameter body: What it does.
    /// - Returns: 0, or the number of the system's error; the body is then never run.
    package static func startDetached(_ body: @escaping @Sendable () -> Void) -> Int32 {
        let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
        defer { attributes.deallocate() }
        pthread_attr_init(attributes)
        defer { pthread_attr_destroy(attributes) }
        pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(attributes, stackBytes)
        var thread: pthread_t = 0
        return start(&thread, attributes, body)
    }

    /// Starts a thread that somebody joins.
    ///
    /// - Parameters:
    ///   - thread: Whom to join.
    ///   - body: What it does.
    /// - Returns: 0, or the number of the system's error; the body is then never run.
    package static func start(_ thread: inout pthread_t, _ body: @escaping @Sendable () -> Void) -> Int32 {
        start(&thread, nil, body)
    }

    private static func start(
        _ thread: inout pthread_t, _ attributes: UnsafePointer<pthread_attr_t>?, _ body: @escaping @Sendable () -> Void
    ) -> Int32 {
        let box = Unmanaged.passRetained(Box(body))
        let number = pthread_create(
            &thread, attributes,
            { box in
                if let box { Unmanaged<Box>.fromOpaque(box).takeRetainedValue().body() }
                return nil
            }, box.toOpaque())
        if number != 0 { box.release() }
        return number
    }

    /// What a thread runs, in a form that C can carry.
    private final class Box: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
}

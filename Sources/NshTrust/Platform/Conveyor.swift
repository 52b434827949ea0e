/// Hands values from one thread to another, in order; a few may wait.
package final class Conveyor<Element>: @unchecked Sendable {
    // Sendable because a place belongs to the giving thread between a wait for `free` and a post of `filled` and to the
    // taking one otherwise, `given` to the one and `taken` to the other alone.
    private let places: UnsafeMutableBufferPointer<Element?>
    private let free: Semaphore
    private let filled = Semaphore(0)
    private var given = 0
    private var taken = 0

    /// Makes an empty conveyor.
    ///
    /// - Parameter count: The most values that wait, at least 1; one more keeps the giving thread waiting.
    package init(count: Int) {
        places = .allocate(capacity: count)
        places.initialize(repeating: nil)
        free = Semaphore(count)
    }

    deinit {
        places.deinitialize()
        places.deallocate()
    }

    /// Hands a value over; called by one thread.
    package func give(_ value: Element) {
        free.wait()
        places[given % places.count] = value
        given += 1
        filled.post()
    }

    /// Waits for the next value; called by one thread.
    package func take() -> Element {
        filled.wait()
        let place = taken % places.count
        defer {
            taken += 1
            free.post()
        }
        guard let value = places[place] else { fatalError("a place that was filled holds a value") }
        places[place] = nil
        return value
    }
}

/// Different values in rising order, side by side in memory: what a list of a million entries is searched in.
///
/// Finding one takes as many steps as the count has binary digits, and no memory beside the values themselves.
package struct SortedSet<Element: Comparable & Sendable>: Sendable, Equatable {
    private var elements: [Element] = []

    /// Makes an empty set.
    package init() {}

    /// Makes a set of values in any order, or nil when one stands twice.
    ///
    /// - Parameter elements: The values; given away, they are ordered where they are.
    package init?(distinct elements: consuming [Element]) {
        Self.sort(&elements)
        self.elements = elements
        let isRising = zip(self.elements, self.elements.dropFirst()).allSatisfy { $0 < $1 }
        guard isRising else { return nil }
    }

    /// Makes a set of values in any order; of equal ones, one stays.
    package init(_ values: some Sequence<Element>) {
        for value in values.sorted() where elements.last != value { elements.append(value) }
    }

    /// Tells whether a value is in the set.
    ///
    /// - Complexity: The logarithm of the count.
    package func contains(_ element: Element) -> Bool {
        let index = place(of: element)
        return index < elements.count && elements[index] == element
    }

    /// Adds the values of another set.
    package mutating func formUnion(_ other: SortedSet) {
        var united: [Element] = []
        united.reserveCapacity(count + other.count)
        var rest = other.elements[...]
        for element in elements {
            while let next = rest.first, next <= element {
                if next < element { united.append(next) }
                rest.removeFirst()
            }
            united.append(element)
        }
        elements = united + rest
    }

    /// Removes a value, and tells whether it was there.
    @discardableResult
    package mutating func remove(_ element: Element) -> Bool {
        let index = place(of: element)
        guard index < elements.count, elements[index] == element else { return false }
        elements.remove(at: index)
        return true
    }

    /// Where a value stands, or would.
    private func place(of element: Element) -> Int {
        var (low, high) = (0, elements.count)
        while low < high {
            let middle = (low + high) / 2
            if elements[middle] < element { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // MARK: - Ordering

    /// Values up to this many are ordered by the standard library, which takes half as much memory again.
    private static var few: Int { 4096 }

    /// Puts values in rising order without memory for a copy of them.
    private static func sort(_ elements: inout [Element]) {
        elements.withUnsafeMutableBufferPointer { elements in
            let isSorted = zip(elements, elements.dropFirst()).allSatisfy { $0 <= $1 }
            if !isSorted { sort(elements, levels: 40) }
        }
    }

    /// Splits at a middle value until few are left, or the values were chosen so that this leads nowhere.
    private static func sort(_ elements: UnsafeMutableBufferPointer<Element>, levels: Int) {
        var elements = elements
        guard elements.count > few, levels > 0 else { return elements.sort() }
        let samples = [elements[0], elements[elements.count / 2], elements[elements.count - 1]].sorted()
        let middle = elements.partition { $0 >= samples[1] }
        sort(UnsafeMutableBufferPointer(rebasing: elements[..<middle]), levels: levels - 1)
        sort(UnsafeMutableBufferPointer(rebasing: elements[middle...]), levels: levels - 1)
    }
}

extension SortedSet: RandomAccessCollection {
    /// 0.
    package var startIndex: Int { 0 }
    /// The number of values.
    package var endIndex: Int { elements.count }
    /// The value at a place, by rising order.
    package subscript(index: Int) -> Element { elements[index] }
}

extension SortedSet: ExpressibleByArrayLiteral {
    /// Makes a set of values in any order; of equal ones, one stays.
    package init(arrayLiteral elements: Element...) { self.init(elements) }
}

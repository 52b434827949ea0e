/// The one place that decides whether a path may name a file of a package.
///
/// A path that passes means the same file on every system that an app may be unpacked on: no way out of the directory,
/// no name that a file system, shell or device driver understands as something else, no two spellings of one name.
///
/// - Spec: PTH-1 … PTH-8, LIM-21 … LIM-23
package enum PathRules {
    /// Bytes of a path.
    package static let pathMaxBytes = 1024
    /// Bytes of a component.
    package static let componentMaxBytes = 255
    /// Components of a path.
    package static let componentsMax = 32

    /// Refuses a path that breaks a rule.
    ///
    /// - Parameter path: The path's bytes, of any length and content.
    /// - Throws: `unsafePath`.
    package static func check(_ path: [UInt8]) throws(Refusal) {
        guard let problem = problem(of: path) else { return }
        throw Refusal(.unsafePath, "the path “\(Printable.escaped(bytes: path))” \(problem)")
    }

    /// Returns what is wrong with the path, as the end of a sentence about it, or nil.
    package static func problem(of path: [UInt8]) -> String? { path.withUnsafeBytes { problem(of: $0) } }

    /// Returns what is wrong with the path, as the end of a sentence about it, or nil.
    package static func problem(of path: UnsafeRawBufferPointer) -> String? {
        guard path.count <= pathMaxBytes else { return "is longer than \(pathMaxBytes) bytes" }
        var isASCII = true
        var components = 1
        var start = 0
        for (at, byte) in path.enumerated() {
            switch byte {
            case 0x2F:
                if let problem = problem(ofComponent: UnsafeRawBufferPointer(rebasing: path[start..<at])) {
                    return problem
                }
                start = at + 1
                components += 1
            case 0..<0x20, 0x7F: return "holds a control character"
            case 0x22, 0x2A, 0x3A, 0x3C, 0x3E, 0x3F, 0x5C, 0x7C: return "holds one of \\ : < > \" | ? *"
            case 0x80...: isASCII = false
            default: break
            }
        }
        if let problem = problem(ofComponent: UnsafeRawBufferPointer(rebasing: path[start...])) { return problem }
        guard components <= componentsMax else { return "has more than \(componentsMax) components" }
        if path.count == 1, path[0] == 0x2D { return "is what programs take for their standard input" }
        return isASCII ? nil : problem(ofUnicode: Array(path))
    }

    private static func problem(ofComponent name: UnsafeRawBufferPointer) -> String? {
        guard let first = name.first, let last = name.last else { return "has an empty component" }
        guard name.count <= componentMaxBytes else {
            return "has a component of more than \(componentMaxBytes) bytes"
        }
        // “.” and “..” end with a dot, too.
        if last == 0x2E || last == 0x20 { return "has a component that ends with a dot or a space" }
        if first == 0x2E, name.count > 1, name[1] == 0x5F { return "has a component that begins with “._”" }
        if isReservedOnWindows(name) { return "has a component whose name Windows reserves" }
        return nil
    }

    private static func problem(ofUnicode path: [UInt8]) -> String? {
        guard let text = UTF8Sequence.text(path) else { return "is not UTF-8" }
        // Unlike in texts for people, U+200C and U+200D are no exception: nobody sees them in a path.
        guard text.unicodeScalars.allSatisfy(UnicodeTables.isDisplayable) else {
            return "holds a code point that is not displayable or not assigned"
        }
        guard UnicodeTables.composed(text) == path else { return "is not in normal form C" }
        return nil
    }

    /// Tells whether Windows takes the name for a device: `con`, `nul`, `com1` and others, in any case, also when a dot
    /// and anything follow.
    ///
    /// - Parameter name: One component of a path.
    /// - Returns: Whether it is reserved.
    /// - Spec: PTH-7, APP-7
    package static func isReservedOnWindows(_ name: UnsafeRawBufferPointer) -> Bool {
        var stem: UInt64 = 0
        for (at, byte) in name.enumerated() {
            if byte == 0x2E { break }
            guard at < 7 else { return false }
            stem = stem << 8 | UInt64((0x41...0x5A).contains(byte) ? byte | 0x20 : byte)
        }
        return reserved.contains(stem)
    }

    /// The reserved names, lower-case, each as one big-endian number: none has more than seven bytes.
    private static let reserved: Set<UInt64> = {
        let digits = (0...9).map(String.init) + ["\u{B9}", "\u{B2}", "\u{B3}"]
        let ports = ["com", "lpt"].flatMap { port in digits.map { port + $0 } }
        let names = ["con", "prn", "aux", "nul", "conin$", "conout$"] + ports
        return Set(names.map { $0.utf8.reduce(0) { $0 << 8 | UInt64($1) } })
    }()
}

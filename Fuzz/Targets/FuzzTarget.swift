/// One thing to feed bytes to: what the fuzzer calls, and the replay test.
///
/// A target judges the bytes in every way that there is and compares the answers. It returns how they were judged, and
/// throws `BrokenProperty` when something does not hold that always must.
package struct FuzzTarget: Sendable {
    /// Its name, and that of its corpus.
    package let name: String
    /// The longest input, in bytes.
    package let maximumLength: Int
    /// The name of its dictionary in `Fuzz/dictionaries`, without the ending; nil for none.
    package let dictionary: String?
    /// Inputs to begin with, made of the files in `testvectors/`.
    let seeds: @Sendable (SeedVectors) throws -> [Seed]
    /// Judges an input.
    private let judge: @Sendable ([UInt8]) throws -> String

    /// Describes a target.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - maximumLength: The longest input, in bytes.
    ///   - dictionary: The name of its dictionary.
    ///   - seeds: Makes the inputs to begin with.
    ///   - judge: Judges an input; returns `accepted`, a stable code or another word for what became of it.
    init(
        _ name: String, maximumLength: Int, dictionary: String? = nil,
        seeds: @escaping @Sendable (SeedVectors) throws -> [Seed],
        judge: @escaping @Sendable ([UInt8]) throws -> String
    ) {
        self.name = name
        self.maximumLength = maximumLength
        self.dictionary = dictionary
        self.seeds = seeds
        self.judge = judge
    }

    /// Runs the target.
    ///
    /// - Parameter input: Any bytes.
    /// - Returns: How they were judged, in one word.
    /// - Throws: `BrokenProperty`, or what kept the target from running.
    package func run(_ input: [UInt8]) throws -> String { try judge(input) }

    /// All targets, in the order in which they are run.
    package static let all: [FuzzTarget] = [
        package, envelope, json, certificate, header, revocations, sums, members, archive, frame, keys, names, inspect,
        request, head, arguments, store, response, events, wire,
    ]

    /// Fails on three bytes: shows that the fuzzer sees what the code does.
    ///
    /// Not one of `all`.
    package static let planted = FuzzTarget("planted", maximumLength: 64, seeds: { _ in [Seed("empty", [])] }) {
        input in
        if input.count > 2, input[0] == 0x4E, input[1] == 0x73, input[2] == 0x68 {
            throw BrokenProperty("the planted fault was found")
        }
        return "accepted"
    }

    /// Reads a byte behind an allocation: shows that AddressSanitizer looks.
    ///
    /// Not one of `all`, and for the fuzzer alone.
    package static let plantedOverrun = FuzzTarget("planted-overrun", maximumLength: 64, seeds: { _ in [] }) { input in
        let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: input.count + 1)
        defer { bytes.deallocate() }
        bytes.initialize(repeating: 1)
        return bytes.baseAddress.map { $0[input.count + 1] } == 0 ? "zero" : "other"
    }
}

/// An input to begin with, and how it has to be judged when that is known.
package struct Seed: Sendable {
    /// A file name.
    package let name: String
    /// The input.
    package let bytes: [UInt8]
    /// What the target must return; nil when any answer will do.
    package let outcome: String?

    init(_ name: String, _ bytes: [UInt8], outcome: String? = nil) {
        self.name = name
        self.bytes = bytes
        self.outcome = outcome
    }

    init(_ name: String, _ text: String, outcome: String? = nil) { self.init(name, Array(text.utf8), outcome: outcome) }
}

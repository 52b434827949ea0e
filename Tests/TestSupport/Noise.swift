/// Bytes that do not compress, the same each time.
public enum Noise {
    /// Returns bytes of a fixed pseudo-random sequence.
    ///
    /// - Parameters:
    ///   - count: How many.
    ///   - seed: Chooses the sequence.
    /// - Returns: The bytes.
    public static func bytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var state = seed &* 0x9E37_79B9_7F4A_7C15
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
    }
}

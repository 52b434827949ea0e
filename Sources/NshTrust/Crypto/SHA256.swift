import CNettle

/// SHA-256, computed by nettle, which uses the processor's SHA instructions.
package struct SHA256 {
    private var context = sha256_ctx()

    /// Starts a digest of no bytes.
    package init() { nettle_sha256_init(&context) }

    /// Adds bytes.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress, bytes.count > 0 else { return }
        nettle_sha256_update(&context, bytes.count, base.assumingMemoryBound(to: UInt8.self))
    }

    /// Adds bytes.
    package mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

    /// Returns the digest of what was added and starts anew.
    package mutating func finish() -> Digest {
        let digest = withUnsafeTemporaryAllocation(byteCount: Int(SHA256_DIGEST_SIZE), alignment: 8) { buffer in
            nettle_sha256_digest(&context, buffer.count, buffer.assumingMemoryBound(to: UInt8.self).baseAddress)
            return Digest(UnsafeRawBufferPointer(buffer))
        }
        guard let digest else { fatalError("a SHA-256 digest has 32 bytes") }
        return digest
    }

    /// Returns the digest of the bytes.
    package static func hash(_ bytes: [UInt8]) -> Digest {
        var hash = SHA256()
        hash.update(bytes)
        return hash.finish()
    }

    /// Returns the digest of the bytes.
    package static func hash(_ bytes: UnsafeRawBufferPointer) -> Digest {
        var hash = SHA256()
        hash.update(bytes)
        return hash.finish()
    }
}

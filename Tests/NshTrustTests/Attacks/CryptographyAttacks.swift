import CSodium
import NshTrust
import TestSupport
import Testing

/// Keys and signatures that Ed25519 libraries judge differently: weak points, second signatures, other variants.
///
/// The vectors are computed here from the group's arithmetic; `Ed25519CorpusTests` has the public ones.
@Suite struct CryptographyAttacks {
    /// A point of order eight, made the way its discoverers describe it: a valid encoding times the group order.
    private static let orderEight: [UInt8] = point("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05")
    private static let weakPoints: [[UInt8]] = [
        [UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31), orderEight,
        point("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"),
        point("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
        point("0000000000000000000000000000000000000000000000000000000000000080"),
        point("0100000000000000000000000000000000000000000000000000000000000080"),
        point("eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
        [UInt8](repeating: 0xFF, count: 32),
    ]
    /// The order of the group, little-endian.
    private static let order: [UInt8] =
        point("edd3f55c1a631258d69cf7a2def9de14") + [UInt8](repeating: 0, count: 15) + [0x10]

    private let host: AttackHost

    init() throws { host = try AttackHost() }

    private static func point(_ hex: String) -> [UInt8] { Hex.decode(Array(hex.utf8), count: hex.utf8.count / 2)! }

    private static func withSignature(_ bytes: [UInt8]) -> @Sendable (inout [Envelope.Signature]) -> Void {
        { $0 = [Envelope.Signature(keyID: $0[0].keyID, bytes: bytes)] }
    }

    @Test(.attack("F1", "F11"), .rules("KEY-2", "KEY-5"), arguments: weakPoints)
    func aKeyThatSignsEverythingIsNeitherPinnedNorBelieved(_ point: [UInt8]) throws {
        let key = try #require(PublicKey(point))
        let before = try host.contents
        #expect(AttackHost.code { try host.core.addRoot(key.base64) } == .malformed)
        #expect(AttackHost.code { try host.core.addRoot(key) } == .malformed)
        #expect(try host.contents == before)
        var package = PackageBuilder()
        package.certificate.key = key
        for r in [point, Self.weakPoints[1]] {
            package.editHeaderSignatures = Self.withSignature(r + [UInt8](repeating: 0, count: 32))
            try host.mustRefuse(package, .badSignature)
        }
    }

    @Test(.attack("F11", "F1"), .rules("KEY-4", "ENV-7"), arguments: weakPoints)
    func aDegenerateSignatureCountsForNothing(_ point: [UInt8]) throws {
        for s in [[UInt8](repeating: 0, count: 32), Self.order, [UInt8](repeating: 0xFF, count: 32)] {
            var package = PackageBuilder()
            package.editHeaderSignatures = Self.withSignature(point + s)
            try host.mustRefuse(package, .badSignature)
            package.editHeaderSignatures = nil
            package.editCertificateSignatures = Self.withSignature(point + s)
            try host.mustRefuse(package, .untrustedRoot)
            var list = ListBuilder()
            list.editSignatures = Self.withSignature(point + s)
            try host.mustRefuse(list: list, .untrustedRoot)
        }
    }

    /// The signature with the group order added to its S.
    private static func shifted(_ signature: [UInt8]) -> [UInt8] {
        var (sum, carry) = (signature, 0)
        for index in 0..<32 {
            let digit = Int(signature[32 + index]) + Int(order[index]) + carry
            sum[32 + index] = UInt8(digit & 0xFF)
            carry = digit >> 8
        }
        return sum
    }

    @Test(.attack("F4"), .rules("KEY-4")) func aSecondSignatureOfTheSameMessageDoesNotVerify() throws {
        let shift: @Sendable (inout [Envelope.Signature]) -> Void = { signatures in
            signatures = signatures.map { Envelope.Signature(keyID: $0.keyID, bytes: Self.shifted($0.bytes)) }
        }
        var package = PackageBuilder()
        package.editHeaderSignatures = shift
        try host.mustRefuse(package, .badSignature)
        package.editHeaderSignatures = nil
        package.editCertificateSignatures = shift
        try host.mustRefuse(package, .untrustedRoot)
        var list = ListBuilder()
        list.editSignatures = shift
        try host.mustRefuse(list: list, .untrustedRoot)
    }

    /// Signs by hand: `point` is added to R, so that only an equation multiplied by the cofactor holds.
    private static func cofactored(_ message: [UInt8], by key: TestKey) -> [UInt8] {
        var (r, plain, mixed) = ([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 32), orderEight)
        var nonce = [UInt8](repeating: 0x5A, count: 64)
        crypto_core_ed25519_scalar_reduce(&r, &nonce)
        precondition(crypto_scalarmult_ed25519_base_noclamp(&plain, r) == 0)
        precondition(crypto_core_ed25519_add(&mixed, plain, orderEight) == 0)
        return mixed + scalar(r, mixed, message, key)
    }

    /// S of a signature: r + H(R, A, message) a.
    private static func scalar(_ r: [UInt8], _ point: [UInt8], _ message: [UInt8], _ key: TestKey) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 64)
        var (h, a, product, s) = (r, [UInt8](repeating: 0, count: 64), r, r)
        let hashed = point + key.publicKey.bytes + message
        crypto_hash_sha512(&digest, hashed, UInt64(hashed.count))
        crypto_core_ed25519_scalar_reduce(&h, digest)
        crypto_hash_sha512(&a, key.secret, 32)
        a[0] &= 248
        a[31] = a[31] & 63 | 64
        crypto_core_ed25519_scalar_mul(&product, h, Array(a[..<32]))
        crypto_core_ed25519_scalar_add(&s, r, product)
        return s
    }

    @Test(.attack("F3", "F2"), .rules("KEY-4")) func theEquationIsTheOneWithoutTheCofactor() throws {
        let unsigned = Envelope(
            kind: .package, payload: try PackageBuilder.chain(of: PackageBuilder().build()).header.serialized)
        let mixed = Self.cofactored(unsigned.signedBytes, by: .release)
        var package = PackageBuilder()
        package.editHeaderSignatures = Self.withSignature(mixed)
        try host.mustRefuse(package, .badSignature)
        // The arithmetic itself is right: without the weak point the same steps make a good signature.
        var (r, plain, nonce) = (
            [UInt8](repeating: 0, count: 32), [UInt8](repeating: 0, count: 32), [UInt8](repeating: 0x5A, count: 64)
        )
        crypto_core_ed25519_scalar_reduce(&r, &nonce)
        precondition(crypto_scalarmult_ed25519_base_noclamp(&plain, r) == 0)
        package.editHeaderSignatures = Self.withSignature(plain + Self.scalar(r, plain, unsigned.signedBytes, .release))
        #expect(try host.code(package) == nil)
    }

    @Test(.attack("F2", "F7"), .rules("KEY-2", "ENV-8"))
    func aKeyWithAWeakPartIsAnotherKeyAndVerifiesNothingOfTheFirst() throws {
        var mixed = [UInt8](repeating: 0, count: 32)
        #expect(crypto_core_ed25519_add(&mixed, TestKey.root.publicKey.bytes, Self.orderEight) == 0)
        let twin = try #require(PublicKey(mixed))
        // Whether the library's point check lets it pass or not: pinned beside the first it makes no second signer.
        let strict = try AttackHost { $0.rootThreshold = 2 }
        _ = AttackHost.code { try strict.core.addRoot(twin) }
        var package = PackageBuilder()
        package.certifiedBy = [.root, .root]
        try strict.mustRefuse(package, .untrustedRoot)
        let order2 = Self.point("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f")
        #expect(crypto_core_ed25519_add(&mixed, TestKey.root.publicKey.bytes, order2) == 0)
        _ = AttackHost.code { try strict.core.addRoot(try #require(PublicKey(mixed))) }
        try strict.mustRefuse(package, .untrustedRoot)
    }

    @Test(.attack("F10"), .rules("ENV-9", "KEY-4")) func anotherVariantOfTheSignatureIsNone() throws {
        let payload = try PackageBuilder.chain(of: PackageBuilder().build()).header.serialized
        let message = Envelope(kind: .package, payload: payload).signedBytes
        var state = crypto_sign_ed25519ph_state()
        var preHashed = [UInt8](repeating: 0, count: 64)
        crypto_sign_ed25519ph_init(&state)
        crypto_sign_ed25519ph_update(&state, message, UInt64(message.count))
        crypto_sign_ed25519ph_final_create(&state, &preHashed, nil, TestKey.release.secret)
        var digest = [UInt8](repeating: 0, count: 64)
        crypto_hash_sha512(&digest, message, UInt64(message.count))
        let others = [
            preHashed, TestKey.release.sign(digest), TestKey.release.sign(SHA256.hash(message).bytes),
            TestKey.release.sign(payload), TestKey.release.sign(Array(Base64.encode(payload).utf8)),
        ]
        for signature in others {
            var package = PackageBuilder()
            package.editHeaderSignatures = Self.withSignature(signature)
            try host.mustRefuse(package, .badSignature)
        }
    }
}

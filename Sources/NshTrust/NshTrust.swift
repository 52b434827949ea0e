/// A trust store and the verifier of signed packages that works with it.
public final class NshTrust: Sendable {}

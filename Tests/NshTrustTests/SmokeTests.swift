import Testing
@testable import NshTrust
@Suite struct SmokeTests {}

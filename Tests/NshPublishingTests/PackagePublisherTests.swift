import Glibc
import TestSupport
import Testing

@testable import NshPublishing
@testable import NshTrust

/// A directory with a small app, and what it takes to publish it.
final class PublishingBench {
    static let time: Int64 = 1_764_470_000
    let scratch = Scratch()
    var options = PackageOptions()
    let remarks = Locked<[PackagingRemark]>([])

    init(files: [String: String] = PublishingBench.app) {
        for (name, text) in files { scratch.write("app/" + name, text) }
        options.compression = .none
    }

    static let app = [
        "app.json": #"{"id":"com.example.orders","name":"Orders","version":"1.4.0","build":42,"ratio":1.50}"#,
        "bundle.js": "console.log('hello')\n",
        "assets/texts/en.json": #"{"title":"Orders"}"#,
        "assets/images/logo.svg": "<svg/>",
    ]

    static func certificate(
        apps: [String] = ["com.example.*"], content: [String]? = nil, key: UInt8 = 2, notAfter: Int64 = 1_795_996_800
    ) throws -> SignedDocument {
        let request = CertificateRequest(
            key: try TestKeys.key(key).publicKeyText, publisher: "Example Ltd", apps: apps, notBefore: 1_764_460_800,
            notAfter: notAfter, content: content)
        return try request.draft(serial: [UInt8](repeating: 7, count: 16)).signed(by: TestKeys.key(1))
    }

    @discardableResult
    func publish(
        _ source: String = "app", to output: String = "out.nshpkg", certificate: SignedDocument? = nil, key: UInt8 = 2,
        time: Int64 = PublishingBench.time
    ) throws -> PublishedPackage {
        var observer = PackagingObserver()
        let remarks = remarks
        observer.remark = { remark in remarks.withLock { $0.append(remark) } }
        let publisher = PackagePublisher(certificate: try certificate ?? Self.certificate(), options: options)
        return try publisher.publish(
            scratch.file(source), to: scratch.file(output), signedBy: TestKeys.key(key), at: time, observer: observer)
    }

    var problems: [String] {
        remarks.withLock { $0 }.compactMap {
            if case .problem(let path, let code, _) = $0 { "\(code) \(path)" } else { nil }
        }
    }

    var notes: [String] { remarks.withLock { $0 }.compactMap { if case .note(let text) = $0 { text } else { nil } } }
}

@Suite struct PackagePublisherTests {
    private let bench = PublishingBench()

    @Test(.rules("PKG-17")) func scratchPackages() throws {
        guard let directory = getenv("NSH_SCRATCH").map({ String(cString: $0) }) else { return }
        bench.scratch.write("app/capabilities.json", #"{"network":{"hosts":["a.example"]},"n":[1,-2,null,true]}"#)
        bench.scratch.write("app/" + String(repeating: "d", count: 90) + "/" + String(repeating: "e", count: 90), "x")
        bench.scratch.write("app/" + String(repeating: "d", count: 160) + "/" + String(repeating: "e", count: 90), "x")
        bench.scratch.write("app/é/ü", "x")
        bench.scratch.write("app/assets/large", (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 * 7919 >> 3) })
        for compression in [PackageOptions.Compression.none, .zstd(level: 9), .zstd(level: 19), .zstd(level: 1)] {
            bench.options.compression = compression
            let made = try bench.publish()
            _ = made
            let name = directory + "/" + "\(compression)".filter { $0.isLetter || $0.isNumber } + ".nshpkg"
            try OutputFile.write(bench.scratch.read("out.nshpkg"), to: name)
        }
        try OutputFile.write(Array(TestKeys.key(1).publicKeyText.utf8), to: directory + "/root.pub")
    }
}

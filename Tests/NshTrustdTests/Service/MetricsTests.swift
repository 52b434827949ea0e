import NshTrust
import TestSupport
import Testing

@testable import NshTrustd

@Suite("Metrics")
struct MetricsTests {
    /// A sample of the text: name, labels, value.
    private struct Sample {
        let name: String
        let labels: [String: String]
        let value: Double
    }

    private func samples(_ host: ServiceHost) throws -> [Sample] {
        let answer = try host.send("GET /metrics", peer: ServiceHost.other)
        #expect(answer.status == 200 && answer.response.contentType == "text/plain; version=0.0.4; charset=utf-8")
        var families: Set<String> = []
        var samples: [Sample] = []
        for line in answer.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            if line.hasPrefix("# TYPE ") { #expect(families.insert(String(line.split(separator: " ")[2])).inserted) }
            if line.hasPrefix("#") { continue }
            let match = try #require(line.wholeMatch(of: #/([a-z_]+)(?:\{(.*)\})? ([0-9.e+-]+)/#), "\(line)")
            var labels: [String: String] = [:]
            for pair in (match.2 ?? "").matches(of: #/([a-z]+)="([^"]*)"(?:,|$)/#) {
                labels[String(pair.1)] = String(pair.2)
            }
            samples.append(
                Sample(name: String(match.1), labels: labels, value: try #require(Double(match.3), "\(line)")))
        }
        return samples
    }

    private func value(_ samples: [Sample], _ name: String, _ labels: [String: String] = [:]) -> Double? {
        samples.first { sample in
            sample.name == name && labels.allSatisfy { sample.labels[$0.key] == $0.value }
        }?.value
    }

    @Test("decisions and requests are counted by what became of them")
    func counters() throws {
        let host = try ServiceHost()
        let digest = try host.install(build: 5)
        for _ in 0..<3 { _ = try host.send("POST /v1/packages/check", #"{"digest":"\#(digest)"}"#) }
        _ = try host.send("POST /v1/packages/check", #"{"digest":"\#(String(repeating: "0", count: 64))"}"#)
        _ = try host.send("POST /v1/packages/open", package: ServiceHost.package(build: 4))
        _ = try host.send("POST /v1/packages/verify", package: [1, 2, 3])
        _ = try host.send("GET /nowhere")
        let all = try samples(host)
        let decisions = "nsh_trust_decisions_total"
        #expect(value(all, decisions, ["operation": "check", "verdict": "accepted", "code": ""]) == 3)
        #expect(value(all, decisions, ["operation": "check", "verdict": "error", "code": "notInstalled"]) == 1)
        #expect(value(all, decisions, ["operation": "open", "verdict": "refused", "code": "rolledBack"]) == 1)
        #expect(value(all, decisions, ["operation": "verify", "verdict": "refused"]) == 1)
        let requests = "nsh_trust_requests_total"
        #expect(value(all, requests, ["route": "POST /v1/packages/check", "status": "200"]) == 3)
        #expect(value(all, requests, ["route": "POST /v1/packages/check", "status": "404"]) == 1)
        #expect(value(all, requests, ["route": "other", "status": "404"]) == 1)
        let durations = "nsh_trust_request_duration_seconds"
        let route = ["route": "POST /v1/packages/check"]
        #expect(value(all, durations + "_count", route) == 4)
        #expect(value(all, durations + "_bucket", ["route": "POST /v1/packages/check", "le": "+Inf"]) == 4)
        #expect(try #require(value(all, durations + "_sum", route)) > 0)
    }

    @Test("the store, its lists, the lanes and the process are shown")
    func gauges() throws {
        let host = try ServiceHost()
        host.service.countConnections { 7 }
        try host.install(build: 5)
        _ = try host.send(
            "POST /v1/revocations", ServiceHost.list(4) { $0.expiresAt = ServiceHost.now + 1000 })
        _ = try host.follow()
        let all = try samples(host)
        let issuer = ["issuer": TestKey.root.publicKey.hash.shortHex]
        #expect(value(all, "nsh_trust_apps") == 1 && value(all, "nsh_trust_packages") == 1)
        #expect(value(all, "nsh_trust_roots") == 1 && value(all, "nsh_trust_newest_event") == 3)
        #expect(value(all, "nsh_trust_list_sequence", issuer) == 4)
        #expect(value(all, "nsh_trust_list_age_seconds", issuer) == 96)
        #expect(value(all, "nsh_trust_list_expiry_timestamp_seconds", issuer) == Double(ServiceHost.now + 1000))
        #expect(value(all, "nsh_trust_connections") == 7 && value(all, "nsh_trust_event_followers") == 1)
        for lane in ["files", "uploads", "upkeep", "queries"] {
            #expect(value(all, "nsh_trust_queue_capacity", ["lane": lane]) ?? 0 > 0)
            #expect(value(all, "nsh_trust_queue_depth", ["lane": lane]) == 0)
        }
        #expect(value(all, "nsh_trust_build_info", ["version": NshTrust.version]) == 1)
        for name in [
            "nsh_trust_store_bytes", "nsh_trust_installed_bytes", "process_resident_memory_bytes", "process_open_fds",
        ] {
            #expect(value(all, name) ?? 0 > 0, "\(name)")
        }
    }

    @Test("no request makes the text longer than what is known beforehand", .attack("L17"))
    func boundedLabels() throws {
        let host = try ServiceHost()
        for number in 0..<200 {
            _ = try host.send("GET /x\(number)/y")
            _ = try host.send("GET /v1/apps/com.example.a\(number)")
            _ = try host.send(ServiceHost.head("M\(number) /v1/health"))
        }
        let routes = Set(try samples(host).compactMap { $0.labels["route"] })
        let known = Set(Routes.table.map { "\($0.method.rawValue) \($0.path)" } + ["other"])
        #expect(routes.isSubset(of: known) && routes.contains("other"))
    }

    @Test("a store that cannot be read leaves out its families, not the rest")
    func withoutStore() throws {
        let host = try ServiceHost()
        try host.damage(host.directory.path + "/state/trust.sqlite")
        let all = try samples(host)
        #expect(value(all, "nsh_trust_apps") == nil && value(all, "nsh_trust_roots") == 1)
    }

    @Test("a histogram counts each duration once, at its bound")
    func bounds() {
        let histogram = Metrics.Histogram()
        for nanoseconds in [0, 50_000, 50_001, 61_000_000_000] as [UInt64] { histogram.add(nanoseconds: nanoseconds) }
        #expect(histogram.buckets.map(\.value).filter { $0 > 0 } == [2, 1, 1])
        #expect(histogram.buckets.last?.value == 1 && histogram.sum.value == 61_000_100_001)
        #expect(Exposition.seconds(nanoseconds: 61_000_100_001) == "61.000100001")
    }
}

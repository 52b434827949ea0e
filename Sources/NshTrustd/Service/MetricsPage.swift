import NshTrust

/// The text of `/metrics`.
enum MetricsPage {
    /// Issuers of lists that have a label of their own; there are no more pinned roots.
    private static let maximumIssuers = 16

    /// Writes all families.
    static func text(of service: TrustService) -> String {
        var page = Exposition()
        decisions(service.metrics, &page)
        requests(service.metrics, &page)
        queue(service, &page)
        store(service, &page)
        process(service, &page)
        return page.text
    }

    private static func decisions(_ metrics: Metrics, _ page: inout Exposition) {
        let name = "nsh_trust_decisions_total"
        page.family(name, .counter, "Decisions on packages by operation, verdict and code.")
        for (operation, row) in zip(Metrics.Operation.allCases, metrics.decisions) {
            for (code, counter) in zip(Metrics.codes, row) where code.isEmpty || counter.value > 0 {
                let labels = [
                    ("operation", operation.name), ("verdict", Metrics.verdict(of: code)), ("code", code),
                ]
                page.sample(name, labels, counter.value)
            }
        }
    }

    private static func requests(_ metrics: Metrics, _ page: inout Exposition) {
        let routes = Routes.table.map { "\($0.method.rawValue) \($0.path)" } + ["other"]
        page.family("nsh_trust_requests_total", .counter, "Answers by route and status.")
        for (route, row) in zip(routes, metrics.requests) {
            for (status, counter) in zip(Metrics.statuses, row) where counter.value > 0 {
                page.sample("nsh_trust_requests_total", [("route", route), ("status", String(status))], counter.value)
            }
        }
        let name = "nsh_trust_request_duration_seconds"
        page.family(name, .histogram, "Time from a request's head to its answer being known, by route.")
        for (route, histogram) in zip(routes, metrics.durations) {
            var count: Int64 = 0
            let bounds = Metrics.Histogram.boundTexts + ["+Inf"]
            let counts = histogram.buckets.map(\.value)
            guard counts.contains(where: { $0 > 0 }) else { continue }
            for (bound, number) in zip(bounds, counts) {
                count += number
                page.sample(name + "_bucket", [("route", route), ("le", bound)], count)
            }
            page.sample(name + "_sum", [("route", route)], Exposition.seconds(nanoseconds: histogram.sum.value))
            page.sample(name + "_count", [("route", route)], count)
        }
    }

    private static func queue(_ service: TrustService, _ page: inout Exposition) {
        let lanes = service.queue.figures
        func family(_ name: String, _ kind: Exposition.Kind, _ help: String, _ value: (Lane.Figures) -> Int64) {
            page.family(name, kind, help)
            for (lane, figures) in lanes { page.sample(name, [("lane", lane.rawValue)], value(figures)) }
        }
        family("nsh_trust_queue_depth", .gauge, "Jobs that wait, by lane.") { Int64($0.waiting) }
        family("nsh_trust_queue_running", .gauge, "Jobs that run, by lane.") { Int64($0.running) }
        family("nsh_trust_queue_capacity", .gauge, "Jobs that may wait, by lane.") { Int64($0.capacity) }
        family("nsh_trust_queue_rejections_total", .counter, "Jobs turned away, by lane.") { $0.rejected }
        page.gauge("nsh_trust_connections", Int64(service.connectionCount), "Connections of clients.")
        page.family("nsh_trust_connections_refused_total", .counter, "Connections that were one too many.")
        page.sample("nsh_trust_connections_refused_total", [], service.metrics.refusedConnections.value)
        page.family("nsh_trust_slow_clients_total", .counter, "Connections ended as too slow, by what was waited for.")
        for (deadline, counter) in zip(ServerEvent.Deadline.allCases, service.metrics.passedDeadlines) {
            page.sample("nsh_trust_slow_clients_total", [("waiting_for", deadline.rawValue)], counter.value)
        }
        page.gauge("nsh_trust_event_followers", Int64(service.events.followerCount), "Clients that follow the log.")
    }

    private static func store(_ service: TrustService, _ page: inout Exposition) {
        page.gauge("nsh_trust_roots", Int64(service.core.roots.count), "Roots that this process trusts.")
        guard let figures = service.storeFigures.read() else { return }
        let status = figures.status
        page.gauge("nsh_trust_store_bytes", figures.databaseBytes, "Bytes of the database.")
        page.gauge("nsh_trust_installed_bytes", status.unpackedSize, "Bytes of all installed files.")
        page.gauge("nsh_trust_apps", status.builds, "Apps with an accepted build.")
        page.gauge("nsh_trust_packages", status.packages, "Installed packages.")
        page.gauge("nsh_trust_newest_event", status.newestEvent, "Number of the newest event of the log.")
        let lists = status.lists.prefix(maximumIssuers)
        func family(_ name: String, _ help: String, _ value: (StoredList) -> Int64?) {
            page.family(name, .gauge, help)
            for list in lists {
                guard let value = value(list) else { continue }
                page.sample(name, [("issuer", list.summary.list.issuer.shortHex)], value)
            }
        }
        let now = service.core.clock.now()
        family("nsh_trust_list_sequence", "Number of the revocation list in force, by issuer.") {
            $0.summary.list.sequence
        }
        family("nsh_trust_list_age_seconds", "Time since the list was issued, by issuer.") { now - $0.summary.issuedAt }
        family("nsh_trust_list_expiry_timestamp_seconds", "When the list makes every package stale, by issuer.") {
            $0.summary.expiresAt
        }
    }

    private static func process(_ service: TrustService, _ page: inout Exposition) {
        page.gauge("process_start_time_seconds", service.startedAt, "When the daemon started, since 1970 UTC.")
        if let bytes = ProcessFigures.residentBytes {
            page.gauge("process_resident_memory_bytes", bytes, "Bytes of memory in use.")
        }
        if let count = ProcessFigures.openDescriptors {
            page.gauge("process_open_fds", count, "Open descriptors.")
        }
        if let count = ProcessFigures.maximumDescriptors {
            page.gauge("process_max_fds", count, "Descriptors that the process may have.")
        }
        page.family("process_cpu_seconds_total", .counter, "Processor time used.")
        page.sample(
            "process_cpu_seconds_total", [], Exposition.seconds(nanoseconds: ProcessFigures.processorNanoseconds))
        page.family("nsh_trust_build_info", .gauge, "The version; always 1.")
        page.sample("nsh_trust_build_info", [("version", NshTrust.version)], 1)
    }
}

import FoundationEssentials
import NshTrust
import NshTrustWire
import TestSupport
import Testing

@testable import NshTrustd

@Suite("The API's document")
struct OpenAPITests {
    private func object(_ value: JSONValue?) throws -> JSONObject {
        guard case .object(let object) = value else { throw Trouble(.badRequest, "no object") }
        return object
    }

    @Test("it is served as it is checked in", .enabled(if: FileManager.default.fileExists(atPath: "docs/openapi.json")))
    func checkedIn() throws {
        let served = try ServiceHost().send("GET /v1/openapi.json", peer: ServiceHost.other)
        let file = try Data(contentsOf: URL(fileURLWithPath: "docs/openapi.json"))
        #expect(
            served.response.body == Array(file),
            "docs/openapi.json is old: nsh-trustd --openapi > docs/openapi.json")
    }

    @Test("it says each route's method, permission, parameters, body and exact statuses")
    func agreesWithTheTable() throws {
        let paths = try object(OpenAPI.object["paths"])
        var count = 0
        for (_, item) in paths.members { count += try object(item).members.count }
        #expect(count == Routes.table.count)
        for route in Routes.table {
            let operation = try object(try object(paths[route.path])[route.method.rawValue.lowercased()])
            #expect(operation["operationId"] == .text(route.operation))
            #expect(operation["x-permission"] == .text(route.permission.rawValue))
            let statuses = try object(operation["responses"]).members.map(\.name)
            #expect(statuses == route.statuses.map(String.init))
            #expect((operation["requestBody"] != nil) == (route.body != .none))
            let isUnique = Set(Routes.table.map(\.operation)).count == Routes.table.count
            #expect(isUnique)
        }
    }

    @Test("every object in it is closed, every reference leads somewhere, and everything there is used")
    func schemas() throws {
        let components = try object(try object(OpenAPI.object["components"])["schemas"])
        var references: Set<String> = []
        func walk(_ value: JSONValue) {
            switch value {
            case .array(let values): values.forEach(walk)
            case .object(let object):
                if object["type"] == .text("object") {
                    #expect(object["additionalProperties"] != nil && object["additionalProperties"] != .boolean(true))
                }
                if case .text(let reference) = object["$ref"] {
                    references.insert(String(reference.split(separator: "/").last ?? ""))
                }
                object.members.forEach { walk($0.value) }
            default: break
            }
        }
        walk(.object(OpenAPI.object))
        #expect(references == Set(components.members.map(\.name)))
    }

    @Test("each status that a body or a lane brings is documented")
    func systematicStatuses() {
        for route in Routes.table {
            let statuses = Set(route.statuses)
            #expect(statuses.isSuperset(of: [200, 400, 403]), "\(route.operation)")
            if route.body != .none { #expect(statuses.isSuperset(of: [413, 415]), "\(route.operation)") }
            switch route.handler {
            case .atOnce: break
            case .queued, .split, .package: #expect(statuses.isSuperset(of: [500, 503]), "\(route.operation)")
            }
            #expect(statuses.isSubset(of: Metrics.statuses))
        }
    }
}

import NshTrust
import NshTrustWire

/// The API's own description, made of the route table, so that the two cannot disagree.
package enum OpenAPI {
    /// The version of OpenAPI.
    static let version = "3.1.0"

    /// The document's bytes, as they are served and as `docs/openapi.json` holds them.
    package static let document: [UInt8] = Array((JSONPage.text(.object(object)) + "\n").utf8)

    /// The document.
    static var object: JSONObject {
        var paths = JSONObject()
        for route in Routes.table {
            var item: JSONObject = [:]
            if case .object(let known) = paths[route.path] { item = known }
            item.append(route.method.rawValue.lowercased(), .object(operation(route)))
            paths[route.path] = .object(item)
        }
        return [
            "openapi": .text(version),
            "info": .object([
                "title": .text("nsh-trustd"), "version": .text(NshTrust.version),
                "summary": .text("Judges, installs and revokes signed packages for the engines of this machine."),
                "description": .text(
                    "HTTP/1.1 over a Unix socket. Who asks is known from the socket; there is nothing to log in to. "
                        + "Requests that look like a browser's are refused. Methods that a path does not have are "
                        + "answered with 405, unknown paths with 404, both as problem documents."),
            ]),
            "servers": .array([.object(["url": .text("http://localhost")])]),
            "paths": .object(paths),
            "components": .object(["schemas": .object(OpenAPISchemas.components)]),
        ]
    }

    private static func operation(_ route: Route) -> JSONObject {
        var operation: JSONObject = [
            "operationId": .text(route.operation), "summary": .text(route.summary),
            "description": .text(who(route.permission)), "x-permission": .text(route.permission.rawValue),
        ]
        if !route.parameters.isEmpty {
            operation.append("parameters", .array(route.parameters.map { .object(parameter($0)) }))
        }
        operation.add("requestBody", body(route.body).map { .object($0) })
        var responses = JSONObject()
        for status in route.statuses { responses.append(String(status), .object(response(status, route))) }
        operation.append("responses", .object(responses))
        return operation
    }

    private static func who(_ permission: Permission) -> String {
        switch permission {
        case .any: "For everybody who reaches the socket."
        case .engine: "For engines and administrators."
        case .admin: "For administrators: root, the daemon's own user, and whom its options name."
        }
    }

    private static func parameter(_ parameter: Parameter) -> JSONObject {
        let schema =
            switch parameter.kind {
            case .appID: Schema.appID
            case .boolean: Schema.boolean
            case .integer(let range): Schema.integer(range)
            }
        return [
            "name": .text(parameter.name), "in": .text(parameter.place.rawValue),
            "required": .boolean(parameter.place == .path), "description": .text(parameter.summary),
            "schema": .object(schema),
        ]
    }

    private static func body(_ body: Route.Body) -> JSONObject? {
        var content = JSONObject()
        switch body {
        case .none: return nil
        case .document(let shape, _): content.append("application/json", .object(document(shape)))
        case .package:
            content.append("application/json", .object(document(.path)))
            for type in TrustService.packageTypes {
                content.append(type, .object(["schema": .object(Schema.binary)]))
            }
        }
        return ["required": .boolean(true), "content": .object(content)]
    }

    private static func document(_ shape: DocumentShape) -> JSONObject {
        [
            "schema": .object(Schema.component(shape.rawValue)),
            "example": .object(OpenAPISchemas.example(of: shape)),
        ]
    }

    private static func response(_ status: Int, _ route: Route) -> JSONObject {
        guard status != 200 else { return success(route.answer) }
        var response: JSONObject = ["description": .text(Problem.phrase(of: status))]
        if status == 503 {
            response.append(
                "headers",
                .object([
                    "Retry-After": .object([
                        "description": .text("After how many seconds to ask again."), "required": .boolean(true),
                        "schema": .object(Schema.integer(1...3600)),
                    ])
                ]))
        }
        response.append(
            "content",
            .object([
                ProblemDocument.contentType: .object(["schema": .object(Schema.component("Problem"))])
            ]))
        return response
    }

    private static func success(_ shape: AnswerShape) -> JSONObject {
        var content = JSONObject()
        if shape == .metrics {
            content.append("text/plain", .object(["schema": .object(Schema.text())]))
        } else {
            content.append("application/json", .object(["schema": .object(Schema.component(shape.rawValue))]))
        }
        if shape == .events {
            content.append("text/event-stream", .object(["schema": .object(Schema.text())]))
        }
        return ["description": .text(Problem.phrase(of: 200)), "content": .object(content)]
    }
}

/// Writes JSON on many lines, for people.
enum JSONPage {
    /// Returns the value as text without a line end.
    static func text(_ value: JSONValue, indent: String = "") -> String {
        let inner = indent + "  "
        switch value {
        case .array(let values) where !values.isEmpty:
            let lines = values.map { inner + text($0, indent: inner) }
            return "[\n" + lines.joined(separator: ",\n") + "\n\(indent)]"
        case .object(let object) where !object.members.isEmpty:
            let lines = object.members.map { member in
                "\(inner)\(JSONLine.quoted(member.name)): \(text(member.value, indent: inner))"
            }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(indent)}"
        case .array: return "[]"
        case .object: return "{}"
        case .null: return "null"
        case .boolean(let value): return value ? "true" : "false"
        case .integer(let value): return String(value)
        case .number(let digits): return digits
        case .text(let value): return JSONLine.quoted(value)
        }
    }
}

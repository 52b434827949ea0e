import NshTrust

/// One request of the API: what it is called, who may send it, what it takes, who answers it, and how that may end.
final class Route: Sendable {
    /// The methods that there are.
    enum Method: String, CaseIterable, Sendable {
        case get = "GET"
        case post = "POST"
    }

    /// What a request's body is.
    enum Body: Hashable, Sendable {
        /// There is none.
        case none
        /// A JSON document of at most so many bytes, whose shape the API's document names.
        case document(DocumentShape, limit: Int)
        /// A package, or a JSON document that names the path of one.
        case package
    }

    /// The method.
    let method: Method
    /// The path, with variable segments in braces.
    let path: String
    /// The name of the operation in the API's document.
    let operation: String
    /// Who may send it.
    let permission: Permission
    /// What it takes beside its body.
    let parameters: [Parameter]
    /// Its body.
    let body: Body
    /// What a successful answer looks like.
    let answer: AnswerShape
    /// Who answers.
    let handler: Handler
    /// Every status that an answer may have.
    let statuses: [Int]
    /// What it does, in a line.
    let summary: String
    /// The path's segments.
    private let segments: [Segment]

    private enum Segment {
        case fixed(String)
        case variable(String)
    }

    /// Makes a row of the table.
    init(
        _ method: Method, _ path: String, _ operation: String, for permission: Permission,
        parameters: [Parameter] = [], body: Body = .none, answer: AnswerShape, _ handler: Handler, statuses: [Int],
        _ summary: String
    ) {
        self.method = method
        self.path = path
        self.operation = operation
        self.permission = permission
        self.parameters = parameters
        self.body = body
        self.answer = answer
        self.handler = handler
        self.statuses = statuses
        self.summary = summary
        segments = path.split(separator: "/").map { part in
            part.hasPrefix("{") ? .variable(String(part.dropFirst().dropLast())) : .fixed(String(part))
        }
    }

    /// Returns what stands in the variable places of a path, or nil when the path is another one.
    func match(_ path: [String]) -> [(name: String, value: String)]? {
        guard path.count == segments.count else { return nil }
        var values: [(name: String, value: String)] = []
        for (segment, value) in zip(segments, path) {
            switch segment {
            case .fixed(let name): if name != value { return nil }
            case .variable(let name): values.append((name, value))
            }
        }
        return values
    }
}

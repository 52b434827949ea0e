/// A text in Prometheus' format 0.0.4, family by family.
struct Exposition {
    /// The kinds of families.
    enum Kind: String {
        case counter
        case gauge
        case histogram
    }

    /// The media type of the text.
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// The text so far.
    private(set) var text = ""

    /// Begins a family; its samples follow.
    mutating func family(_ name: String, _ kind: Kind, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n"
    }

    /// Adds a sample.
    ///
    /// - Parameters:
    ///   - name: The family's name, with the suffix that a histogram's samples have.
    ///   - labels: Names and values; the values are escaped here.
    ///   - value: The number as it is written.
    mutating func sample(_ name: String, _ labels: [(String, String)] = [], _ value: String) {
        text += name
        if !labels.isEmpty {
            text += "{" + labels.map { "\($0)=\"\(Self.escaped($1))\"" }.joined(separator: ",") + "}"
        }
        text += " \(value)\n"
    }

    /// Adds a sample of an integer.
    mutating func sample(_ name: String, _ labels: [(String, String)] = [], _ value: Int64) {
        sample(name, labels, String(value))
    }

    /// Adds a family of one sample.
    mutating func gauge(_ name: String, _ value: Int64, _ help: String) {
        family(name, .gauge, help)
        sample(name, [], value)
    }

    /// Writes nanoseconds as seconds.
    static func seconds(nanoseconds: Int64) -> String {
        let fraction = String(nanoseconds % 1_000_000_000)
        return "\(nanoseconds / 1_000_000_000)." + String(repeating: "0", count: 9 - fraction.count) + fraction
    }

    private static func escaped(_ value: String) -> String {
        var text = ""
        for character in value.unicodeScalars {
            switch character {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(character)
            }
        }
        return text
    }
}

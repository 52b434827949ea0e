import Glibc
import NshTrust
import Synchronization

/// What this process asked and was answered, a line of JSON for each: written before the call and after it, so that the
/// file tells what was under way when the process was killed.
final class Journal: Sendable {
    private let file: Int32
    private let count = Atomic(0)

    /// Opens the file and says who writes it.
    init(path: String, roots: [String], mode: String) throws {
        file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw SystemCall.trouble(errno, "cannot write \(path)") }
        let names = roots.map { "\"\($0)\"" }.joined(separator: ",")
        write("{\"pid\":\(getpid()),\"mode\":\"\(mode)\",\"roots\":[\(names)],\"b\":\(MonotonicTime.nanoseconds())}")
    }

    /// Does something and writes down when, and how it ended.
    ///
    /// - Parameters:
    ///   - operation: Its name.
    ///   - subject: The place of the package, list or app in the plan; -1 for none.
    ///   - body: What is done; returns more members of the answer, such as `,"changed":true`.
    /// - Returns: The code of the answer.
    @discardableResult
    func note(_ operation: String, _ subject: Int = -1, _ body: () throws -> String) -> String {
        let number = begin(operation, subject)
        do {
            let more = try body()
            end(number, "accepted", more)
            return "accepted"
        } catch {
            return refused(number, error)
        }
    }

    /// As `note`, for what is awaited.
    @discardableResult
    func noteAsync(_ operation: String, _ subject: Int = -1, _ body: () async throws -> String) async -> String {
        let number = begin(operation, subject)
        do {
            let more = try await body()
            end(number, "accepted", more)
            return "accepted"
        } catch {
            return refused(number, error)
        }
    }

    /// Writes down what this process still has open at its end: names without directories, with their numbers.
    func finish(_ descriptors: [String: Int]) {
        let members = descriptors.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
        write("{\"end\":\(MonotonicTime.nanoseconds()),\"files\":{\(members.joined(separator: ","))}}")
    }

    private func begin(_ operation: String, _ subject: Int) -> Int {
        let number = count.add(1, ordering: .relaxed).newValue
        write("{\"i\":\(number),\"op\":\"\(operation)\",\"x\":\(subject),\"b\":\(MonotonicTime.nanoseconds())}")
        return number
    }

    private func refused(_ number: Int, _ error: any Error) -> String {
        let error = NshError(wrapping: error)
        // Of a refusal only this is of interest: whether the store could not even write it down.
        let isTold = !error.isRefusal || error.message.contains("the decision log could not be written")
        end(number, error.code.rawValue, isTold ? ",\"why\":\"\(Self.plain(error.message))\"" : "")
        return error.code.rawValue
    }

    private func end(_ number: Int, _ code: String, _ more: String) {
        write("{\"i\":\(number),\"e\":\(MonotonicTime.nanoseconds()),\"c\":\"\(code)\"\(more)}")
    }

    private static func plain(_ text: String) -> String {
        String(decoding: text.utf8.filter { $0 >= 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }, as: UTF8.self)
    }

    /// One call for one line: lines of several threads do not mix, and what is written survives a kill.
    private func write(_ line: String) {
        let bytes = Array(line.utf8) + [0x0A]
        let written = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
        guard written == bytes.count else { fatalError("the journal cannot be written: errno \(errno)") }
    }
}

/// What this process has open.
enum OpenFiles {
    /// Counts the files behind this process's descriptors by name, standard streams and pipes left out.
    static func census() -> [String: Int] {
        var found: [String: Int] = [:]
        for number in 3..<4096 {
            var buffer = [CChar](repeating: 0, count: 4096)
            let count = readlink("/proc/self/fd/\(number)", &buffer, buffer.count - 1)
            guard count > 0 else { continue }
            let path = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            guard path.hasPrefix("/") else { continue }
            found[path.split(separator: "/").last.map(String.init) ?? "/", default: 0] += 1
        }
        return found
    }
}

import FoundationEssentials
import Glibc
import Testing

@testable import NshPublishing
@testable import NshTrust

/// A directory of one test, removed when it goes.
final class Scratch {
    let path: String

    init() {
        var template = Array("/tmp/nsh-publishing.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { fatalError("mkdtemp: \(errno)") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        do { try FileManager.default.removeItem(atPath: path) } catch {
            Issue.record("cannot remove \(path): \(error)")
        }
    }

    func file(_ name: String) -> String { path + "/" + name }

    /// Writes a file and the directories above it.
    @discardableResult
    func write(_ name: String, _ bytes: some Sequence<UInt8>, mode: mode_t = 0o644) -> String {
        let target = file(name)
        var at = path.utf8.count + 1
        let all = Array(target.utf8)
        while let slash = all[at...].firstIndex(of: 0x2F) {
            mkdir(String(decoding: all[..<slash], as: UTF8.self), 0o755)
            at = slash + 1
        }
        let descriptor = open(target, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        precondition(descriptor >= 0, "cannot create \(target)")
        let content = Array(bytes)
        precondition(Glibc.write(descriptor, content, content.count) == content.count)
        fchmod(descriptor, mode)
        close(descriptor)
        return target
    }

    @discardableResult
    func write(_ name: String, _ text: String) -> String { write(name, Array(text.utf8)) }

    func read(_ name: String) -> [UInt8] {
        guard let content = try? InputFile.read(file(name), limit: 1 << 30, what: "the file") else { return [] }
        return content
    }

    func exists(_ name: String) -> Bool { access(file(name), F_OK) == 0 }

    func mode(_ name: String) -> mode_t {
        var status = stat()
        lstat(file(name), &status)
        return status.st_mode & 0o7777
    }

    /// The names in the directory, sorted.
    var names: [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}

/// Runs the body, which must be refused, and checks the code.
func expectRefusal(
    _ code: RefusalCode, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) {
    do {
        try body()
        Issue.record("expected \(code)", sourceLocation: sourceLocation)
    } catch let refusal as Refusal {
        #expect(refusal.code == code, "\(refusal.message)", sourceLocation: sourceLocation)
    } catch let error as NshError {
        #expect(error.code.rawValue == code.rawValue, "\(error)", sourceLocation: sourceLocation)
    } catch {
        Issue.record("expected \(code), got \(error)", sourceLocation: sourceLocation)
    }
}

/// Runs the body, which must fail, and checks the code.
func expectTrouble(
    _ code: TroubleCode, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) {
    do {
        try body()
        Issue.record("expected \(code)", sourceLocation: sourceLocation)
    } catch let trouble as Trouble {
        #expect(trouble.code == code, "\(trouble.message)", sourceLocation: sourceLocation)
    } catch let error as NshError {
        #expect(error.code.rawValue == code.rawValue, "\(error)", sourceLocation: sourceLocation)
    } catch {
        Issue.record("expected \(code), got \(error)", sourceLocation: sourceLocation)
    }
}

/// Keys that are the same in each run.
enum TestKeys {
    static func key(_ number: UInt8) throws -> SecretKey { try SecretKey(seed: [UInt8](repeating: number, count: 32)) }

    static func passphrase(_ text: String) throws -> Passphrase {
        var bytes = Array(text.utf8)
        return try Passphrase(wiping: &bytes)
    }

    static let cheap = KeyDerivationCost(operations: 1, memory: 8192)
}

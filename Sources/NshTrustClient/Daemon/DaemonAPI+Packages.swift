package import NshTrust
package import NshTrustWire

extension DaemonAPI {
    /// Has a package verified.
    ///
    /// - Parameters:
    ///   - path: The package. The daemon opens it with our rights; where it cannot, the bytes are sent.
    ///   - monitor: Stops it, and is told how much was sent.
    /// - Returns: The accepted verdict.
    /// - Throws: `NshError` with the report of a refused package, or the daemon's code; `Trouble`.
    package func verify(path: String, monitor: Monitor = Monitor()) throws -> VerdictDocument {
        try judge("/v1/packages/verify", path, monitor)
    }

    /// Has a package verified that is sent along.
    package func verify(
        _ input: any PackageInput, length: Int64?, monitor: Monitor = Monitor()
    ) throws -> VerdictDocument {
        try verdict(.post("/v1/packages/verify", package: input, length: length), monitor)
    }

    /// Has a package verified, extracted and accepted; see `verify(path:monitor:)`.
    ///
    /// - Returns: The accepted verdict, with directory and lease.
    package func open(path: String, monitor: Monitor = Monitor()) throws -> VerdictDocument {
        try judge("/v1/packages/open", path, monitor)
    }

    /// Asks whether the installed package of a digest, in hex, may start now; either verdict is an answer.
    ///
    /// - Throws: `NshError`: `notInstalled`, `badRequest`; `Trouble`.
    package func check(digest: String, monitor: Monitor = Monitor()) throws -> CheckDocument {
        let request = HTTPRequest.post("/v1/packages/check", ["digest": .text(digest)], isRepeatable: true)
        return try CheckDocument(object(request, "nsh-trustd's answer to check", monitor: monitor))
    }

    private func judge(_ target: String, _ path: String, _ monitor: Monitor) throws -> VerdictDocument {
        let unreadable: [NshError.Code] = [.noSuchFile, .notARegularFile, .badRequest]
        do {
            let body: JSONObject = ["path": .text(try Self.absolute(path))]
            return try verdict(.post(target, body, isRepeatable: true), monitor)
        } catch let error as NshError where unreadable.contains(error.code) {
            // Another view of the file system, a directory that is closed to the daemon, a file that is not there: we see.
            let file = try PackageFile.open(path)
            return try verdict(.post(target, package: FileInput(file), length: file.length), monitor)
        }
    }

    private func verdict(_ request: HTTPRequest, _ monitor: Monitor) throws -> VerdictDocument {
        let answer = try object(request, "nsh-trustd's verdict", seconds: Self.slowSeconds, monitor: monitor)
        let verdict = try VerdictDocument(answer)
        guard let code = verdict.code else { return verdict }
        throw NshError(code: NshError.Code(rawValue: code), message: verdict.message, report: verdict.report)
    }

    /// The path from the root on; links in it stay as they are.
    private static func absolute(_ path: String) throws(Trouble) -> String {
        guard path.utf8.first != 0x2F else { return path }
        let directory = try WorkingDirectory.path()
        return directory.utf8.last == 0x2F ? directory + path : "\(directory)/\(path)"
    }
}

import NshTrust
import NshTrustWire

/// The answer to `check` that is given more often than all others together: yes.
///
/// The document is `CheckDocument`; this writes the same bytes without the values in between.
enum CheckAnswer {
    /// Writes that an installed package may start.
    ///
    /// - Parameters:
    ///   - package: The record.
    ///   - state: The absolute path of the state directory.
    /// - Returns: The answer.
    static func accepted(_ package: InstalledPackage, state: String) -> Response {
        let app = package.app
        var body: [UInt8] = []
        body.reserveCapacity(1024)
        var isPlain = true
        func add(_ name: StaticString, _ text: String? = nil) {
            body += UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
            if isPlain, let text { isPlain = Self.add(text, to: &body) }
        }
        add(#"{"verdict":"accepted","code":null,"message":""#, app.id.text)
        add(" ", app.version.text)
        let build = String(app.build)
        add(" (build ", build)
        add(#")","app":{"id":""#, app.id.text)
        add(#"","name":""#, app.name.text)
        add(#"","version":""#, app.version.text)
        add(#"","build":"#, build)
        add(#"},"publisher":""#, package.facts.certificate.publisher.text)
        add(#"","digest":""#)
        package.facts.digest.appendHex(to: &body)
        add(#"","directory":""#, state)
        add("/", package.tree)
        add(#"","lease":""#, state)
        add("/", package.tree)
        add("/", TreeLease.fileName)
        add(#""}"#)
        // What has to be escaped is left to the one writer of JSON.
        guard isPlain else {
            return Response(CheckDocument(package, directory: "\(state)/\(package.tree)", refusal: nil).object)
        }
        return Response(status: 200, body: body)
    }

    /// Adds text unless something in it would have to be escaped for JSON or for people; tells whether it did.
    private static func add(_ text: String, to body: inout [UInt8]) -> Bool {
        let isAdded = text.utf8.withContiguousStorageIfAvailable { bytes in
            guard bytes.allSatisfy({ $0 >= 0x20 && $0 < 0x7F && $0 != 0x22 && $0 != 0x5C }) else { return false }
            body.append(contentsOf: bytes)
            return true
        }
        return isAdded ?? false
    }
}

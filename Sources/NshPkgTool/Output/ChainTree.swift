import NshTrust

/// The chain of trust of a package as a tree: roots, certificate, key, package, files.
enum ChainTree {
    /// Returns the lines, without indentation.
    static func lines(of report: NshReport, rootFiles: [String: String]) -> [String] {
        var levels: [[String]] = []
        levels.append(
            report.roots.map { root in
                let path = rootFiles[root.keyHash].map { "  \(Terminal.safe($0))" }
                return "root \(root.keyID)\(path ?? "")"
            })
        if let certificate = report.certificate {
            levels.append(
                [
                    "certificate \(certificate.serial)",
                    "  for \(Terminal.safe(certificate.publisher)): \(certificate.apps.joined(separator: ", "))",
                    "  \(certificate.content.joined(separator: " and ")), \(CertificateView.window(certificate))",
                ] + notes(certificate.annotations))
            levels.append(["release key \(certificate.keyID)"])
        }
        if let info = report.info, let digest = report.digest, let signedAt = report.signedAt {
            var lines = [
                "package \(digest)",
                "  \(Terminal.safe(info.name)), \(Terminal.safe(info.id)) \(Terminal.safe(info.version)) (build \(info.build))",
                "  signed \(Timestamp.text(signedAt))",
            ]
            if let runtime = report.minimumRuntime { lines.append("  needs runtime \(runtime)") }
            levels.append(lines + notes(report.annotations))
        }
        if let files = report.files, let size = report.unpackedSize, let manifest = report.manifest {
            levels.append(["\(Amount.count(files, "file")), \(Amount.bytes(size))", "  manifest \(manifest)"])
        }
        return draw(levels)
    }

    private static func notes(_ annotations: [String: String]) -> [String] {
        annotations.sorted { $0.key < $1.key }.map { "  \($0.key): \(Terminal.safe($0.value))" }
    }

    /// Draws each level below the one before it; a level's further lines stand under its first.
    private static func draw(_ levels: [[String]]) -> [String] {
        var lines: [String] = []
        for (depth, level) in levels.enumerated() {
            let indent = String(repeating: "   ", count: max(0, depth - 1))
            for (index, text) in level.enumerated() {
                let isBranch = depth > 0 && index == 0
                let margin = depth == 0 ? "" : isBranch ? "└─ " : "   "
                lines.append(indent + margin + text)
            }
        }
        return lines
    }
}

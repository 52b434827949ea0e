extension AppID {
    /// The name of the app's directory, safe on every file system: at most 200 bytes, no upper-case letter, nothing that
    /// Windows reserves; different ids have different names.
    ///
    /// - Spec: APP-6, APP-7
    package var directoryName: String {
        var name: [UInt8] = []
        for byte in text.utf8 {
            if (0x41...0x5A).contains(byte) {
                name += [0x21, byte | 0x20]
            } else {
                name.append(byte)
            }
        }
        guard name.count > 200 || Self.isReserved(name) else { return String(decoding: name, as: UTF8.self) }
        return String(decoding: name.prefix(100), as: UTF8.self) + "!!" + SHA256.hash(Array(text.utf8)).hex
    }

    /// Tells whether Windows takes the name for a device: by what stands before the first dot.
    private static func isReserved(_ name: [UInt8]) -> Bool {
        let stem = String(decoding: name.prefix { $0 != 0x2E }, as: UTF8.self)
        if ["con", "prn", "aux", "nul"].contains(stem) { return true }
        guard stem.utf8.count == 4, let digit = stem.utf8.last, (0x30...0x39).contains(digit) else { return false }
        return stem.hasPrefix("com") || stem.hasPrefix("lpt")
    }
}

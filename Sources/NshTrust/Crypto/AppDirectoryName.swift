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
        let isReserved = name.withUnsafeBytes { PathRules.isReservedOnWindows($0) }
        guard name.count > 200 || isReserved else { return String(decoding: name, as: UTF8.self) }
        return String(decoding: name.prefix(100), as: UTF8.self) + "!!" + SHA256.hash(Array(text.utf8)).hex
    }
}

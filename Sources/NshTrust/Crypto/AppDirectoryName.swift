extension AppID {
    /// The name of the app's directory: at most 200 bytes, no upper-case letter; different ids have different names.
    ///
    /// An id that begins with the name of a device keeps it, before a dot and a digest: Windows before version 11 reserves
    /// that, too, but apps already have data under these names.
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

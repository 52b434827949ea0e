extension TrustStore {
    /// Reads page after page until one is empty, each in a snapshot of its own: however much there is, memory holds one page,
    /// and no commit waits for more than one.
    ///
    /// - Parameters:
    ///   - page: Reads the page behind an element; behind none, the first.
    ///   - body: Takes a page, outside of any snapshot.
    /// - Throws: What these throw, or a `Trouble` of the store.
    func forEachPage<Element>(
        _ page: (_ snapshot: any StoreSnapshot, _ last: Element?) throws -> [Element],
        _ body: ([Element]) throws -> Void
    ) throws {
        var last: Element?
        while true {
            let elements = try read { try page($0, last) }
            guard let newest = elements.last else { return }
            try body(elements)
            last = newest
        }
    }

    /// Reads the installed packages of all apps, by app and rising build, some hundreds of apps at a time.
    ///
    /// - Parameter body: Takes all packages of some apps.
    /// - Throws: What the body throws, or a `Trouble` of the store.
    func forEachPageOfPackages(_ body: ([InstalledPackage]) throws -> Void) throws {
        try forEachPage({ try $0.installedPackages(after: $1?.app.id, apps: StorePage.apps) }, body)
    }
}

/// How much of the store is read at once.
enum StorePage {
    /// Apps whose packages are restored.
    static let apps = 256
    /// Rows that are only looked at.
    static let rows = 16_384
}

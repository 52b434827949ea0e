/// A transaction reads like the snapshot of itself.
extension SQLiteTransaction {
    func timeFloor() throws -> Int64 { try snapshot.timeFloor() }
    func listsInForce() throws -> [ListSummary] { try snapshot.listsInForce() }
    func withdrawals(ofRoot root: Digest) throws -> [ListReference] { try snapshot.withdrawals(ofRoot: root) }
    func revocations(ofCertificate serial: Serial) throws -> [ListReference] {
        try snapshot.revocations(ofCertificate: serial)
    }
    func revocations(ofKey hash: Digest) throws -> [ListReference] { try snapshot.revocations(ofKey: hash) }
    func revocations(ofPackage digest: Digest) throws -> [ListReference] { try snapshot.revocations(ofPackage: digest) }
    func minimumBuilds(of app: AppID) throws -> [BuildBound] { try snapshot.minimumBuilds(of: app) }
    func maximumBuilds(of app: AppID) throws -> [BuildBound] { try snapshot.maximumBuilds(of: app) }
    func transfers(of app: AppID) throws -> [Transfer] { try snapshot.transfers(of: app) }
    func acceptedBuild(of app: AppID) throws -> AcceptedBuild? { try snapshot.acceptedBuild(of: app) }
    func hasAccepted(package digest: Digest) throws -> Bool { try snapshot.hasAccepted(package: digest) }
    func installedPackage(_ digest: Digest) throws -> InstalledPackage? { try snapshot.installedPackage(digest) }
    func installedPackages(of app: AppID) throws -> [InstalledPackage] { try snapshot.installedPackages(of: app) }
    func installedPackages(after app: AppID?, apps: Int) throws -> [InstalledPackage] {
        try snapshot.installedPackages(after: app, apps: apps)
    }
    func packageSum(afterRow row: Int64, limit: Int) throws -> PackageSum? {
        try snapshot.packageSum(afterRow: row, limit: limit)
    }
    func hasTree(at path: String) throws -> Bool { try snapshot.hasTree(at: path) }
    func apps(withMoreThan kept: Int) throws -> [AppID] { try snapshot.apps(withMoreThan: kept) }
    func acceptedBuilds(after app: AppID?, limit: Int) throws -> [AcceptedBuild] {
        try snapshot.acceptedBuilds(after: app, limit: limit)
    }
    func acceptedBuildCount() throws -> Int64 { try snapshot.acceptedBuildCount() }
    func storedLists() throws -> [StoredList] { try snapshot.storedLists() }
    func envelope(ofList number: Int64) throws -> [UInt8] { try snapshot.envelope(ofList: number) }
    func certificates(afterRow row: Int64, ofInstalled: Bool, limit: Int) throws -> [StoredCertificate] {
        try snapshot.certificates(afterRow: row, ofInstalled: ofInstalled, limit: limit)
    }
    func apps(newestCertifiedBy certificate: StoredCertificate, limit: Int) throws -> [AppID] {
        try snapshot.apps(newestCertifiedBy: certificate, limit: limit)
    }
    func rootsSeen() throws -> [(key: PublicKey, since: Int64)] { try snapshot.rootsSeen() }
    func greatestThreshold() throws -> Int { try snapshot.greatestThreshold() }
    func events(after sequence: Int64, limit: Int) throws -> EventPage {
        try snapshot.events(after: sequence, limit: limit)
    }
    func newestEvent() throws -> Int64 { try snapshot.newestEvent() }
}

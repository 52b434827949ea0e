/// A package that was verified, extracted and accepted, to be taken once by an engine.
public final class NshPackage: Sendable {
    /// The app inside a package.
    public struct Info: Hashable, Sendable {
        /// The app id, which the certificate vouches for.
        public let id: String
        /// The name for people.
        public let name: String
        /// The version for people.
        public let version: String
        /// The build, which only grows.
        public let build: Int

        /// Takes the app of a verified header.
        package init(_ app: PackageHeader.App) {
            id = app.id.text
            name = app.name.text
            version = app.version.text
            build = Int(app.build)
        }
    }
}

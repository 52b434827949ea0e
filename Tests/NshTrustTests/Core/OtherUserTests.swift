import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import NshTrust

/// What an engine of another user sees of a daemon's state directory; a real process of that user looks.
@Suite("Another user", .rules("STO-6"), .enabled(if: geteuid() == 0, "needs root")) struct OtherUserTests {
    let host: Host

    init() throws {
        host = try Host()
        #expect(chmod(host.directory.path, 0o711) == 0)
    }

    /// Runs a command as user 12345 with no groups; returns its exit status.
    private func run(_ words: String...) throws -> Int32 {
        let all = ["setpriv", "--reuid", "12345", "--regid", "12345", "--clear-groups"] + words
        var arguments: [UnsafeMutablePointer<CChar>?] = all.map { (word: String) in strdup(word) } + [nil]
        defer { for argument in arguments { free(argument) } }
        let actions = UnsafeMutablePointer<posix_spawn_file_actions_t>.allocate(capacity: 1)
        defer { actions.deallocate() }
        posix_spawn_file_actions_init(actions)
        defer { posix_spawn_file_actions_destroy(actions) }
        for descriptor in [STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_addopen(actions, descriptor, "/dev/null", O_WRONLY, 0)
        }
        var process: pid_t = 0
        try #require(posix_spawnp(&process, "setpriv", actions, nil, &arguments, environ) == 0)
        var status: Int32 = 0
        waitpid(process, &status, 0)
        return status >> 8 & 0xFF
    }

    @Test("reads the tree it was told of and nothing else")
    func readsTreesOnly() throws {
        var options = NshTrust.Options()
        options.clock = { PackageBuilder.now }
        let core = try TrustCore(directory: host.state.path, options: options, modes: .daemon)
        try core.addRoot(TestKey.root.publicKey)
        let package = try core.open(path: try host.package(build: 5).path)
        let tree = package.directory.path
        for name in ["SHA256SUMS", "bundle.js", "app.json", "assets/logo.svg"] {
            #expect(try run("cat", "\(tree)/\(name)") == 0)
        }
        #expect(try run("ls", tree) == 0)
        #expect(try run("flock", "--shared", "--nonblock", "\(tree)/SHA256SUMS", "true") == 0)
        let state = host.state.path
        for path in [state, "\(state)/apps", "\(state)/staging"] { #expect(try run("ls", path) != 0) }
        for path in ["\(state)/trust.sqlite", "\(state)/trust.sqlite-journal"] {
            #expect(try run("cat", path) != 0)
        }
        for path in [state, "\(state)/apps", tree] { #expect(try run("touch", "\(path)/new") != 0) }
        #expect(try run("touch", "\(tree)/bundle.js") != 0)
    }
}

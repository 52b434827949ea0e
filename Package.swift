// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

/// The tool is linked fully static in release builds: it starts in about a millisecond (docs/decisions/0002).
let staticExecutable: [LinkerSetting] = [
    .unsafeFlags(
        [
            "-static-executable", "-use-ld=lld", "-Xclang-linker", "-static-pie",
            // 43,000 relocations in 9 KB instead of 1 MB that each start would read (docs/decisions/0012).
            "-Xlinker", "--pack-dyn-relocs=relr",
        ],
        .when(configuration: .release)),
    // What libarchive.a needs to read the zips and compressed tars that `publish` takes.
    .linkedLibrary("z", .when(configuration: .release)),
    .linkedLibrary("lzma", .when(configuration: .release)),
    .linkedLibrary("bz2", .when(configuration: .release)),
]

func library(_ name: String, _ debianPackage: String, _ pkgConfig: String? = nil) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([debianPackage])])
}

/// The fuzz targets are part of their replay test, as tests see internal declarations.
///
/// Under `NSH_FUZZ=1`, which `make fuzz` sets, they are a library with libFuzzer's executable in front of it: that one has no
/// main of its own.
let isFuzzing = Context.environment["NSH_FUZZ"] == "1"
let fuzzed: [Target.Dependency] = [
    "NshTrust", "NshPublishing", "NshTrustWire", "NshTrustClient", "NshTrustd", "NshCommandLine", "NshPkgTool",
    "TestSupport", "CArchive", "CLinux",
]
let fuzzTargets: [Target] =
    isFuzzing
    ? [
        .target(
            name: "FuzzTargets", dependencies: fuzzed, path: "Fuzz/Targets", swiftSettings: strict),
        .executableTarget(
            name: "nsh-fuzz", dependencies: ["FuzzTargets"], path: "Fuzz/Runner", swiftSettings: strict),
    ]
    : [
        .testTarget(
            name: "FuzzReplayTests", dependencies: fuzzed, path: "Fuzz",
            exclude: ["README.md", "Runner", "corpus", "dictionaries"], sources: ["Targets", "Replay"],
            swiftSettings: strict)
    ]

let package = Package(
    name: "NshTrust",
    products: [
        .library(name: "NshTrust", targets: ["NshTrust"]),
        .library(name: "NshPublishing", targets: ["NshPublishing"]),
        .library(name: "NshTrustClient", targets: ["NshTrustClient"]),
        .executable(name: "nsh-pkgtool", targets: ["nsh-pkgtool"]),
        .executable(name: "nsh-trustd", targets: ["nsh-trustd"]),
    ],
    traits: [
        .trait(
            name: "Foundation",
            description: "URL in the public API is Foundation's; without it, as in tool and daemon, a type of our own."),
        .default(enabledTraits: ["Foundation"]),
    ],
    targets: [
        library("CSodium", "libsodium-dev", "libsodium"),
        library("CSQLite", "libsqlite3-dev", "sqlite3"),
        library("CArchive", "libarchive-dev", "libarchive"),
        library("CZstd", "libzstd-dev", "libzstd"),
        library("CNettle", "nettle-dev", "nettle"),
        library("CUtf8proc", "libutf8proc-dev"),  // its .pc file has a flag that SwiftPM refuses
        library("CMicroHTTPD", "libmicrohttpd-dev", "libmicrohttpd"),
        .target(name: "CLinux"),
        .target(
            name: "NshTrust",
            dependencies: ["CSodium", "CSQLite", "CZstd", "CNettle", "CUtf8proc", "CLinux"],
            swiftSettings: strict),
        .target(
            name: "NshPublishing",
            dependencies: ["NshTrust", "CSodium", "CArchive", "CZstd", "CLinux"],
            swiftSettings: strict),
        .target(name: "NshCommandLine", dependencies: ["NshTrust", "CLinux"], swiftSettings: strict),
        .target(name: "NshTrustWire", dependencies: ["NshTrust"], swiftSettings: strict),
        .target(
            name: "NshTrustClient", dependencies: ["NshTrust", "NshTrustWire", "CLinux"], swiftSettings: strict),
        .target(
            name: "NshTrustd", dependencies: ["NshTrust", "NshTrustWire", "NshCommandLine", "CMicroHTTPD", "CLinux"],
            swiftSettings: strict),
        .executableTarget(
            name: "nsh-trustd", dependencies: ["NshTrustd", "CLinux"], swiftSettings: strict),
        .target(
            name: "NshPkgTool",
            dependencies: [
                "NshTrust", "NshTrustWire", "NshTrustClient", "NshPublishing", "NshCommandLine", "CLinux",
            ], swiftSettings: strict),
        .executableTarget(
            name: "nsh-pkgtool", dependencies: ["NshPkgTool", "CLinux"], swiftSettings: strict,
            linkerSettings: staticExecutable),
        .executableTarget(
            name: "EmbedHost", dependencies: ["NshTrust"], path: "Examples/EmbedHost", swiftSettings: strict),
        .executableTarget(
            name: "EngineHost", dependencies: ["NshTrust", "NshTrustClient"], path: "Examples/EngineHost",
            swiftSettings: strict),
        .executableTarget(
            name: "GuardProbe", dependencies: ["NshTrust"], path: "Benchmarks/guard/Probe", swiftSettings: strict,
            linkerSettings: staticExecutable),
        .executableTarget(
            name: "SoakWorker", dependencies: ["NshTrust", "NshTrustClient"], path: "Tests/soak/Worker",
            swiftSettings: strict),
        .target(
            name: "TestSupport", dependencies: ["NshTrust", "CSodium", "CSQLite", "CZstd"], path: "Tests/TestSupport",
            swiftSettings: strict),
        .testTarget(
            name: "NshTrustTests",
            dependencies: ["NshTrust", "NshPublishing", "TestSupport", "CArchive", "CSodium", "CLinux"],
            swiftSettings: strict),
        .testTarget(
            name: "NshPublishingTests", dependencies: ["NshTrust", "NshPublishing", "TestSupport", "CArchive"],
            swiftSettings: strict),
        .testTarget(
            name: "NshTrustdTests", dependencies: ["NshTrustd", "NshTrust", "NshTrustWire", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "NshTrustClientTests",
            dependencies: ["NshTrustClient", "NshTrustd", "NshTrust", "NshTrustWire", "TestSupport"],
            swiftSettings: strict),
        .testTarget(
            name: "NshPkgToolTests",
            dependencies: ["NshPkgTool", "NshCommandLine", "NshTrust", "NshTrustWire", "NshPublishing", "TestSupport"],
            swiftSettings: strict),
    ] + fuzzTargets,
    swiftLanguageModes: [.v6]
)

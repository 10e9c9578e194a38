// swift-tools-version: 6.2
import PackageDescription

// Further tiers of the library's caches, which several programs and machines share. A package of its own, so that who uses
// the library without them never builds NIO.
// For compilers that warn of more than those that we build with.
let allowsWarnings = Context.environment["WEBIMAGE_ALLOW_WARNINGS"] != nil
let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: allowsWarnings ? .warning : .error),
]

func room(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: swiftSettings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: swiftSettings)
}

/// Which of the library's formats are built. The tiers need none; it only matters to who builds several packages in one folder.
let formats = Context.environment["WEBIMAGE_FORMATS"]?.split(separator: ",").map(String.init) ?? []

let library = Target.Dependency.product(name: "WebImage", package: "WebImage")
let testing = Target.Dependency.product(name: "WebImageTesting", package: "WebImage")
let redis = Target.Dependency.product(name: "RedisClient", package: "Fleet")
let crypto = Target.Dependency.product(name: "FleetCrypto", package: "Fleet")
let storage = Target.Dependency.product(name: "S3Client", package: "Fleet")
let fleetTesting = Target.Dependency.product(name: "FleetTesting", package: "Fleet")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")

let package = Package(
    name: "webimage-tiers",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "RedisTier", targets: ["RedisTier"]),
        .library(name: "S3Tier", targets: ["S3Tier"]),
    ],
    traits: [
        // Without it `rediss://` and `https://` are refused, and BoringSSL is not built.
        .trait(name: "TLS", description: "Connections to Redis and S3 by TLS"),
        .default(enabledTraits: ["TLS"]),
    ],
    dependencies: [
        .package(path: "../Fleet", traits: [.trait(name: "TLS", condition: .when(traits: ["TLS"]))]),
        .package(
            name: "WebImage", path: "..",
            traits: formats.isEmpty ? [.defaults] : Set(formats.map { .init(name: $0) })),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    ],
    targets: [
        // Entries as bytes that only who knows a secret can make.
        room("TierEntries", [library, crypto]),
        room("RedisTier", ["TierEntries", library, redis, crypto, nioCore, nioPosix]),
        room("S3Tier", ["TierEntries", library, storage, nioCore]),
        tests("TierEntriesTests", ["TierEntries", library, testing]),
        tests("S3TierTests", ["S3Tier", "TierEntries", library, storage, fleetTesting, nioCore, nioPosix]),
        tests("RedisTierTests", ["RedisTier", "TierEntries", library, testing, redis, fleetTesting, httpTypes]),
    ],
    swiftLanguageModes: [.v6]
)

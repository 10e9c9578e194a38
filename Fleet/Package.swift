// swift-tools-version: 6.2
import PackageDescription

// What several servers share. A package of its own, so that users of the library never build NIO.
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

let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioHTTP = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioTLS = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["TLS"]))

let package = Package(
    name: "webimage-fleet",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "RedisClient", targets: ["RESP", "RedisClient"]),
        .library(name: "FleetCoordination", targets: ["FleetCoordination"]),
        .library(name: "FleetCrypto", targets: ["FleetCrypto"]),
        .library(name: "S3Client", targets: ["S3Signing", "S3Client"]),
        .library(name: "FleetTesting", targets: ["FleetTesting"]),
    ],
    traits: [
        // Without it `rediss://` and `https://` are refused, and BoringSSL is not built.
        .trait(name: "TLS", description: "Connections to Redis and S3 by TLS"),
        .default(enabledTraits: ["TLS"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.34.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CFleetCrypto", pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]),
        // Digests and codes that only who knows a secret can make.
        room("FleetCrypto", ["CFleetCrypto"]),
        // What clients of servers share: TLS, and leaving a server alone that fails.
        room("FleetConnections", [nioCore, nioTLS]),
        room("RESP", [nioCore]),
        room("RedisClient", ["RESP", "FleetConnections", nioCore, nioPosix]),
        // Requests to S3 as only who has the credentials can make them. Pure values.
        room("S3Signing", ["FleetCrypto"]),
        room("S3Client", ["S3Signing", "FleetConnections", nioCore, nioPosix, nioHTTP]),
        // What servers do together: each piece of work once, purges that reach all.
        room("FleetCoordination", ["RESP", "RedisClient", nioCore]),
        // What tests talk to: a redis-server and a SeaweedFS of their own.
        room("FleetTesting", []),
        tests("FleetCryptoTests", ["FleetCrypto"]),
        tests("RESPTests", ["RESP", "FleetTesting", nioCore]),
        tests(
            "FleetCoordinationTests", ["FleetCoordination", "RESP", "RedisClient", "FleetTesting", nioCore, nioPosix]),
        tests("FleetConnectionsTests", ["FleetConnections", nioCore]),
        tests("RedisClientTests", ["RESP", "RedisClient", "FleetTesting", nioCore, nioPosix]),
        tests("S3SigningTests", ["S3Signing"]),
        tests("S3ClientTests", ["S3Client", "S3Signing", "FleetTesting", nioCore, nioPosix, nioHTTP, nioTLS]),
    ],
    swiftLanguageModes: [.v6]
)

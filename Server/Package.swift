// swift-tools-version: 6.2
import PackageDescription

// The image server. A package of its own, so that users of the library never build NIO.
// For compilers that warn of more than those that we build with.
let allowsWarnings = Context.environment["WEBIMAGE_ALLOW_WARNINGS"] != nil
let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: allowsWarnings ? .warning : .error),
]

/// `scripts/serve` and `scripts/run-server-tests` say for which formats the system has libraries.
let formats = (Context.environment["WEBIMAGE_FORMATS"] ?? "AllFormats").split(separator: ",").map(String.init)

func room(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: swiftSettings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: swiftSettings)
}

let library = Target.Dependency.product(name: "WebImage", package: "WebImage")
let testing = Target.Dependency.product(name: "WebImageTesting", package: "WebImage")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let signals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let shutdown = Target.Dependency.product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle")
let fleet = Target.Dependency.product(name: "FleetCoordination", package: "Fleet")
let redis = Target.Dependency.product(name: "RedisClient", package: "Fleet")
let fleetTesting = Target.Dependency.product(name: "FleetTesting", package: "Fleet")
let storage = Target.Dependency.product(name: "S3Client", package: "Fleet")
let tier = Target.Dependency.product(name: "S3Tier", package: "Tiers")
let tracing = Target.Dependency.product(name: "Tracing", package: "swift-distributed-tracing")
let hummingbird: [Target.Dependency] = [
    .product(name: "Hummingbird", package: "hummingbird"), .product(name: "HummingbirdCore", package: "hummingbird"),
]
let nio: [Target.Dependency] = [
    .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
    .product(name: "NIOHTTP1", package: "swift-nio"), .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
    .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
]

let secure: [Target.Dependency] = [
    ("NIOSSL", "swift-nio-ssl"), ("NIOHTTP2", "swift-nio-http2"), ("NIOHTTPTypesHTTP2", "swift-nio-extras"),
]
.map { .product(name: $0, package: $1, condition: .when(traits: ["TLS"])) }

let package = Package(
    name: "webimage-server",
    platforms: [.macOS(.v15)],
    products: [.executable(name: "webimage-server", targets: ["webimage-server"])],
    traits: [
        // BoringSSL takes minutes to build.
        .trait(
            name: "TLS",
            description: "TLS and HTTP/2 for clients; connections to Redis (rediss://) and S3 (https://) by TLS")
    ],
    dependencies: [
        .package(path: "../Tiers", traits: [.trait(name: "TLS", condition: .when(traits: ["TLS"]))]),
        .package(path: "../Fleet", traits: [.trait(name: "TLS", condition: .when(traits: ["TLS"]))]),
        .package(name: "WebImage", path: "..", traits: Set(formats.map { .init(name: $0) })),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.1"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.45.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    ],
    targets: [
        room("ServerGrammar", [.product(name: "FleetCrypto", package: "Fleet"), library]),
        room("ServerConfiguration", ["ServerGrammar", redis, storage, library]),
        room("ServerTracing", ["ServerGrammar", "ServerConfiguration", tracing, logging, lifecycle]),
        room("ServerFiles", ["ServerGrammar", library, .product(name: "NIOPosix", package: "swift-nio")]),
        room(
            "ServerImages",
            [
                "ServerGrammar", "ServerConfiguration", "ServerFiles", tracing, fleet, redis, storage, library, logging,
                httpTypes, .product(name: "FleetCrypto", package: "Fleet"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        room(
            "ServerHTTP",
            [
                "ServerGrammar", "ServerConfiguration", "ServerFiles", "ServerImages", "ServerTracing", tracing, fleet,
                redis, storage, tier,
                library,
                logging,
                httpTypes,
                lifecycle, signals,
            ] + hummingbird + nio + secure),
        .target(name: "CShimAllocator"),
        .executableTarget(
            name: "webimage-server",
            dependencies: [
                "CShimAllocator", "ServerHTTP", "ServerConfiguration", "ServerGrammar", "ServerTracing", tracing,
                fleetTesting, library,
                testing, logging, signals,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: swiftSettings),
        tests(
            "ServerTracingTests",
            ["ServerTracing", "ServerHTTP", "ServerConfiguration", tracing, logging, library, testing]),
        tests("ServerGrammarTests", ["ServerGrammar", "ServerConfiguration", fleetTesting, library]),
        tests(
            "ServerImagesTests",
            ["ServerImages", "ServerGrammar", "ServerConfiguration", fleet, fleetTesting, library, testing]),
        tests(
            "ServerHTTPTests",
            [
                "ServerTracing", tracing, "ServerHTTP", "ServerImages", "ServerGrammar", "ServerConfiguration", fleet,
                redis, storage, tier,
                fleetTesting,
                library,
                testing, shutdown,
            ] + hummingbird + nio + secure + [
                .product(name: "NIOHPACK", package: "swift-nio-http2", condition: .when(traits: ["TLS"]))
            ]),
    ],
    swiftLanguageModes: [.v6]
)

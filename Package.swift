// swift-tools-version: 6.2
import PackageDescription

// To try on Linux what other systems get in the place of what only Linux has.
let isPortable = Context.environment["WEBIMAGE_PORTABLE"] != nil
// For compilers that warn of more than those that we build with: WEBIMAGE_ALLOW_WARNINGS=1 swift build.
let allowsWarnings = Context.environment["WEBIMAGE_ALLOW_WARNINGS"] != nil

let swiftSettings: [SwiftSetting] =
    [
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .treatAllWarnings(as: allowsWarnings ? .warning : .error),
        // A newer version of a system's library may advise against what the oldest one needs.
        .treatWarning("DeprecatedDeclaration", as: .warning),
    ] + (isPortable ? [.define("WI_PORTABLE")] : [])
let cSettings: [CSetting] =
    [
        .enableWarning("all"), .enableWarning("extra"), .treatAllWarnings(as: allowsWarnings ? .warning : .error),
        .treatWarning("deprecated-declarations", as: .warning),
    ]
    + (isPortable ? [.define("WI_PORTABLE")] : [])

/// A system library: found by pkg-config, installed by `scripts/install-libraries`.
///
/// - Parameter onMac: the same for macOS, where Homebrew's libraries lie in folders that only pkg-config knows, also those
///   that are linked by name below.
func system(_ name: String, _ pkgConfig: String?, onMac: String? = nil, apt: String, brew: String) -> Target {
    #if os(macOS)
        let pkgConfig = onMac ?? pkgConfig
    #endif
    return .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([apt]), .brew([brew])])
}

func room(_ name: String, _ dependencies: [Target.Dependency], path: String? = nil) -> Target {
    .target(name: name, dependencies: dependencies, path: path, swiftSettings: swiftSettings)
}

func shim(_ name: String, _ dependencies: [Target.Dependency] = [], libraries: [String] = []) -> Target {
    .target(
        name: name, dependencies: dependencies, cSettings: cSettings,
        linkerSettings: libraries.map { .linkedLibrary($0) })
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: swiftSettings)
}

let package = Package(
    name: "WebImage",
    // The first with Synchronization. Linux needs no entry.
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "WebImage", targets: ["WebImage"]),
        .library(name: "WebImageGTK", targets: ["WebImageGTK"]),
        .library(name: "WebImageTesting", targets: ["WebImageTesting"]),
        .executable(name: "webimage", targets: ["webimage"]),
        .executable(name: "webimage-gallery", targets: ["webimage-gallery"]),
        .executable(name: "webimage-decoder", targets: ["webimage-decoder"]),
    ],
    traits: [
        .trait(name: "AVIF", description: "AVIF pictures, through libavif"),
        .trait(name: "HEIF", description: "HEIC and HEIF pictures, through libheif"),
        .trait(name: "JXL", description: "JPEG XL pictures, through libjxl"),
        .trait(name: "SVG", description: "SVG pictures, through librsvg"),
        .trait(name: "TIFF", description: "TIFF pictures, through libtiff"),
        .trait(name: "PDF", description: "the first page of PDF files, through poppler"),
        .trait(
            name: "AllFormats", description: "every optional format",
            enabledTraits: ["AVIF", "HEIF", "JXL", "SVG", "TIFF", "PDF"]),
        .trait(name: "GTK", description: "widgets that show pictures, through GTK 4; without it WebImageGTK is empty"),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    ],
    targets: [
        system("CSysJPEG", "libjpeg", apt: "libjpeg-dev", brew: "jpeg-turbo"),
        system("CSysPNG", "libpng", apt: "libpng-dev", brew: "libpng"),
        // Both may be missing: PNG then takes two to five times as long.
        system("CSysISAL", "libisal", apt: "libisal-dev", brew: "isa-l"),
        system("CSysDeflate", "libdeflate", apt: "libdeflate-dev", brew: "libdeflate"),
        system("CSysLCMS2", "lcms2", apt: "liblcms2-dev", brew: "little-cms2"),
        system("CSysCurl", "libcurl", apt: "libcurl4-openssl-dev", brew: "curl"),
        system("CSysXXHash", "libxxhash", apt: "libxxhash-dev", brew: "xxhash"),
        system("CSysCrypto", "libcrypto", apt: "libssl-dev", brew: "openssl@3"),
        system("CSysWebP", "libwebp libwebpmux", apt: "libwebp-dev", brew: "webp"),
        // Without pkg-config: their .pc files hold flags that SwiftPM warns of and that nobody needs, and on Linux nothing is linked with
        // them.
        system("CSysAVIF", nil, onMac: "libavif", apt: "libavif-dev", brew: "libavif"),
        system("CSysHEIF", nil, onMac: "libheif libde265", apt: "libheif-dev", brew: "libheif"),
        system("CSysJXL", nil, onMac: "libjxl", apt: "libjxl-dev", brew: "jpeg-xl"),
        system("CSysTIFF", "libtiff-4", apt: "libtiff-dev", brew: "libtiff"),
        // SwiftPM warns of flags in the .pc files below this one (-pthread, -msse), and leaves them out.
        system("CSysGTK", "gtk4", apt: "libgtk-4-dev", brew: "gtk4"),

        shim("CPixels"),
        shim("CShimSystem"),
        // Opens the libraries of AVIF, HEIF, JXL, SVG and PDF when they are first needed.
        shim("CShimLibrary", libraries: ["dl"]),
        shim("CShimSandbox"),
        shim("CShimJPEG", ["CSysJPEG"]),
        shim("CShimPNG", ["CSysPNG", "CSysISAL", "CSysDeflate", "CPixels"], libraries: ["z"]),
        shim("CShimTIFF", ["CSysTIFF", "CPixels"]),
        shim("CShimAVIF", ["CSysAVIF", "CShimLibrary"]),
        shim("CShimHEIF", ["CSysHEIF", "CShimLibrary", "CPixels"]),
        shim("CShimJXL", ["CSysJXL", "CShimLibrary"]),
        shim("CShimGuard"),
        shim("CShimSVG", ["CShimLibrary", "CShimGuard"], libraries: ["z"]),
        shim("CShimPDF", ["CShimLibrary", "CShimGuard"], libraries: ["z"]),
        shim("CShimGTK", ["CSysGTK"]),
        shim("CShimCurl", ["CSysCurl", "CShimSystem"]),
        shim("CShimCoding", ["CShimLibrary"], libraries: ["z"]),

        room("WebImageCore", ["CShimSystem"]),
        room("WebImageSystem", ["WebImageCore", "CShimSystem"]),
        room("WebImageProcessing", ["WebImageCore", "WebImageSystem", "CPixels", "CSysLCMS2"]),
        room(
            "WebImageCodecs",
            [
                "WebImageCore", "WebImageSystem", "WebImageProcessing", "CShimJPEG", "CShimPNG", "CShimSandbox",
                "CSysWebP",
                .target(name: "CSysAVIF", condition: .when(traits: ["AVIF"])),
                .target(name: "CShimAVIF", condition: .when(traits: ["AVIF"])),
                .target(name: "CSysHEIF", condition: .when(traits: ["HEIF"])),
                .target(name: "CShimHEIF", condition: .when(traits: ["HEIF"])),
                .target(name: "CSysJXL", condition: .when(traits: ["JXL"])),
                .target(name: "CShimJXL", condition: .when(traits: ["JXL"])),
                .target(name: "CShimTIFF", condition: .when(traits: ["TIFF"])),
                .target(name: "CShimSVG", condition: .when(traits: ["SVG"])),
                .target(name: "CShimPDF", condition: .when(traits: ["PDF"])),
            ]),
        room(
            "WebImageCache",
            [
                "WebImageCore", "WebImageSystem", "CSysXXHash", "CSysCrypto",
                .product(name: "Logging", package: "swift-log"),
            ]),
        room(
            "WebImageDownload",
            [
                "WebImageCore", "WebImageSystem", "CShimCurl", "CShimCoding", "CSysCrypto",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        room(
            "WebImage",
            [
                "WebImageCore", "WebImageSystem", "WebImageProcessing", "WebImageCodecs", "WebImageCache",
                "WebImageDownload",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]),
        room(
            "WebImageGTK",
            [
                "WebImage", "WebImageCore", "WebImageProcessing", "WebImageSystem",
                .target(name: "CSysGTK", condition: .when(traits: ["GTK"])),
                .target(name: "CShimGTK", condition: .when(traits: ["GTK"])),
            ]),
        room(
            "WebImageTesting",
            [
                "WebImageCore", "WebImageSystem", "WebImageProcessing", "WebImageCodecs", "WebImageCache",
                "WebImageDownload", "CShimSystem", .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        room(
            "WebImageCommands",
            [
                "WebImage", "WebImageTesting", "WebImageCore", "WebImageSystem",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .executableTarget(name: "webimage", dependencies: ["WebImageCommands"], swiftSettings: swiftSettings),
        .executableTarget(
            name: "webimage-decoder", dependencies: ["WebImageCodecs"], swiftSettings: swiftSettings),
        room(
            "WebImageGallery",
            [
                "WebImageGTK", "WebImage", "WebImageTesting", "WebImageCore", "WebImageSystem",
                .target(name: "CSysGTK", condition: .when(traits: ["GTK"])),
                .target(name: "CShimGTK", condition: .when(traits: ["GTK"])),
            ]),
        .executableTarget(
            name: "webimage-gallery", dependencies: ["WebImageGallery"], swiftSettings: swiftSettings),
        .executableTarget(
            name: "terminal-grid", dependencies: ["WebImage"], path: "Examples/TerminalGrid",
            swiftSettings: swiftSettings),
        .executableTarget(
            name: "webimage-bench",
            dependencies: [
                "WebImage", "WebImageCore", "WebImageSystem", "WebImageProcessing", "WebImageCodecs", "WebImageCache",
                "WebImageDownload", "WebImageTesting", "CBench", "CSysWebP",
                .target(name: "CSysAVIF", condition: .when(traits: ["AVIF"])),
                .target(name: "CShimAVIF", condition: .when(traits: ["AVIF"])),
                .target(name: "CSysHEIF", condition: .when(traits: ["HEIF"])),
                .target(name: "CShimHEIF", condition: .when(traits: ["HEIF"])),
                .target(name: "CSysJXL", condition: .when(traits: ["JXL"])),
                .target(name: "CShimJXL", condition: .when(traits: ["JXL"])),
                .target(name: "CSysTIFF", condition: .when(traits: ["TIFF"])),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            path: "Benchmarks/webimage-bench", swiftSettings: swiftSettings),
        .target(
            name: "CBench", dependencies: ["CSysJPEG", "CSysPNG", "CSysCurl"], path: "Benchmarks/CBench",
            cSettings: cSettings),

        .executableTarget(
            name: "kill-worker", dependencies: ["WebImageTesting"], path: "Tests/KillWorker",
            swiftSettings: swiftSettings),
        .executableTarget(
            name: "gtk-probe",
            dependencies: [
                "WebImageGTK", "WebImage", "WebImageTesting", "WebImageProcessing", "WebImageCore",
                .target(name: "CSysGTK", condition: .when(traits: ["GTK"])),
                .target(name: "CShimGTK", condition: .when(traits: ["GTK"])),
            ],
            path: "Tests/GTKProbe", swiftSettings: swiftSettings),
        room("PipeCoder", ["WebImageCodecs", "WebImageSystem", "WebImageCore"], path: "Tests/PipeCoder"),
        room(
            "HostileCoder", ["WebImageCodecs", "WebImageSystem", "WebImageCore", "CShimSandbox", "CHostile"],
            path: "Tests/HostileCoder"),
        .target(name: "CHostile", path: "Tests/CHostile", cSettings: cSettings),
        .executableTarget(
            name: "isolation-host",
            dependencies: ["HostileCoder", "WebImageCodecs", "WebImageSystem", "WebImageCore", "WebImageTesting"],
            path: "Tests/IsolationHost", swiftSettings: swiftSettings),
        tests("WebImageCoreTests", ["WebImageCore", "WebImageSystem", "WebImageTesting"]),
        tests(
            "WebImageProcessingTests",
            ["WebImageProcessing", "WebImageSystem", "WebImageCore", "WebImageTesting", "CPixels"]),
        tests(
            "WebImageCodecsTests",
            [
                "WebImageCodecs", "WebImageProcessing", "WebImageSystem", "WebImageCore", "WebImageTesting",
                "PipeCoder",
                "HostileCoder", "CShimSandbox", "webimage-decoder", "isolation-host",
            ]),
        tests(
            "WebImageCacheTests",
            ["WebImageCache", "WebImageSystem", "WebImageCore", "WebImageTesting", "kill-worker"]),
        .target(
            name: "CHeldLookup", path: "Tests/CHeldLookup", cSettings: cSettings,
            linkerSettings: [.linkedLibrary("dl", .when(platforms: [.linux]))]),
        tests(
            "WebImageDownloadTests",
            [
                "WebImageDownload", "WebImageSystem", "WebImageCore", "WebImageTesting", "CHeldLookup",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ]),
        tests(
            "WebImageTests",
            [
                "WebImage", "WebImageTesting", "WebImageCore", "WebImageSystem", "WebImageCodecs", "WebImageCache",
                "WebImageDownload", "WebImageProcessing", "PipeCoder", "CSysCrypto",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ]),
        tests(
            "WebImageGTKTests",
            [
                "WebImageGTK", "WebImageGallery", "WebImage", "WebImageTesting", "WebImageCore", "gtk-probe",
                "webimage-gallery", .target(name: "CSysGTK", condition: .when(traits: ["GTK"])),
            ]),
        tests(
            "WebImageCommandsTests",
            ["WebImageCommands", "WebImage", "WebImageTesting", "WebImageCore", "WebImageSystem", "webimage"]),
    ],
    swiftLanguageModes: [.v6]
)

// Only who builds the catalogue needs the plugin: `scripts/build-docs` sets DOCS.
if Context.environment["DOCS"] != nil {
    package.dependencies.append(.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.4.0"))
}

// Fuzzers need unsafe flags, which no package may have that others depend on: `scripts/fuzz` sets FUZZ.
if Context.environment["FUZZ"] != nil {
    let instrumented = [
        "WebImageCore", "WebImageSystem", "WebImageProcessing", "WebImageCodecs", "WebImageDownload",
    ]
    for target in package.targets where target.type == .regular {
        if instrumented.contains(target.name) {
            target.swiftSettings = swiftSettings + [.unsafeFlags(["-sanitize=fuzzer,address"])]
        } else if target.name.hasPrefix("CShim") || target.name == "CPixels" {
            let sanitizers = ["-fsanitize=fuzzer-no-link,address,undefined", "-fsanitize-trap=undefined"]
            target.cSettings = cSettings + [.unsafeFlags(sanitizers)]
        }
    }
    package.targets.append(
        .executableTarget(
            name: "webimage-fuzz",
            dependencies: [
                "WebImageCore", "WebImageProcessing", "WebImageCodecs", "WebImageDownload", "WebImageTesting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            path: "Fuzz/webimage-fuzz",
            swiftSettings: swiftSettings + [.unsafeFlags(["-sanitize=fuzzer,address", "-parse-as-library"])],
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address"])]))
}

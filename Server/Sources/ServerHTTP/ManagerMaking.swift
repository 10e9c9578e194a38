import ServerFiles
import Logging
import ServerConfiguration
import ServerImages
import WebImage

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Makes the library's image manager from the settings.
struct ManagerMaking {
    private let settings: ServerSettings
    private let threads: Int
    private let logger: Logger

    init(_ settings: ServerSettings, threads: Int, logger: Logger) {
        self.settings = settings
        self.threads = threads
        self.logger = logger
    }

    static var cores: Int { max(Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))), 1) }

    /// - Parameter tiers: further tiers after the disk.
    func manager(_ coders: CoderRegistry, tiers: [any BytesTier] = []) -> ImageManager {
        var configuration = ImageManager.Configuration()
        configuration.memoryLimits = .init(cost: 0)
        configuration.disk = Self.disk(settings, "originals", ByteCount(settings.originalCacheBytes), logger)
        configuration.tiers = tiers
        configuration.decodeThreads = threads
        configuration.isolation = DecoderIsolation(
            settings.isolation, withoutSandbox: settings.decodesWithoutSandbox ? .decodeHere : .refuse)
        configuration.keptHeaders = KeptHeaders(SourceTags.fields)
        configuration.servesManyUsers = true
        configuration.logger = logger
        configuration.timeout = settings.timeout
        configuration.limits.pixels = Int(settings.limits.sourceResolution * 1_000_000)
        configuration.limits.bytes = max(configuration.limits.bytes, settings.limits.bodyLimit)
        configuration.download = download
        configuration.failedURLs.missing = .seconds(60)
        configuration.failedURLs.refused = .seconds(5)
        return ImageManager(configuration: configuration, coders: coders)
    }

    /// Logs at the start if files cannot be written, which would otherwise show only in slow or failed answers. The
    /// server works without these files.
    static func checkDirectories(_ settings: ServerSettings, _ logger: Logger) {
        if let directory = settings.cacheDirectory {
            // With the permissions that the caches use: for this user only.
            try? FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        for problem in directoryProblems(settings) { logger.error("\(problem)") }
    }

    /// The directories that the server cannot use. Nothing is created.
    static func directoryProblems(_ settings: ServerSettings) -> [String] {
        let temporary = DownloadConfiguration().temporaryDirectory
        return [
            settings.cacheDirectory.flatMap { directory in
                problem(nearest(directory), W_OK, "nothing can be kept on disk: WEBIMAGE_CACHE_DIR cannot be written")
                    ?? distrust(of: directory)
            },
            settings.localRoot.flatMap {
                problem($0, R_OK, "local:// sources will fail: IMGPROXY_LOCAL_FILESYSTEM_ROOT cannot be read")
            },
            problem(temporary, W_OK, "sources that are too long for memory will fail: TMPDIR cannot be written"),
        ].compactMap(\.self)
    }

    /// The caches refuse a directory in which another user could replace their files.
    private static func distrust(of directory: String) -> String? {
        guard othersMayRemoveFiles(in: directory) else { return nil }
        return "nothing can be kept on disk: other users can change WEBIMAGE_CACHE_DIR (\(directory)); "
            + "name a new folder in it"
    }

    /// The directory, or the nearest one above it that exists, in which it would be created.
    private static func nearest(_ directory: String) -> String {
        var path = URL(fileURLWithPath: directory)
        while !FileManager.default.fileExists(atPath: path.path), path.path != "/" { path.deleteLastPathComponent() }
        return path.path
    }

    private static func problem(_ directory: String, _ use: Int32, _ consequence: String) -> String? {
        let isFile = access(directory, F_OK) == 0 && !isFolder(directory)
        let problem = isFile ? "\(directory) is not a folder" : fileProblem(directory, use | X_OK)
        return problem.map { "\(consequence) (\($0))" }
    }

    /// - Returns: the path, and why it cannot be used; nil if it can.
    static func fileProblem(_ path: String, _ use: Int32 = R_OK) -> String? {
        access(path, use) == 0 ? nil : "\(path): \(String(cString: strerror(errno)))"
    }

    static func isFolder(_ path: String) -> Bool { access(path + "/", F_OK) == 0 }

    static func resultDisk(_ settings: ServerSettings, _ logger: Logger) -> DiskCache? {
        disk(settings, "results", ByteCount(settings.resultCacheBytes), logger).map { DiskCache($0) }
    }

    /// Where a server without a fleet stores its purges.
    static func purgeFile(_ settings: ServerSettings, _ logger: Logger) -> DiskCache? {
        disk(settings, "purges", .mebibytes(64), logger).map { DiskCache($0) }
    }

    /// Entries have no maximum age: the oldest are removed when there is no room left.
    static func disk(
        _ settings: ServerSettings, _ namespace: String, _ bytes: ByteCount, _ logger: Logger
    ) -> DiskCacheConfiguration? {
        settings.cacheDirectory.map { directory in
            var configuration = DiskCacheConfiguration(
                directory: directory, namespace: namespace, limits: .init(bytes: bytes, age: nil))
            configuration.logger = logger
            return configuration
        }
    }

    private var download: DownloadConfiguration {
        var download = DownloadConfiguration()
        download.maxConcurrentPerHost = 16
        download.addressPolicy = addressPolicy
        // A proxy would make the connection for us, without checking addresses.
        download.proxy = .direct
        download.redirectLimit = settings.maxRedirects
        // As in imgproxy. Sources may have plain HTTP URLs in any case.
        download.allowsRedirectsToHTTP = true
        download.keepsRedirectCookies = true
        download.bodyLimit = settings.limits.bodyLimit
        download.deadlines.connect = settings.downloadTimeout
        download.deadlines.firstByte = settings.downloadTimeout
        download.deadlines.idle = settings.downloadTimeout
        // Some bytes now and then do not keep a transfer alive.
        download.deadlines.minimumSpeed = .init(bytesPerSecond: 1024, window: settings.downloadTimeout)
        download.retry = .never
        // As in imgproxy: whole pictures, in the format in which the origin has them.
        download.acceptableStatuses = [200, 206]
        download.headers[.accept] = "*/*"
        download.headers[SourceLoop.field] = SourceLoop.mark
        if let agent = settings.userAgent { download.headers[.userAgent] = agent }
        if settings.ignoresTLS { download.tls.trust = .anyone }
        download.loaders = settings.localRoot.map { [LocalFiles(root: $0)] } ?? []
        download.logger = logger
        return download
    }

    private var addressPolicy: AddressPolicy {
        var policy = AddressPolicy.publicOnly
        func allow(_ ranges: [String]) { policy.allowedAddresses += ranges.compactMap { AddressRange($0) } }
        if settings.allowsLoopback { allow(["127.0.0.0/8", "::1/128"]) }
        if settings.allowsLinkLocal { allow(["169.254.0.0/16", "fe80::/10"]) }
        if settings.allowsPrivate {
            allow(["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"])
        }
        return policy
    }
}

import ArgumentParser
import Foundation
import HTTPTypes
import WebImage

/// How to load: the options of fetch that concern the network and the caches.
struct LoadOptions: ParsableArguments {
    @Option(
        name: .customLong("concurrency"),
        help: ArgumentHelp(
            "How many pictures are loaded at once, in all and from one host. Default: 64 and 6; very slow ones do not count.",
            valueName: "N"))
    var exactConcurrency: Int?

    /// The most inputs that are processed at a time.
    var concurrency: Int { exactConcurrency ?? 64 }

    /// Of the loads from one host, and of those of local files, only some run at a time: the others would spend their time
    /// (`--timeout`) in a queue. Twice as many as are transferred or decoded, so that there is always another one.
    func turn(of input: String) -> ListTurn {
        let decoded = 2 * max(ProcessInfo.processInfo.activeProcessorCount, 1)
        guard let host = Self.host(of: input) else { return ListTurn(name: "local", most: decoded) }
        return ListTurn(name: host, most: max(2 * min(exactConcurrency ?? Self.perHost, 1 << 20), decoded))
    }

    /// How many pictures are transferred from one host at once, unless `--concurrency` is given.
    static let perHost = DownloadConfiguration().maxConcurrentPerHost

    /// The host of a URL; nil for local inputs.
    static func host(of input: String) -> String? {
        guard input.prefix(4).lowercased() == "http", let scheme = input.range(of: "://") else { return nil }
        return input[scheme.upperBound...].prefix { !"/?#".contains($0) }.lowercased()
    }

    @Option(
        help: "The priority: low, normal or high. Default: normal; low for prefetch.",
        completion: .list(["low", "normal", "high"]))
    var priority: String?

    @Option(
        help: ArgumentHelp(
            "How often a load is retried after a temporary failure, such as a lost connection. Default: 2.",
            valueName: "N"))
    var retries: Int?

    @Option(help: ArgumentHelp("A header to send. Can be repeated.", valueName: "'NAME: VALUE'"))
    var header: [String] = []

    @Option(help: ArgumentHelp("The user and password for Basic authentication.", valueName: "NAME:PASSWORD"))
    var user: String?

    @Flag(help: "Do not verify TLS certificates. For tests only.")
    var insecure = false

    @Flag(help: "Read users and passwords from ~/.netrc.")
    var netrc = false

    @OptionGroup var inputs: InputOptions

    @OptionGroup var decoders: IsolationOptions

    @Option(
        help: ArgumentHelp(
            "The folder of the disk cache. Default: $XDG_CACHE_HOME/webimage or ~/.cache/webimage.", valueName: "DIR"),
        completion: .directory)
    var cacheDir: String?

    @Option(
        help: ArgumentHelp(
            "How the cache is used: \(CachePolicy.names).",
            discussion: """
                default: any cache entry, otherwise the network.
                protocol: follows the HTTP caching rules (RFC 9111).
                revalidate: a cache entry, after the server has confirmed it.
                refresh: a cache entry, then a newer picture if there is one.
                reload: always the network; the answer is stored.
                reload-from-origin: as reload, and no proxy may answer from its cache.
                cache-only: never the network.
                no-store: neither reads the cache nor stores.
                """), completion: .list(CachePolicy.allCases.map(\.rawValue)))
    var policy = CachePolicy.cacheFirst.rawValue

    mutating func validate() throws {
        if concurrency < 1 { throw ValidationError("--concurrency takes 1 or more") }
        if let retries, retries < 0 { throw ValidationError("--retries takes 0 or more") }
        if netrc { try Self.checkNetrc() }
        if netrc, user != nil { throw ValidationError("--netrc and --user cannot be used together") }
        guard ["low", "normal", "high"].contains(priority ?? "normal") else {
            throw ValidationError("--priority takes low, normal or high")
        }
        if CachePolicy(rawValue: policy) == nil { throw ValidationError("--policy takes \(CachePolicy.names)") }
        try CacheDirectory.check(cacheDir)
        _ = try fields
        _ = try credentials
    }

    var fields: HTTPFields {
        get throws {
            var fields = HTTPFields()
            for line in header {
                let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2, let name = HTTPField.Name(parts[0].trimmingCharacters(in: .whitespaces)) else {
                    throw ValidationError("--header takes 'Name: value', not '\(line)'")
                }
                let value = parts[1].trimmingCharacters(in: .whitespaces)
                guard HTTPField.isValidValue(value) else {
                    throw ValidationError("--header '\(name)': the value contains bytes that HTTP does not allow")
                }
                fields.append(HTTPField(name: name, value: value))
            }
            return fields
        }
    }

    var credentials: BasicCredentials? {
        get throws {
            guard let user else { return nil }
            guard let colon = user.firstIndex(of: ":") else { throw ValidationError("--user takes NAME:PASSWORD") }
            return BasicCredentials(user: String(user[..<colon]), password: String(user[user.index(after: colon)...]))
        }
    }

    /// - Parameters:
    ///   - isQuiet: whether the note that nothing is cached is left out.
    ///   - warns: whether warnings of the library are shown.
    func makeManager(isQuiet: Bool, warns: Bool) -> ImageManager {
        var configuration = ImageManager.Configuration.withoutMemoryCache
        configuration.logger = CommandLog.logger(isQuiet: !warns)
        configuration.download.logger = configuration.logger
        configuration.isolation = decoders.value
        if let exactConcurrency {
            configuration.download.maxConcurrent = exactConcurrency
            configuration.download.maxConcurrentPerHost = exactConcurrency
            configuration.download.spareForSlowOrigins = 0
        }
        // No picture is more urgent than another.
        configuration.download.reservedForUrgent = 0
        if let retries { configuration.download.retry.retries = retries }
        configuration.disk = nil
        if CachePolicy(rawValue: policy) != .noStore {
            do throws(WebImageError) {
                configuration.disk = try CacheDirectory.configuration(cacheDir)
            } catch {
                if !isQuiet { Console.err("note: nothing is cached: \(error.message)") }
            }
        }
        return ImageManager(configuration: configuration)
    }

    /// Waits for the end of stores. After it, the disk cache, its index and its counts are complete.
    static func finish(_ manager: ImageManager) async {
        await manager.finishStores()
        // Errors are logged, and affect no picture.
        try? await manager.diskCache?.flush()
    }

    private static func checkNetrc() throws {
        var isFolder: ObjCBool = false
        let isThere = FileManager.default.fileExists(atPath: netrcPath, isDirectory: &isFolder)
        if isThere, isFolder.boolValue { throw ValidationError("--netrc: \(netrcPath) is a folder") }
        guard isThere, FileManager.default.isReadableFile(atPath: netrcPath) else {
            throw ValidationError("--netrc: \(netrcPath) cannot be read")
        }
    }

    /// The place in which curl looks, too.
    private static let netrcPath = (ProcessInfo.processInfo.environment["HOME"] ?? NSHomeDirectory()) + "/.netrc"

    func priority(orElse other: LoadPriority) -> LoadPriority {
        priority.map { ["low": .low, "high": .high][$0] ?? .normal } ?? other
    }

    func makeRequest(
        _ input: String, priority defaultPriority: LoadPriority = .normal
    ) async throws(WebImageError) -> ImageRequest {
        configured(try await InputBytes.request(for: input, inputs), of: input, priority: defaultPriority)
    }

    /// The request for an input that is not a pipe.
    func makeRequest(unread input: String, priority defaultPriority: LoadPriority) -> ImageRequest {
        configured(InputBytes.request(unread: input, inputs), of: input, priority: defaultPriority)
    }

    private func configured(
        _ request: ImageRequest, of input: String, priority defaultPriority: LoadPriority
    ) -> ImageRequest {
        var request = request
        // Caches cannot contain standard input.
        if input != "-" { request.caching.policy = CachePolicy(rawValue: policy) ?? .cacheFirst }
        request.priority = self.priority(orElse: defaultPriority)
        // `validate` has checked the header fields and the credentials.
        request.http.headers = (try? fields) ?? [:]
        request.http.credentials = try? credentials
        if netrc { request.http.netrcFile = Self.netrcPath }
        if insecure { request.http.trust = .anyone }
        return request
    }
}

extension ImageManager.Configuration {
    /// For commands, which show or write each picture once. The memory cache keeps no pictures.
    static var withoutMemoryCache: Self {
        var configuration = Self()
        configuration.memoryLimits = .init(cost: 0)
        configuration.answersMemoryPressure = false
        return configuration
    }

    /// For commands that process a single file.
    ///
    /// - Parameter isQuiet: whether no warnings are shown.
    static func withoutCaches(_ decoders: IsolationOptions, isQuiet: Bool) -> Self {
        var configuration = withoutMemoryCache
        configuration.isolation = decoders.value
        configuration.disk = nil
        configuration.logger = CommandLog.logger(isQuiet: isQuiet)
        return configuration
    }
}

extension CachePolicy {
    /// The names as a part of a sentence.
    fileprivate static var names: String {
        let names = allCases.map(\.rawValue)
        return names.dropLast().joined(separator: ", ") + " or " + (names.last ?? "")
    }
}

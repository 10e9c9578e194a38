import RedisClient
import ServerGrammar
import WebImage

extension ServerSettings {
    /// - Parameters:
    ///   - variables: the environment: imgproxy's names, and ours, which begin with `WEBIMAGE_`.
    ///   - readFile: returns the text of a file; nil if it cannot be read.
    ///   - now: seconds since 1970.
    /// - Throws: all problems, each with the name of its variable.
    public init(
        environment variables: [String: String], readFile: (String) -> String?, now: @escaping @Sendable () -> Int
    ) throws(SettingsError) {
        self.init()
        var reader = EnvironmentReader(variables)
        grammar.now = now
        let compatible = reader.text("WEBIMAGE_COMPAT")
        if let compatible, compatible != "imgproxy" {
            reader.fail("WEBIMAGE_COMPAT must be imgproxy, not \(compatible)")
        }
        isCompatible = compatible != nil
        readListening(&reader, readFile)
        readGrammar(&reader, readFile)
        readLimits(&reader)
        readOutput(&reader)
        readSources(&reader)
        readAnswers(&reader)
        readCaches(&reader)
        readFleet(&reader, readFile)
        readS3(&reader, readFile)
        readPictures(&reader)
        readTracing(&reader)
        readSigning(&reader)
        reader.refuseAbsent()
        warnings += reader.olderNames.map { "\($0.old) is an older name; the newer one is \($0.new)" }
        warnings += reader.unread(["IMGPROXY_", "WEBIMAGE_"]).map { "\($0) is not a setting of this server" }
        guard reader.problems.isEmpty else { throw SettingsError(problems: reader.problems) }
    }

    /// Stands for "no limit".
    private static let maxClients = 1_000_000

    private mutating func readListening(_ reader: inout EnvironmentReader, _ readFile: (String) -> String?) {
        let network = reader.text("IMGPROXY_NETWORK") ?? "tcp"
        let port = reader.text("PORT")
        let bound = reader.text("IMGPROXY_BIND")
        let bind = bound ?? port.map { ":" + $0 } ?? ":8080"
        if network == "unix" {
            address = .unix(path: bind)
        } else if ["tcp", "tcp4", "tcp6"].contains(network) {
            let any = ["tcp4": "0.0.0.0", "tcp6": "::"][network] ?? ""
            if bound == nil, let port, Int(port).map({ (0...65_535).contains($0) }) != true {
                reader.fail("PORT must be a whole number from 0 to 65535, not \(port)")
            } else {
                address = Self.tcp(bind, "IMGPROXY_BIND", any: any, &reader) ?? address
            }
        } else {
            reader.fail("IMGPROXY_NETWORK must be tcp, tcp4, tcp6 or unix, not \(network)")
        }
        readCertificate(&reader, readFile)
        if let bind = reader.text("IMGPROXY_PROMETHEUS_BIND") {
            prometheus = Self.tcp(bind, "IMGPROXY_PROMETHEUS_BIND", &reader)
        }
        if let bind = reader.text("WEBIMAGE_ADMIN_BIND") {
            adminAddress = Self.tcp(bind, "WEBIMAGE_ADMIN_BIND", &reader)
        }
        let bindings = [
            ("IMGPROXY_BIND", address), ("IMGPROXY_PROMETHEUS_BIND", prometheus), ("WEBIMAGE_ADMIN_BIND", adminAddress),
        ]
        for (index, (name, own)) in bindings.enumerated() {
            for (other, theirs) in bindings[..<index] {
                guard let own, let theirs, own.collides(with: theirs) else { continue }
                reader.fail("\(name) and \(other) must be different addresses")
            }
        }
        metricsNamespace = reader.text("IMGPROXY_PROMETHEUS_NAMESPACE") ?? ""
        let isName = metricsNamespace.utf8.enumerated().allSatisfy { index, byte in
            let character = Character(UnicodeScalar(byte))
            return byte < 128 && (character.isLetter || "_:".contains(character) || index > 0 && character.isNumber)
        }
        if !isName {
            reader.fail(
                "IMGPROXY_PROMETHEUS_NAMESPACE must be letters, digits and underscores, not \(metricsNamespace)")
        }
        timeout = reader.seconds("IMGPROXY_TIMEOUT", 10, from: 1)
        downloadTimeout = reader.seconds("IMGPROXY_DOWNLOAD_TIMEOUT", 5, from: 1)
        readRequestTimeout = reader.seconds("IMGPROXY_READ_REQUEST_TIMEOUT", 10, from: 1)
        writeResponseTimeout = reader.seconds("IMGPROXY_WRITE_RESPONSE_TIMEOUT", 10, from: 1)
        keepAliveTimeout = reader.seconds("IMGPROXY_KEEP_ALIVE_TIMEOUT", 10)
        gracefulTimeout = reader.seconds(
            "IMGPROXY_GRACEFUL_STOP_TIMEOUT", Int(min(timeout.components.seconds, 1_000_000)) * 2)
        drainDelay = reader.seconds("WEBIMAGE_DRAIN_DELAY", 5)
        workers = reader.whole("IMGPROXY_WORKERS", 0, in: 0...1024)
        let queue = reader.whole("IMGPROXY_REQUESTS_QUEUE_SIZE", 0, in: 0...1_000_000)
        // imgproxy lets any number wait.
        queueSize = queue > 0 ? queue : isCompatible ? 1_000_000 : nil
        let clients = reader.whole("IMGPROXY_MAX_CLIENTS", 2048, in: 0...Self.maxClients)
        maxClients = clients > 0 ? clients : Self.maxClients
        overloadStatus = reader.whole("WEBIMAGE_OVERLOAD_STATUS", 429, in: 429...503)
        if ![429, 503].contains(overloadStatus) { reader.fail("WEBIMAGE_OVERLOAD_STATUS is 429 or 503") }
        readClients(&reader)
        healthPath = reader.text("IMGPROXY_HEALTH_CHECK_PATH").map(Self.path)
        logLevel = reader.word("IMGPROXY_LOG_LEVEL") ?? "info"
        if !["error", "warn", "info", "debug"].contains(logLevel) {
            reader.fail("IMGPROXY_LOG_LEVEL must be error, warn, info or debug, not \(logLevel)")
        }
        let format = reader.word("IMGPROXY_LOG_FORMAT") ?? "json"
        logFormat = LogFormat(rawValue: format) ?? .json
        if LogFormat(rawValue: format) == nil {
            reader.fail("IMGPROXY_LOG_FORMAT must be json, pretty, structured or gcp, not \(format)")
        }
    }

    private mutating func readCertificate(_ reader: inout EnvironmentReader, _ readFile: (String) -> String?) {
        let chain = reader.text("WEBIMAGE_TLS_CERTIFICATE")
        let key = reader.text("WEBIMAGE_TLS_KEY")
        guard let chain, let key else {
            if (chain == nil) != (key == nil) {
                reader.fail(
                    "WEBIMAGE_TLS_CERTIFICATE and WEBIMAGE_TLS_KEY must both be set, or neither of them")
            }
            return
        }
        certificate = Certificate(chain: chain, key: key)
        for (name, path) in [("WEBIMAGE_TLS_CERTIFICATE", chain), ("WEBIMAGE_TLS_KEY", key)] where readFile(path) == nil
        {
            reader.fail("\(name): \(path) cannot be read")
        }
        #if !TLS
            reader.fail("WEBIMAGE_TLS_CERTIFICATE needs a server that is built with the trait TLS")
        #endif
    }

    private mutating func readClients(_ reader: inout EnvironmentReader) {
        for text in reader.list("WEBIMAGE_TRUSTED_PROXIES") {
            if let range = AddressRange(text) {
                trustedProxies.append(range)
            } else {
                reader.fail(
                    "WEBIMAGE_TRUSTED_PROXIES must contain addresses and blocks such as 10.0.0.0/8, not \(text)")
            }
        }
        guard let text = reader.text("WEBIMAGE_RATE_LIMIT") else {
            // imgproxy takes the address and the requested host of a client from anyone. With a rate limit, every client
            // could choose whose limit counts.
            if isCompatible, trustedProxies.isEmpty {
                trustedProxies = ["0.0.0.0/0", "::/0"].compactMap { AddressRange($0) }
            }
            return
        }
        rateLimit = RateLimit(text)
        if rateLimit == nil {
            reader.fail(
                "WEBIMAGE_RATE_LIMIT must be N/s or N/m, optionally followed by ;burst=N and ;by=ip, ;by=key or ;by=host, not \(text)"
            )
        }
    }

    /// - Parameter any: the host that an address without one gets.
    static func tcp(
        _ text: String, _ name: String, any: String = "", _ reader: inout EnvironmentReader
    ) -> Address? {
        guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
            (0...65_535).contains(port)
        else {
            reader.fail("\(name) must be HOST:PORT, not \(text)")
            return nil
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        return .tcp(host: host.isEmpty ? any : String(host), port: port)
    }

    /// The path with a slash before it and none behind it. A query or a fragment is dropped.
    private static func path(_ text: String) -> String {
        var path = String(text.prefix { $0 != "?" && $0 != "#" })
        while path.hasSuffix("/") { path.removeLast() }
        return path.isEmpty || path.hasPrefix("/") ? path : "/" + path
    }

    private mutating func readGrammar(_ reader: inout EnvironmentReader, _ readFile: (String) -> String?) {
        grammar.argumentsSeparator = reader.text("IMGPROXY_ARGUMENTS_SEPARATOR") ?? ":"
        if grammar.argumentsSeparator.contains("/") {
            reader.fail("IMGPROXY_ARGUMENTS_SEPARATOR must not contain a slash")
        }
        grammar.pathPrefix = Self.path(reader.text("IMGPROXY_PATH_PREFIX") ?? "")
        grammar.onlyPresets = reader.flag("IMGPROXY_ONLY_PRESETS", false)
        let allowed = reader.list("IMGPROXY_ALLOWED_PROCESSING_OPTIONS")
        grammar.allowedOptions = allowed.isEmpty ? nil : Set(allowed)
        for name in allowed where !URLGrammar.hasOption(name) {
            warnings.append("IMGPROXY_ALLOWED_PROCESSING_OPTIONS lists \(name), which is not an option of this server")
        }
        grammar.allowsSecurityOptions = reader.flag("IMGPROXY_ALLOW_SECURITY_OPTIONS", false)
        grammar.base64IncludesFilename = reader.flag("IMGPROXY_BASE64_URL_INCLUDES_FILENAME", false)
        grammar.baseURL = reader.text("IMGPROXY_BASE_URL") ?? ""
        for text in reader.list("IMGPROXY_URL_REPLACEMENTS", separatedBy: ";") {
            guard let equals = text.firstIndex(of: "=") else {
                reader.fail("IMGPROXY_URL_REPLACEMENTS must be PATTERN=TEXT;..., not \(text)")
                continue
            }
            grammar.replacements.append(
                URLReplacement(
                    pattern: WildcardPattern(String(text[..<equals])),
                    replacement: String(text[text.index(after: equals)...])))
        }
        grammar.allowedSources = reader.list("IMGPROXY_ALLOWED_SOURCES").map(WildcardPattern.init)
        let separator = reader.text("IMGPROXY_PRESETS_SEPARATOR") ?? ","
        var presets = reader.list("IMGPROXY_PRESETS", separatedBy: separator)
        if let path = reader.text("IMGPROXY_PRESETS_PATH") {
            if let text = readFile(path) {
                presets += URLGrammar.presets(inFile: text)
            } else {
                reader.fail("IMGPROXY_PRESETS_PATH: \(path) cannot be read")
            }
        }
        do throws(PresetError) {
            try grammar.addPresets(presets)
        } catch {
            let names = reader.text("IMGPROXY_PRESETS_PATH") == nil ? "" : " or IMGPROXY_PRESETS_PATH"
            reader.fail("IMGPROXY_PRESETS\(names): \(error)")
        }
    }

    private mutating func readLimits(_ reader: inout EnvironmentReader) {
        if isCompatible {
            limits.sourceBytes = 0
            limits.animationFrames = 1
            limits.resultResolution = 1000
            limits.resultSide = nil
        }
        limits.sourceResolution = reader.number("IMGPROXY_MAX_SRC_RESOLUTION", 50, in: 0.001...1_000_000)
        // An explicit limit also bounds all frames of an animation together.
        if reader.text("IMGPROXY_MAX_SRC_RESOLUTION") != nil { limits.animationResolution = limits.sourceResolution }
        limits.sourceBytes = reader.whole("IMGPROXY_MAX_SRC_FILE_SIZE", limits.sourceBytes)
        limits.animationFrames = reader.whole(
            "IMGPROXY_MAX_ANIMATION_FRAMES", limits.animationFrames, in: 1...10_000)
        limits.animationFrameResolution = reader.number("IMGPROXY_MAX_ANIMATION_FRAME_RESOLUTION", 0, in: 0...1000)
        limits.resultDimension = reader.whole("IMGPROXY_MAX_RESULT_DIMENSION", 0, in: 0...1_000_000)
        limits.resultResolution = reader.number(
            "WEBIMAGE_MAX_RESULT_RESOLUTION", limits.resultResolution, in: 0.001...1000)
    }

    private mutating func readSources(_ reader: inout EnvironmentReader) {
        maxRedirects = reader.whole("IMGPROXY_MAX_REDIRECTS", 10, in: 0...100)
        let isolation = reader.text("WEBIMAGE_ISOLATION") ?? "all"
        self.isolation = DecoderIsolation.Formats(rawValue: isolation) ?? .all
        if DecoderIsolation.Formats(rawValue: isolation) == nil {
            reader.fail("WEBIMAGE_ISOLATION must be none, automatic or all, not \(isolation)")
        }
        let without = reader.text("WEBIMAGE_WITHOUT_SANDBOX") ?? "refuse"
        decodesWithoutSandbox = without == "decode"
        if !["refuse", "decode"].contains(without) {
            reader.fail("WEBIMAGE_WITHOUT_SANDBOX must be refuse or decode, not \(without)")
        }
        userAgent = reader.text("IMGPROXY_USER_AGENT")?.replacing("%current_version", with: WebImageVersion.text)
        localRoot = reader.text("IMGPROXY_LOCAL_FILESYSTEM_ROOT")
        if let localRoot, !localRoot.hasPrefix("/") {
            reader.fail("IMGPROXY_LOCAL_FILESYSTEM_ROOT must be an absolute path, not \(localRoot)")
        }
        // An empty one means in imgproxy that sources have no query.
        if let separator = reader.textOrEmpty("IMGPROXY_SOURCE_URL_QUERY_SEPARATOR"), separator != "?" {
            reader.fail(
                "IMGPROXY_SOURCE_URL_QUERY_SEPARATOR must be ?, with which the query of a source begins, not "
                    + (separator.isEmpty ? "empty" : separator))
        }
        cookies.arePassedOn = reader.flag("IMGPROXY_COOKIE_PASSTHROUGH", false)
        cookies.goToAll = reader.flag("IMGPROXY_COOKIE_PASSTHROUGH_ALL", false)
        cookies.base = reader.text("IMGPROXY_COOKIE_BASE_URL")
        if let base = cookies.base, !base.hasPrefix("http://"), !base.hasPrefix("https://") {
            reader.fail("IMGPROXY_COOKIE_BASE_URL must be an http or https URL, not \(base)")
        }
        allowsLoopback = reader.flag("IMGPROXY_ALLOW_LOOPBACK_SOURCE_ADDRESSES", false)
        allowsLinkLocal = reader.flag("IMGPROXY_ALLOW_LINK_LOCAL_SOURCE_ADDRESSES", false)
        allowsPrivate = reader.flag("IMGPROXY_ALLOW_PRIVATE_SOURCE_ADDRESSES", isCompatible)
        ignoresTLS = reader.flag("IMGPROXY_IGNORE_SSL_VERIFICATION", false)
    }

    private mutating func readCaches(_ reader: inout EnvironmentReader) {
        memoryCacheBytes = reader.whole("WEBIMAGE_MEMORY_CACHE_SIZE", 64 << 20)
        cacheDirectory = reader.text("WEBIMAGE_CACHE_DIR") ?? reader.text("CACHE_DIRECTORY")
        resultCacheBytes = reader.whole("WEBIMAGE_RESULT_CACHE_SIZE", 1 << 30)
        originalCacheBytes = reader.whole("WEBIMAGE_ORIGINAL_CACHE_SIZE", 1 << 30)
        sourceTTL = reader.whole("WEBIMAGE_SOURCE_TTL", 300)
        staleWhileRevalidate = reader.whole("WEBIMAGE_STALE_WHILE_REVALIDATE", 86_400)
        staleIfError = reader.whole("WEBIMAGE_STALE_IF_ERROR", 604_800)
    }

    private mutating func readFleet(_ reader: inout EnvironmentReader, _ readFile: (String) -> String?) {
        redisPrefix = reader.text("WEBIMAGE_REDIS_PREFIX") ?? "wi"
        if redisPrefix.contains(where: { "{}".contains($0) }) {
            reader.fail("WEBIMAGE_REDIS_PREFIX must not contain a brace")
        }
        redisResultBytes = reader.whole("WEBIMAGE_REDIS_RESULT_MAX", 65_536, in: 0...(8 << 20))
        redisAuthorities = reader.text("WEBIMAGE_REDIS_CA_FILE")
        if let path = redisAuthorities, readFile(path) == nil {
            reader.fail("WEBIMAGE_REDIS_CA_FILE: \(path) cannot be read")
        }
        redisURL = reader.text("WEBIMAGE_REDIS_URL")
        if let redisURL {
            do throws(RedisError) {
                _ = try RedisConfiguration(url: redisURL)
            } catch {
                reader.fail("WEBIMAGE_REDIS_URL: \(error)")
            }
        }
        if let name = reader.text("WEBIMAGE_CACHE_TAG_HEADER") {
            cacheTagField =
                ["cache-tag": "Cache-Tag", "surrogate-key": "Surrogate-Key", "xkey": "xkey"][name.lowercased()]
            if cacheTagField == nil {
                reader.fail("WEBIMAGE_CACHE_TAG_HEADER must be Cache-Tag, Surrogate-Key or xkey, not \(name)")
            }
        }
    }

    private mutating func readSigning(_ reader: inout EnvironmentReader) {
        let keys = reader.keys("IMGPROXY_KEY")
        let salts = reader.keys("IMGPROXY_SALT")
        if keys.count != salts.count {
            reader.fail(
                "IMGPROXY_KEY and IMGPROXY_SALT must have the same number of values, not \(keys.count) and \(salts.count)"
            )
        }
        grammar.signatures.keys = zip(keys, salts).map(SigningKey.init)
        grammar.signatures.size = reader.whole("IMGPROXY_SIGNATURE_SIZE", 32, in: 1...32)
        grammar.signatures.trusted = Set(reader.list("IMGPROXY_TRUSTED_SIGNATURES"))
        isDevelopment = reader.flag("WEBIMAGE_DEVELOPMENT", false)
        showsErrors = reader.flag("IMGPROXY_DEVELOPMENT_ERRORS_MODE", isDevelopment)
        allowsUnsigned = reader.flag("WEBIMAGE_ALLOW_UNSIGNED", isCompatible)
        secret = reader.text("IMGPROXY_SECRET")
        adminSecret = reader.text("WEBIMAGE_ADMIN_SECRET")
        guard grammar.signatures.keys.isEmpty, !allowsUnsigned, !address.isLocal else { return }
        reader.fail(
            "IMGPROXY_KEY and IMGPROXY_SALT are not set: anybody could request any picture. Set them (openssl rand -hex 32), "
                + "listen on this machine only (IMGPROXY_BIND=127.0.0.1:8080), or set WEBIMAGE_ALLOW_UNSIGNED=true")
    }
}

extension ServerSettings.RateLimit {
    /// Parses `10/s`, `300/m`, `10/s;burst=50`, `10/s;burst=50;by=host`. The default burst is the number of requests a
    /// second.
    init?(_ text: String) {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false)
        let rate = parts[0].split(separator: "/", omittingEmptySubsequences: false)
        guard rate.count == 2, let count = Double(rate[0]), count > 0, count <= 1_000_000,
            let seconds = ["s": 1.0, "m": 60.0][rate[1]]
        else { return nil }
        self.init(perSecond: count / seconds, burst: max(1, Int((count / seconds).rounded(.up))))
        for part in parts.dropFirst() {
            let halves = part.split(separator: "=", omittingEmptySubsequences: false)
            guard halves.count == 2 else { return nil }
            switch halves[0] {
            case "burst":
                guard let burst = Int(halves[1]), (1...1_000_000).contains(burst) else { return nil }
                self.burst = burst
            case "by":
                guard let subject = Subject(rawValue: String(halves[1])) else { return nil }
                self.subject = subject
            default: return nil
            }
        }
    }
}

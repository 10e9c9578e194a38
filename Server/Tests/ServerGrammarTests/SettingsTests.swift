import Foundation
import ServerConfiguration
import ServerGrammar
import Testing
import WebImage

@Suite struct SettingsTests {
    private func settings(_ variables: [String: String]) throws(SettingsError) -> ServerSettings {
        try ServerSettings(environment: variables, readFile: { $0 == "/presets" ? "# a\nx=w:1\n" : nil }, now: { 0 })
    }

    @Test func settingsThatImgproxyAcceptsAreAccepted() throws {
        let read = try settings([
            "IMGPROXY_NETWORK": "tcp6", "IMGPROXY_BIND": ":8080", "IMGPROXY_MAX_CLIENTS": "0",
            "IMGPROXY_KEEP_ALIVE_TIMEOUT": "0", "IMGPROXY_GRACEFUL_STOP_TIMEOUT": "0",
            "IMGPROXY_LOG_FORMAT": "structured", "IMGPROXY_SENTRY_ENVIRONMENT": "x", "IMGPROXY_NEW_RELIC_APP_NAME": "x",
            "IMGPROXY_OPEN_TELEMETRY_SERVER_TIMEOUT": "5", "IMGPROXY_PRESETS": "# none,a=w:1",
            "IMGPROXY_MAX_SRC_RESOLUTION": "2", "WEBIMAGE_ALLOW_UNSIGNED": "true",
            "IMGPROXY_DEVELOPMENT_ERRORS_MODE": "true",
        ])
        #expect(read.address == .tcp(host: "::", port: 8080) && read.maxClients > 2048)
        #expect(read.keepAliveTimeout == .zero && read.gracefulTimeout == .zero && read.logFormat == .structured)
        #expect(read.limits.sourceResolution == 2 && read.limits.animationResolution == 2)
        #expect(read.showsErrors && !read.isDevelopment)
        #expect(read.warnings.count == 3)
        let plain = try settings(["WEBIMAGE_ALLOW_UNSIGNED": "true"])
        #expect(plain.limits.sourceResolution == 50 && plain.limits.animationResolution == 200)
        #expect(throws: SettingsError.self) { try settings(["IMGPROXY_MAX_SRC_RESOLUTION": "0"]) }
    }

    /// Words in any case, with spaces around them, and values of spaces only.
    @Test func valuesAreReadAsImgproxyReadsThem() throws {
        let read = try settings([
            "WEBIMAGE_ALLOW_UNSIGNED": "true", "IMGPROXY_LOG_LEVEL": "WARN", "IMGPROXY_LOG_FORMAT": "JSON",
            "IMGPROXY_WEBP_PRESET": "PHOTO", "IMGPROXY_FORMAT_QUALITY": " jpg = 70 , png = 90 ", "IMGPROXY_TTL": " ",
            "IMGPROXY_PRESETS": "a=w:1||b=h:2", "IMGPROXY_PRESETS_SEPARATOR": "||", "IMGPROXY_TIMEOUT": "7",
            "IMGPROXY_PATH_PREFIX": "imgproxy/?q=v#f", "IMGPROXY_MAX_SRC_RESOLUTION": "1001",
            "IMGPROXY_HEALTH_CHECK_PATH": "healthz/",
        ])
        #expect(read.logLevel == "warn" && read.logFormat == .json && read.output.webpContent == .photo)
        #expect(
            read.output.formatQuality[.jpeg] == 70 && read.output.formatQuality[.png] == 90
                && read.timeToLive == 31_536_000)
        #expect(read.grammar.presets.keys.sorted() == ["a", "b"] && read.grammar.pathPrefix == "/imgproxy")
        #expect(read.gracefulTimeout == .seconds(14) && read.healthPath == "/healthz")
    }

    @Test func olderNamesOfImgproxyAreReadWithAWarning() throws {
        let read = try settings([
            "WEBIMAGE_ALLOW_UNSIGNED": "true", "IMGPROXY_CONCURRENCY": "7", "IMGPROXY_READ_TIMEOUT": "8",
            "IMGPROXY_WRITE_TIMEOUT": "9", "IMGPROXY_ENABLE_WEBP_DETECTION": "1", "IMGPROXY_ETAG_ENABLED": "false",
        ])
        #expect(read.workers == 7 && read.readRequestTimeout == .seconds(8) && read.writeResponseTimeout == .seconds(9))
        #expect(read.output.automatic == [.webp] && !read.usesETag)
        #expect(read.warnings.count == 5)
        #expect(read.warnings.contains("IMGPROXY_CONCURRENCY is an older name; the newer one is IMGPROXY_WORKERS"))
        // The newer name has precedence.
        let both = try settings([
            "WEBIMAGE_ALLOW_UNSIGNED": "true", "IMGPROXY_CONCURRENCY": "7", "IMGPROXY_WORKERS": "3",
        ])
        #expect(both.workers == 3 && both.warnings == ["IMGPROXY_CONCURRENCY is not a setting of this server"])
    }

    @Test func textsAreCompletedAsInImgproxy() throws {
        let read = try settings([
            "WEBIMAGE_ALLOW_UNSIGNED": "true", "IMGPROXY_USER_AGENT": "x/%current_version (y)",
            "IMGPROXY_S3_ENDPOINT": "minio:9000", "IMGPROXY_S3_ENDPOINT_USE_PATH_STYLE": "false",
        ])
        #expect(read.userAgent == "x/\(WebImageVersion.text) (y)")
        #expect(read.s3.endpoint == "http://minio:9000" && read.s3.usesPathStyle == false)
        let plain = try settings([
            "WEBIMAGE_ALLOW_UNSIGNED": "true", "IMGPROXY_S3_ENDPOINT_USE_PATH_STYLE": "false",
        ])
        #expect(plain.s3.usesPathStyle == nil && plain.warnings.isEmpty)
    }

    @Test func aServerForEverybodyNeedsKeys() throws {
        let error = #expect(throws: SettingsError.self) { try settings([:]) }
        #expect(error?.description.contains("IMGPROXY_KEY") == true)
        _ = try settings(["IMGPROXY_BIND": "127.0.0.1:8080"])
        _ = try settings(["IMGPROXY_NETWORK": "unix", "IMGPROXY_BIND": "/tmp/x.sock"])
        _ = try settings(["WEBIMAGE_ALLOW_UNSIGNED": "true"])
        _ = try settings(["IMGPROXY_KEY": "0a", "IMGPROXY_SALT": "0b"])
    }

    @Test(arguments: [
        ("IMGPROXY_TIMEOUT", "x"), ("IMGPROXY_TIMEOUT", "0"), ("IMGPROXY_READ_REQUEST_TIMEOUT", "0"),
        ("IMGPROXY_WRITE_RESPONSE_TIMEOUT", "soon"), ("IMGPROXY_QUALITY", "101"), ("IMGPROXY_KEY", "xyz"),
        ("IMGPROXY_KEY", "0a"), ("IMGPROXY_PRESETS", "a=nope:1"), ("IMGPROXY_PRESETS_PATH", "/nowhere"),
        ("IMGPROXY_BIND", "nowhere"), ("IMGPROXY_FORMAT_QUALITY", "webp:1"),
        ("IMGPROXY_PREFERRED_FORMATS", "jpeg,nope"), ("IMGPROXY_PREFERRED_FORMATS", "svg,jpeg"),
        ("IMGPROXY_CUSTOM_RESPONSE_HEADERS", "A=b"), ("IMGPROXY_BEST_FORMAT_MAX_RESOLUTION", "1"),
        ("IMGPROXY_SYSLOG_ENABLE", "1"), ("IMGPROXY_OPEN_TELEMETRY_CLIENT_CERT", "x"),
        ("IMGPROXY_OPEN_TELEMETRY_SERVER_CERT", "x"), ("IMGPROXY_SOURCE_URL_QUERY_SEPARATOR", ""),
        ("IMGPROXY_S3_USE_DECRYPTION_CLIENT", "1"), ("IMGPROXY_SOURCE_URL_QUERY_SEPARATOR", "?version="),
        ("IMGPROXY_S3_ASSUME_ROLE_ARN", "x"), ("WEBIMAGE_S3_RESULTS", "No"), ("WEBIMAGE_S3_CA_FILE", "/nowhere"),
        ("WEBIMAGE_S3_ORIGINALS", "bucket/a//b"), ("IMGPROXY_USE_S3", "maybe"), ("IMGPROXY_USE_GCS", "1"),
        ("IMGPROXY_OBJECT_DETECTION_CONFIG", "/x"),
        ("IMGPROXY_PNG_QUANTIZE", "maybe"), ("IMGPROXY_PNG_QUANTIZATION_COLORS", "1"), ("IMGPROXY_WEBP_EFFORT", "7"),
        ("IMGPROXY_WEBP_PRESET", "nice"), ("IMGPROXY_JXL_EFFORT", "0"), ("IMGPROXY_AVIF_SPEED", "11"),
        ("IMGPROXY_ENABLE_CLIENT_HINTS", "maybe"),
        ("IMGPROXY_LOCAL_FILESYSTEM_ROOT", "srv"), ("IMGPROXY_COOKIE_BASE_URL", "example.com"),
        ("IMGPROXY_LAST_MODIFIED_BUSTER", "yesterday"), ("IMGPROXY_LAST_MODIFIED_BUSTER", "2026-02-29T00:00:00Z"),
        ("IMGPROXY_SENTRY_DSN", "x"), ("IMGPROXY_SIGNATURE_SIZE", "33"),
        ("IMGPROXY_URL_REPLACEMENTS", "nothing"), ("WEBIMAGE_OVERLOAD_STATUS", "500"),
        ("WEBIMAGE_RATE_LIMIT", "10"), ("WEBIMAGE_RATE_LIMIT", "0/s"), ("WEBIMAGE_RATE_LIMIT", "10/h"),
        ("WEBIMAGE_RATE_LIMIT", "10/s;burst=0"), ("WEBIMAGE_RATE_LIMIT", "10/s;by=name"),
        ("WEBIMAGE_RATE_LIMIT", "10/s;"),
        ("WEBIMAGE_TRUSTED_PROXIES", "10.0.0.0/8,proxy"),
        ("WEBIMAGE_TLS_CERTIFICATE", "/presets"), ("WEBIMAGE_TLS_KEY", "/nowhere"),
        ("IMGPROXY_FALLBACK_IMAGE_HTTP_CODE", "204"), ("IMGPROXY_FALLBACK_IMAGE_HTTP_CODE", "100"),
        ("IMGPROXY_PROMETHEUS_NAMESPACE", "my-app"), ("IMGPROXY_WATERMARK_DATA", "!!!"),
        ("PORT", "eighty"), ("PORT", "65536"), ("WEBIMAGE_COMPAT", "Imgproxy"), ("WEBIMAGE_ISOLATION", "some"),
        ("WEBIMAGE_WITHOUT_SANDBOX", "maybe"),
    ]) func anInvalidSettingIsNamedInTheError(name: String, value: String) {
        var variables = ["WEBIMAGE_ALLOW_UNSIGNED": "true"]
        variables[name] = value
        let error = #expect(throws: SettingsError.self) { try settings(variables) }
        #expect(error?.problems.count == 1)
        #expect(error?.description.contains(name) == true, "\(error?.description ?? "")")
    }

    @Test func filesOfACertificateThatAreNotThereAreNamed() {
        let error = #expect(throws: SettingsError.self) {
            try settings([
                "WEBIMAGE_ALLOW_UNSIGNED": "true", "WEBIMAGE_TLS_CERTIFICATE": "/presets",
                "WEBIMAGE_TLS_KEY": "/nowhere",
            ])
        }
        let problems = error?.problems ?? []
        #expect(problems.contains("WEBIMAGE_TLS_KEY: /nowhere cannot be read"))
        #expect(!problems.contains { $0.hasPrefix("WEBIMAGE_TLS_CERTIFICATE: ") })
    }

    @Test func allProblemsAreToldAtOnce() {
        let error = #expect(throws: SettingsError.self) {
            try settings([
                "IMGPROXY_TIMEOUT": "x", "IMGPROXY_TTL": "y", "IMGPROXY_ETAG_BUSTER": "release 5",
                "WEBIMAGE_ALLOW_UNSIGNED": "1",
            ])
        }
        #expect(error?.problems.count == 3)
    }

    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0), ("2000-02-29T12:00:00z", 951_825_600),
        ("2026-01-31T23:59:60.25+02:00", 1_769_896_800),
        ("1969-12-31T23:00:00-01:00", 0),
    ]) func timesAreReadAsRFC3339WritesThem(_ text: String, _ seconds: Int) throws {
        let read = try settings(["WEBIMAGE_ALLOW_UNSIGNED": "1", "IMGPROXY_LAST_MODIFIED_BUSTER": text])
        #expect(read.lastModifiedBuster == seconds)
    }

    @Test(arguments: [
        "2026-01-31", "2026-01-31T12:00:00", "2026-13-01T00:00:00Z", "2026-01-31T24:00:00Z", "2026-01-31T12:00:00.Z",
        "2026-01-31T12:00:00+0200", "2026-01-31T12:00:00Zx", "+026-01-31T12:00:00Z",
    ]) func timesThatAreNotRFC3339AreRefused(_ text: String) {
        #expect(throws: SettingsError.self) {
            try settings(["WEBIMAGE_ALLOW_UNSIGNED": "1", "IMGPROXY_LAST_MODIFIED_BUSTER": text])
        }
    }

    @Test func unknownNamesAreAWarning() throws {
        let read = try settings(["WEBIMAGE_ALLOW_UNSIGNED": "1", "IMGPROXY_NONSENSE": "1", "HOME": "/x"])
        #expect(read.warnings == ["IMGPROXY_NONSENSE is not a setting of this server"])
    }

    @Test func anAllowedOptionThatThereIsNotIsAWarning() throws {
        let read = try settings([
            "WEBIMAGE_ALLOW_UNSIGNED": "1", "IMGPROXY_ALLOWED_PROCESSING_OPTIONS": "rs, widht,width",
        ])
        #expect(
            read.warnings == [
                "IMGPROXY_ALLOWED_PROCESSING_OPTIONS lists widht, which is not an option of this server"
            ])
        #expect(read.grammar.allowedOptions == ["rs", "widht", "width"])
    }

    /// The files that we ship for fleets and for Debian name only settings that exist, with values that are valid.
    @Test(arguments: ["Fleet/compose.yaml", "Fleet/kubernetes.yaml", "server.conf", "Dockerfile"])
    func shippedFilesNameOnlySettingsThatExist(_ file: String) throws {
        let packaging = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Packaging")
        let text = try String(contentsOf: packaging.appending(path: file), encoding: .utf8)
        var variables = ["IMGPROXY_KEY": "0a", "IMGPROXY_SALT": "0b"]
        // `NAME: value`, `{name: NAME, value: "value"}`, `NAME=value`
        let pattern = /\b((?:WEBIMAGE|IMGPROXY)_[A-Z_]+)(?:, value)?[:=] *"?([^"\s}]*)/
        for match in text.matches(of: pattern) where !match.2.contains("$") && !match.2.isEmpty {
            // This variable chooses what is built; the server does not read it.
            if match.1 == "WEBIMAGE_FORMATS" { continue }
            variables[String(match.1)] = String(match.2)
        }
        #expect(variables.count > 2)
        #expect(try settings(variables).warnings == [])
    }

    @Test func variablesChangeTheirSettings() throws {
        let read = try settings([
            "IMGPROXY_KEY": "0a,0b", "IMGPROXY_SALT": "0c,0d", "IMGPROXY_PRESETS_PATH": "/presets",
            "IMGPROXY_FORMAT_QUALITY": "jpeg=70, avif=50", "IMGPROXY_AUTO_WEBP": "t", "PORT": "9000",
            "IMGPROXY_PATH_PREFIX": "img/",
            "IMGPROXY_MAX_SRC_RESOLUTION": "16.8", "IMGPROXY_OPEN_TELEMETRY_ENABLE": "false",
            "IMGPROXY_READ_REQUEST_TIMEOUT": "3", "IMGPROXY_WRITE_RESPONSE_TIMEOUT": "7",
        ])
        #expect(read.grammar.signatures.keys.count == 2)
        #expect(read.grammar.presets["x"] != nil)
        #expect(read.output.formatQuality[.jpeg] == 70)
        #expect(read.output.formatQuality[.webp] == 79)
        #expect(read.output.automatic == [.webp])
        #expect(read.address == .tcp(host: "", port: 9000))
        #expect(read.grammar.pathPrefix == "/img")
        #expect(read.limits.sourceResolution == 16.8)
        #expect(read.readRequestTimeout == .seconds(3))
        #expect(read.writeResponseTimeout == .seconds(7))
    }

    @Test func variablesChangeTheIsolation() throws {
        func read(_ more: [String: String]) throws -> ServerSettings {
            try settings(more.merging(["WEBIMAGE_ALLOW_UNSIGNED": "1"]) { first, _ in first })
        }
        let plain = try read([:])
        #expect(plain.isolation == .all && !plain.decodesWithoutSandbox)
        let other = try read(["WEBIMAGE_ISOLATION": "automatic", "WEBIMAGE_WITHOUT_SANDBOX": "decode"])
        #expect(other.isolation == .automatic && other.decodesWithoutSandbox)
    }

    @Test func rateLimitsAreRead() throws {
        func limit(_ text: String) throws -> ServerSettings.RateLimit? {
            try settings(["WEBIMAGE_ALLOW_UNSIGNED": "1", "WEBIMAGE_RATE_LIMIT": text]).rateLimit
        }
        #expect(try limit("10/s") == .init(perSecond: 10, burst: 10))
        #expect(try limit("30/m") == .init(perSecond: 0.5, burst: 1))
        #expect(try limit("2.5/s;burst=40;by=ip") == .init(perSecond: 2.5, burst: 40))
        #expect(try limit("1/s;by=key") == .init(perSecond: 1, burst: 1, subject: .key))
        #expect(try limit("1/s;by=host;burst=2") == .init(perSecond: 1, burst: 2, subject: .host))
        #expect(try limit("") == nil)
    }

    @Test(arguments: [
        (":8080", "127.0.0.1:8080", false), ("127.0.0.1:8080", "127.0.0.1:8080", false),
        ("127.0.0.1:8080", "127.0.0.2:8080", true), ("127.0.0.1:8080", "127.0.0.1:8081", true),
        ("127.0.0.1:0", "127.0.0.1:0", true),
    ])
    func twoListenersNeedTwoAddresses(_ pictures: String, _ metrics: String, _ areTwo: Bool) {
        let read = Result {
            try settings([
                "IMGPROXY_BIND": pictures, "IMGPROXY_PROMETHEUS_BIND": metrics, "IMGPROXY_KEY": "0a",
                "IMGPROXY_SALT": "0b",
            ])
        }
        #expect(((try? read.get()) != nil) == areTwo)
    }

    @Test(arguments: [("tcp", ""), ("tcp4", "0.0.0.0"), ("tcp6", "::")])
    func theNetworkSaysWhichAddressesAreMeant(network: String, host: String) throws {
        let read = try settings(["IMGPROXY_NETWORK": network, "WEBIMAGE_ALLOW_UNSIGNED": "true"])
        #expect(read.address == .tcp(host: host, port: 8080) && !read.address.isLocal)
    }

    @Test func compatibilityModeRestoresImgproxysDefaults() throws {
        let read = try settings(["WEBIMAGE_COMPAT": "imgproxy"])
        #expect(read.allowsUnsigned)
        #expect(read.allowsPrivate)
        #expect(read.limits.animationFrames == 1)
        #expect(read.limits.sourceBytes == 0)
        #expect(read.limits.resultResolution == 1000 && read.limits.resultSide == nil)
        #expect(read.queueSize == 1_000_000 && read.isCompatible)
        #expect(read.trustedProxies.contains { $0.contains("203.0.113.9") })
        #expect(read.trustedProxies.contains { $0.contains("2001:db8::1") })
        let limited = try settings(["WEBIMAGE_COMPAT": "imgproxy", "WEBIMAGE_RATE_LIMIT": "10/s"])
        #expect(limited.trustedProxies.isEmpty)
        let own = try settings(["WEBIMAGE_COMPAT": "imgproxy", "WEBIMAGE_TRUSTED_PROXIES": "10.0.0.0/8"])
        #expect(!own.trustedProxies.contains { $0.contains("203.0.113.9") })
    }

    @Test func aLocalFileReplacesVariables() throws {
        let name = "IMGPROXY_ENV_LOCAL_FILE_PATH"
        let files = ["/etc/imgproxy.env": "IMGPROXY_QUALITY=70\nIMGPROXY_TTL=5", "/etc/wrong": "QUALITY"]
        func variables(_ path: String) throws -> [String: String] {
            try SettingsFile.addingLocalFile(to: [name: path, "IMGPROXY_QUALITY": "60", "A": "b"]) { files[$0] }
        }
        #expect(
            try variables("/etc/imgproxy.env") == ["IMGPROXY_QUALITY": "70", "IMGPROXY_TTL": "5", "A": "b"])
        #expect(try variables("")["IMGPROXY_QUALITY"] == "60")
        for path in ["/etc/wrong", "/etc/missing"] {
            let error = #expect(throws: SettingsError.self) { try variables(path) }
            #expect("\(try #require(error))".contains(path))
        }
    }

    /// Lines that both systemd (in an `EnvironmentFile`) and a shell (in a file that it sources) accept.
    @Test(arguments: [
        ("A=b", "b"), ("  A=b  ", "b"), ("A= b ", "b"), ("export A=b", "b"), ("export  A=b", "b"), ("A=\"b c\"", "b c"),
        ("A='b'", "b"), ("A=\"b'", "\"b'"), ("A=\"", "\""), ("A=\"\"", ""), ("A=", ""), ("A=b=c", "b=c"),
        ("A=1\nA=2", "2"),
        ("# A=1\n; A=2\n\nA=3\r\n", "3"), ("\u{FEFF}A=b", "b"), ("A=b # c", "b # c"),
    ])
    func linesOfAFileAreVariables(_ text: String, _ value: String) throws {
        #expect(try SettingsFile.variables(text) == ["A": value])
    }

    @Test(arguments: ["secret", "A=1\n=secret", "set A=secret", "1A=secret", "A-B=secret", "export secret"])
    func otherLinesAreRefusedByTheirNumber(_ text: String) {
        let line = text.split(separator: "\n").count
        #expect {
            try SettingsFile.variables(text)
        } throws: {
            "\($0)" == "line \(line) is not NAME=VALUE"
        }
    }
}

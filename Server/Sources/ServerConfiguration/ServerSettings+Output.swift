import ServerGrammar
import WebImage

extension ServerSettings {
    mutating func readOutput(_ reader: inout EnvironmentReader) {
        output.quality = reader.whole("IMGPROXY_QUALITY", 80, in: 1...100)
        for pair in reader.list("IMGPROXY_FORMAT_QUALITY") {
            let parts = pair.split(separator: "=").map(\.trimmed)
            guard parts.count == 2, let format = ResultFormat(name: parts[0]), let quality = Int(parts[1]),
                (1...100).contains(quality)
            else {
                reader.fail("IMGPROXY_FORMAT_QUALITY must be FORMAT=QUALITY,..., not \(pair)")
                continue
            }
            output.formatQuality[format] = quality
        }
        output.preferredFormats = formats("IMGPROXY_PREFERRED_FORMATS", &reader) ?? output.preferredFormats
        if output.preferredFormats.contains(.svg) {
            reader.fail("IMGPROXY_PREFERRED_FORMATS contains svg, which no picture is converted to")
        }
        output.skipProcessing = Set(formats("IMGPROXY_SKIP_PROCESSING_FORMATS", &reader) ?? [])
        for format in ResultFormat.negotiated {
            let name = format.rawValue.uppercased()
            if reader.flag("IMGPROXY_AUTO_\(name)", false) { output.automatic.insert(format) }
            if reader.flag("IMGPROXY_ENFORCE_\(name)", false) { output.enforced.insert(format) }
        }
        output.progressiveJPEG = reader.flag("IMGPROXY_JPEG_PROGRESSIVE", false)
        output.interlacedPNG = reader.flag("IMGPROXY_PNG_INTERLACED", false)
        let colors = reader.whole("IMGPROXY_PNG_QUANTIZATION_COLORS", 256, in: 2...256)
        output.pngColors = reader.flag("IMGPROXY_PNG_QUANTIZE", false) ? colors : nil
        if reader.text("IMGPROXY_WEBP_EFFORT") != nil {
            output.webpEffort = reader.whole("IMGPROXY_WEBP_EFFORT", 4, in: 0...6)
        }
        output.webpContent = webpContent(&reader)
        output.jxlEffort = reader.whole("IMGPROXY_JXL_EFFORT", 4, in: 1...9)
        output.avifSpeed = reader.whole("IMGPROXY_AVIF_SPEED", 8, in: 0...10)
        output.stripMetadata = reader.flag("IMGPROXY_STRIP_METADATA", true)
        output.keepCopyright = reader.flag("IMGPROXY_KEEP_COPYRIGHT", true)
        output.stripColorProfile = reader.flag("IMGPROXY_STRIP_COLOR_PROFILE", true)
        output.autoRotate = reader.flag("IMGPROXY_AUTO_ROTATE", true)
        output.preserveHDR = reader.flag("IMGPROXY_PRESERVE_HDR", false)
        output.enforcesThumbnail = reader.flag("IMGPROXY_ENFORCE_THUMBNAIL", false)
        output.linearLight = reader.flag("IMGPROXY_USE_LINEAR_COLORSPACE", false)
        output.returnAttachment = reader.flag("IMGPROXY_RETURN_ATTACHMENT", false)
        output.sanitizesSVG = reader.flag("IMGPROXY_SANITIZE_SVG", true)
        output.rasterizesSVG = reader.flag("IMGPROXY_ALWAYS_RASTERIZE_SVG", false)
    }

    private func webpContent(_ reader: inout EnvironmentReader) -> WebPContent {
        // libwebp's names.
        let names: [String: WebPContent] = [
            "default": .picture, "picture": .portrait, "photo": .photo, "drawing": .drawing, "icon": .icon,
            "text": .text,
        ]
        let name = reader.word("IMGPROXY_WEBP_PRESET") ?? "default"
        if let content = names[name] { return content }
        reader.fail("IMGPROXY_WEBP_PRESET is \(names.keys.sorted().joined(separator: ", ")), not \(name)")
        return .picture
    }

    private func formats(_ name: String, _ reader: inout EnvironmentReader) -> [ResultFormat]? {
        let names = reader.list(name)
        let formats = names.compactMap { ResultFormat(name: $0) }
        if formats.count != names.count {
            reader.fail("\(name) contains unknown formats: \(names.joined(separator: ","))")
        }
        return formats.isEmpty ? nil : formats
    }

    mutating func readAnswers(_ reader: inout EnvironmentReader) {
        timeToLive = reader.whole("IMGPROXY_TTL", 31_536_000)
        passesCacheControl = reader.flag("IMGPROXY_CACHE_CONTROL_PASSTHROUGH", false)
        usesETag = reader.flag("IMGPROXY_USE_ETAG", true)
        etagBuster = reader.text("IMGPROXY_ETAG_BUSTER") ?? ""
        // Clients could not send such a tag back (RFC 9110, 8.8.3).
        if !etagBuster.utf8.allSatisfy({ $0 == 0x21 || 0x23...0x7E ~= $0 || $0 >= 0x80 }) {
            reader.fail("IMGPROXY_ETAG_BUSTER must have neither blanks nor quotes: \(etagBuster)")
        }
        usesLastModified = reader.flag("IMGPROXY_USE_LAST_MODIFIED", true)
        if let text = reader.text("IMGPROXY_LAST_MODIFIED_BUSTER") {
            lastModifiedBuster = InternetTime.seconds(text)
            if lastModifiedBuster == nil {
                reader.fail("IMGPROXY_LAST_MODIFIED_BUSTER must be a time like 2026-01-31T12:00:00Z, not \(text)")
            }
        }
        setsCanonical = reader.flag("IMGPROXY_SET_CANONICAL_HEADER", false)
        debugHeaders = reader.flag("IMGPROXY_ENABLE_DEBUG_HEADERS", false)
        allowOrigin = reader.text("IMGPROXY_ALLOW_ORIGIN")
        clientHints = reader.flag("IMGPROXY_ENABLE_CLIENT_HINTS", false)
    }

    mutating func readPictures(_ reader: inout EnvironmentReader) {
        watermark = picture("IMGPROXY_WATERMARK", &reader)
        watermarkOpacity = reader.number("IMGPROXY_WATERMARK_OPACITY", 1, in: 0...1)
        fallback = picture("IMGPROXY_FALLBACK_IMAGE", &reader)
        fallbackStatus = reader.whole("IMGPROXY_FALLBACK_IMAGE_HTTP_CODE", 200, in: 0...599)
        if (1..<200).contains(fallbackStatus) || [204, 205, 304].contains(fallbackStatus) {
            reader.fail("IMGPROXY_FALLBACK_IMAGE_HTTP_CODE must be 0, or a status from 200 to 599 that has a body")
        }
        let seconds = reader.whole("IMGPROXY_FALLBACK_IMAGE_TTL", 0)
        fallbackTTL = seconds > 0 ? seconds : nil
    }

    private func picture(_ name: String, _ reader: inout EnvironmentReader) -> PictureSource? {
        // All three are read, so that an unused one is not reported as unknown.
        let (data, path, url) = (reader.text(name + "_DATA"), reader.text(name + "_PATH"), reader.text(name + "_URL"))
        if let data {
            if Self.bytes(base64: data) == nil { reader.fail("\(name)_DATA is not base64") }
            return .data(data)
        }
        return path.map { .path($0) } ?? url.map { .url($0) }
    }

    /// Decodes base64 in the standard or the URL alphabet, on any number of lines.
    public static func bytes(base64: String) -> [UInt8]? {
        Base64URL.decode(
            String(base64.filter { !$0.isWhitespace }.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }))
    }
}

extension EnvironmentReader {
    /// Features of imgproxy that this server lacks. Setting one is an error, so that no one relies on it.
    private static let absent: [(prefix: String, why: String)] = [
        ("IMGPROXY_S3_ASSUME_ROLE_", "assuming roles is not supported; use AWS_SESSION_TOKEN"),
        ("IMGPROXY_S3_MULTI_REGION", "all buckets are in one region"),
        ("IMGPROXY_S3_USE_DECRYPTION_CLIENT", "client-side encryption of S3 is not supported"),
        ("IMGPROXY_S3_DECRYPTION_CLIENT_ENABLED", "client-side encryption of S3 is not supported"),
        ("IMGPROXY_USE_GCS", "there is no loader for Google Cloud Storage"),
        ("IMGPROXY_GCS_", "there is no loader for Google Cloud Storage"),
        ("IMGPROXY_USE_ABS", "there is no loader for Azure"), ("IMGPROXY_ABS_", "there is no loader for Azure"),
        ("IMGPROXY_USE_SWIFT", "there is no loader for OpenStack"),
        ("IMGPROXY_SWIFT_", "there is no loader for OpenStack"),
        ("IMGPROXY_ENV_AWS_", "settings are not read from clouds"),
        ("IMGPROXY_ENV_GCP_", "settings are not read from clouds"),
        // For monitoring, only the variables that enable it are listed: the others have no effect without these.
        ("IMGPROXY_OPEN_TELEMETRY_ENABLE_", "there is no exporter for it"),
        ("IMGPROXY_OPEN_TELEMETRY_SERVER_CERT", "the collector's certificate must be one that the system trusts"),
        ("IMGPROXY_OPEN_TELEMETRY_CLIENT_", "the exporter has no client certificate"),
        ("IMGPROXY_OPEN_TELEMETRY_ENDPOINT", "use OTEL_EXPORTER_OTLP_ENDPOINT"),
        ("IMGPROXY_SYSLOG_ENABLE", "the log goes to standard output, which journald collects"),
        ("IMGPROXY_NEW_RELIC_KEY", "there is no exporter for it"),
        ("IMGPROXY_DATADOG_ENABLE", "there is no exporter for it"),
        ("IMGPROXY_CLOUD_WATCH_SERVICE_NAME", "there is no exporter for it"),
        ("IMGPROXY_SENTRY_DSN", "there is no reporter for it"),
        ("IMGPROXY_BUGSNAG_KEY", "there is no reporter for it"),
        ("IMGPROXY_HONEYBADGER_KEY", "there is no reporter for it"),
        ("IMGPROXY_AIRBRAKE_PROJECT_", "there is no reporter for it"),
        ("IMGPROXY_CACHE_USE", "it is a part of imgproxy Pro; see WEBIMAGE_CACHE_DIR"),
        ("IMGPROXY_HEIC_QUALITY", "use IMGPROXY_FORMAT_QUALITY"),
    ]

    /// The beginnings of names that only imgproxy Pro has.
    private static let partsOfPro = [
        "ADVANCED_", "ALLOWED_INFO_OPTIONS", "AUTOQUALITY_", "AVIF_SUBSAMPLE", "BEST_FORMAT_", "BLUR_DETECTIONS",
        "CLASSIFICATION_", "COLOR_PROFILES_DIR", "CUSTOM_REQUEST_HEADERS", "CUSTOM_RESPONSE_HEADERS",
        "ENABLE_RAW_FORMATS", "ENABLE_VIDEO_", "FALLBACK_IMAGE_PREPROCESS", "GIF_OPTIMIZE_", "HEALTH_CHECK_MESSAGE",
        "ICO_", "INFO_PRESETS", "JPEG_NO_SUBSAMPLE", "JPEG_OPTIMIZE_SCANS", "JPEG_OVERSHOOT_DERINGING",
        "JPEG_QUANT_TABLE", "JPEG_TRELLIS_QUANT", "MAX_CHAINED_PIPELINES", "OBJECT_DETECTION_", "ONLY_INFO_PRESETS",
        "PDF_NO_BACKGROUND", "REQUEST_HEADERS_PASSTHROUGH", "RESPONSE_HEADERS_PASSTHROUGH", "SMART_CROP_",
        "SOURCE_URL_ENCRYPTION_KEY", "UNSHARP_", "UNSHARPENING_", "VIDEO_", "WATERMARK_PREPROCESS",
        "WEBP_COMPRESSION",
    ]

    /// Refuses variables that enable features which this server lacks.
    mutating func refuseAbsent() {
        for name in unread(["IMGPROXY_"]) {
            guard let why = Self.whyAbsent(name) else { continue }
            guard let value = text(name), !["0", "f", "false"].contains(value.lowercased()) else { continue }
            fail("\(name) is not available: \(why)")
        }
    }

    /// Nil for a variable of another kind.
    private static func whyAbsent(_ name: String) -> String? {
        if let absent = absent.first(where: { name.hasPrefix($0.prefix) }) { return absent.why }
        return partsOfPro.contains { name.hasPrefix("IMGPROXY_" + $0) } ? "it is a part of imgproxy Pro" : nil
    }
}

import WebImage

/// The result of one input, as a line for a person or as a JSON object.
struct PictureReport: Sendable {
    enum Status: String, Sendable {
        case ok
        case partial
        case error
    }

    /// An output that was written.
    struct Output: Sendable {
        var path: String
        var format: ImageFormat?
        var size: PixelSize?
        var byteCount: Int

        init(path: String, format: ImageFormat?, size: PixelSize?, byteCount: Int) {
            (self.path, self.format, self.size, self.byteCount) = (path, format, size, byteCount)
        }

        /// The output of a picture that was encoded.
        init(path: String, format: ImageFormat, image: Image, bytes: [UInt8]) {
            self.init(path: path, format: format, size: image.size, byteCount: bytes.count)
            // The size is read from the output: a large picture is smaller as an icon, and the frames of an animation
            // may have been trimmed to another size than the still.
            guard format == .ico || (image.animation?.frameCount ?? 1) > 1 else { return }
            let header = bytes.withUnsafeBytes { bytes in try? CoderRegistry.standard.readHeader(of: bytes) }
            size = header?.size ?? size
        }
    }

    /// The argument, verbatim.
    var input: String
    /// Whether the argument is a URL or a path.
    var isURL: Bool
    var status = Status.ok
    var error: WebImageError?
    var source: ImageSource?
    var header: ImageHeader?
    var byteCount: Int?
    /// The placeholders; nil if they were not requested.
    var placeholders: Placeholders?
    var output: Output?
    var timings: LoadTimings?
    var encode: Duration?
    /// The size after applying the options, if nothing is written.
    var loadedSize: PixelSize?
    /// How decoders were isolated, if that was requested.
    var isolation: IsolationReport?

    init(input: String) {
        self.input = input
        isURL = Self.hasScheme(input)
    }

    private static func hasScheme(_ text: String) -> Bool {
        ["http:", "https:", "file:", "data:"].contains { text.lowercased().hasPrefix($0) }
    }

    mutating func fail(_ error: WebImageError) {
        self.error = error
        if status == .ok { status = .error }
        if format == nil, let format = error.format ?? (error.cause as? WebImageError)?.format { knownFormat = format }
    }

    /// - Parameter error: why a part of the picture is missing.
    mutating func failPartly(_ error: WebImageError) {
        status = .partial
        fail(error)
    }

    /// The format, if nothing else is known of the picture.
    private var knownFormat: ImageFormat?
    private var format: ImageFormat? { header?.format ?? knownFormat }
}

extension PictureReport {
    var json: String {
        var line = JSONLine()
        line.add(isURL ? "url" : "path", input)
        line.add("status", status.rawValue)
        line.add("error", error.map { Self.errorJSON($0) })
        line.add("source", source?.rawValue)
        line.add("format", format?.rawValue)
        line.add("width", header?.storedSize.width)
        line.add("height", header?.storedSize.height)
        line.add("frames", header?.frameCount)
        line.add("loop_count", header?.loopCount)
        line.add("orientation", header.map { Int($0.orientation.rawValue) })
        line.add("has_alpha", header?.hasAlpha)
        line.add("bit_depth", header?.bitDepth)
        line.add("icc", header?.iccProfile.map { ICCProfile.name(of: $0) ?? "unnamed" })
        line.add("dpi", header?.metadata.density.map { Int($0.horizontal.rounded()) })
        line.add("exif_bytes", header?.metadata.exif?.count)
        line.add("xmp_bytes", header?.metadata.xmp?.count)
        line.add("iptc_bytes", header?.metadata.iptc?.count)
        let photo = header?.metadata.photo
        line.add("taken", photo?.date?.description)
        line.add("camera", photo?.cameraModel ?? photo?.cameraMaker)
        line.add("latitude", degrees: photo?.place?.latitude)
        line.add("longitude", degrees: photo?.place?.longitude)
        line.add("bytes", byteCount)
        line.add("blurhash", placeholders?.blurHash.text)
        line.add("thumbhash", placeholders?.thumbHash.base64)
        line.add("average_color", placeholders?.colors.average?.hexadecimal)
        line.add("dominant_color", placeholders?.colors.dominant?.hexadecimal)
        line.add("palette", placeholders?.palette)
        line.add("output", output?.path)
        line.add("output_format", output?.format?.rawValue)
        line.add("output_width", output?.size?.width)
        line.add("output_height", output?.size?.height)
        line.add("output_bytes", output?.byteCount)
        if let isolation { line.add("isolation", isolation.state.rawValue) }
        line.add("timings_ms", timingsJSON)
        return line.text
    }

    static func errorJSON(_ error: WebImageError) -> JSONLine {
        var line = JSONLine()
        line.add("code", error.code.rawValue)
        line.add("name", error.code.name)
        line.add("message", error.message)
        line.add("cause", (error.cause as? WebImageError).map { errorJSON($0) })
        return line
    }

    private var timingsJSON: JSONLine {
        var line = JSONLine()
        line.add("queue", milliseconds: timings?.queue)
        line.add("connect", milliseconds: timings?.connect)
        line.add("first_byte", milliseconds: timings?.firstByte)
        line.add("transfer", milliseconds: timings?.transfer)
        line.add("decode", milliseconds: timings?.decode)
        line.add("transform", milliseconds: timings?.transform)
        line.add("encode", milliseconds: encode)
        line.add("store", milliseconds: timings?.store)
        line.add("total", milliseconds: timings?.total)
        return line
    }
}

extension PictureReport {
    /// The report as one line for a person.
    var plain: String {
        if let error, status == .error { return "error    \(shownInput): \(Self.sentence(error))" }
        var parts = [status == .ok ? "ok      " : "partial "]
        if let header { parts.append("\(header.format.rawValue) \(header.size)") }
        if let header, header.orientation != .up { parts.append("orientation \(header.orientation.rawValue)") }
        if let byteCount { parts.append(ByteCount(byteCount).description) }
        if let source { parts.append("from \(source.rawValue)") }
        if let total = timings?.total { parts.append(Self.shortTime(total)) }
        parts.append(shownInput)
        if let output { parts.append("-> \(Console.shown(output.path))" + (output.size.map { " \($0)" } ?? "")) }
        if let error { parts.append("(\(Self.sentence(error)))") }
        return parts.joined(separator: " ")
    }

    /// The argument, made safe to show: without passwords, control characters and the data of a `data:` URL.
    var shownInput: String {
        if input.prefix(5).lowercased() == "data:" { return Console.shown(input, most: 60) }
        return Console.shown(isURL ? ImageRequest(input).redactedURL : input)
    }

    /// Prints the report: JSON to standard output; for people, successes to standard output and failures to standard
    /// error.
    func tell(json isJSON: Bool, plain: String) {
        if isJSON { return Console.out(json) }
        status == .ok ? Console.out(plain) : Console.err(plain)
    }

    /// Whether the report is printed. It is not if standard output gets the picture, and not for inputs that were
    /// cancelled because the reader has gone.
    ///
    /// - Parameters:
    ///   - output: the path of the output; nil if nothing is written.
    ///   - isQuiet: whether people are told only failures.
    func isTold(output: String?, isQuiet: Bool, json isJSON: Bool) -> Bool {
        if status == .ok { return output != "-" && (!isQuiet || isJSON) }
        return !(Console.isReaderGone && error?.code == .cancelled)
    }

    /// Reports for each input that it failed. If there is none, only the error is reported.
    static func fail(_ inputs: [String], _ error: WebImageError, json isJSON: Bool) {
        if inputs.isEmpty { Console.err("error: \(sentence(error))") }
        for input in inputs {
            var report = PictureReport(input: input)
            report.fail(error)
            report.tell(json: isJSON, plain: report.plain)
        }
    }

    /// An error for a person. It may quote a server or a file, so that it is made safe to show.
    static func sentence(_ error: WebImageError) -> String {
        var text = "\(error.code.name): \(error.message)"
        if let cause = error.cause as? WebImageError, cause.code != error.code {
            // Most errors already contain the message of their cause.
            let isSaid = error.message.contains(cause.message)
            text += isSaid ? " (\(cause.code.name))" : " (\(cause.code.name): \(cause.message))"
        }
        return Console.shown(text, most: 2000)
    }

    /// A duration in short form: `"37ms"`.
    static func wholeTime(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        return "\(seconds * 1000 + attoseconds / 1_000_000_000_000_000)ms"
    }

    static func shortTime(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let tenths = seconds * 10_000 + attoseconds / 100_000_000_000_000
        return tenths < 100 ? "\(tenths / 10).\(tenths % 10) ms" : "\(tenths / 10) ms"
    }
}

import ServerFiles
import NIOPosix
public import ServerConfiguration
public import ServerGrammar
import Tracing
public import WebImage

/// Loads sources and makes results from them.
public struct PictureMaker: Sendable {
    /// A result, and the cost of making it.
    public struct Made: Sendable {
        public var result: StoredResult
        public var cost = Cost()
    }

    /// Durations in seconds, nil for a stage that did not take place, and bytes.
    public struct Cost: Hashable, Sendable {
        public var queue: Double?
        public var fetch: Double?
        public var decode: Double?
        public var encode: Double?
        /// The bytes that came from the origin for it; nil: the origin sent none.
        public var sourceBytes: Int?

        /// Decoding and encoding; nil if there was neither.
        public var processing: Double? { decode == nil && encode == nil ? nil : (decode ?? 0) + (encode ?? 0) }

        var spent: MissGate.Spent { MissGate.Spent(work: (decode ?? 0) + (encode ?? 0), fetch: fetch ?? 0) }
    }

    public struct Fallback: Sendable {
        public var bytes: [UInt8]
        /// The `Cache-Control` of its own origin, if it has one.
        public var cacheControl: String?

        public init(bytes: [UInt8], cacheControl: String? = nil) {
            (self.bytes, self.cacheControl) = (bytes, cacheControl)
        }
    }

    public let manager: ImageManager
    public let purging: Purging
    private let settings: ServerSettings
    private let watermark: Image?
    /// Identifies the watermark's pixels; empty without one.
    let watermarkName: String
    /// The picture that is used if a source is not available; nil: there is none.
    public let fallback: Fallback?
    /// The name under which results of the fallback picture are cached; it depends on the bytes.
    public let fallbackSource: String
    private let writable: Set<ResultFormat>
    private let now: @Sendable () -> Int

    public init(
        manager: ImageManager, purging: Purging, settings: ServerSettings, watermark: Image?, fallback: Fallback? = nil,
        now: @escaping @Sendable () -> Int
    ) {
        self.manager = manager
        self.purging = purging
        self.settings = settings
        self.watermark = watermark
        watermarkName = watermark.map { ImageTransform.imgproxyWatermark($0, behind: ImgproxyGeometry()).key } ?? ""
        self.fallback = fallback
        fallbackSource = "fallback:" + Base64URL.encode(Digest.sha256(fallback?.bytes ?? []))
        self.now = now
        writable = Set(manager.coders.encodableFormats.compactMap { ResultFormat(name: $0.rawValue) })
    }

    public func choice(_ options: ProcessingOptions, _ accepted: AcceptedFormats) -> FormatChoice {
        FormatChoice(options, settings.output, accepted, writable: writable)
    }

    /// How decoders are isolated.
    public var isolationReport: IsolationReport { manager.isolationReport }

    /// - Parameters:
    ///   - begun: see ``StoredResult/begun``.
    ///   - original: the source with its bytes, if it was just loaded.
    /// - Throws: the refusal for the client.
    public func make(
        _ url: URLGrammar.ParsedURL, _ choice: FormatChoice, begun: Int, timeout: Duration,
        priority: LoadPriority = .normal, from original: OriginalResponse? = nil
    ) async throws(RequestRefusal) -> Made {
        let plan = PicturePlan(url, settings, watermark: watermark)
        let allowance = Allowance(deadline: .now + timeout, priority: priority)
        var lastPurge = purging.lastPurge(url.source)
        while true {
            var request = try plan.request(isStill: choice.isStill, as: choice.certain, timeout: timeout)
            if let fallback, url.source == fallbackSource { request = request.of(fallback.bytes, named: url.source) }
            request.priority = allowance.priority
            purging.prepare(&request, url.source, lastPurge: lastPurge)
            do throws(WebImageError) {
                var (made, tags, isKept) = try await load(plan, request, choice, allowance, original)
                purging.noteLoaded(url.source)
                let last = purging.lastPurge(url.source, tags: tags)
                if isKept, last > lastPurge {
                    // The stored original was purged by one of its tags, which were not known before it was read.
                    lastPurge = last
                    continue
                }
                (made.result.begun, made.result.tags) = (begun, tags)
                return made
            } catch {
                throw RequestRefusal(error, source: url.source, security: url.options.security)
            }
        }
    }

    /// - Returns: the picture, with the tags of the source and whether the source was cached.
    private func load(
        _ plan: PicturePlan, _ request: ImageRequest, _ choice: FormatChoice, _ allowance: Allowance,
        _ loaded: OriginalResponse?
    ) async throws(WebImageError) -> (Made, tags: [UInt64], isKept: Bool) {
        var whole = loaded
        if whole == nil, plan.mayHandOn(settings.output.skipProcessing) { whole = try await original(request) }
        if let original = whole {
            try checkLength(original.byteCount, of: plan.source, plan.options.security)
            let (tags, isKept) = (SourceTags.hashes(of: original.head), original.source != .network)
            if let made = try await handedOn(original, plan, request.decoding.limits) {
                return (made, tags, isKept)
            }
            // All bytes are here, so the picture is decoded from them without another load.
            if let data = original.data {
                let response = try await manager.image(for: request.of(data, named: plan.source))
                return (try await result(of: response, original.head, plan, choice, allowance), tags, isKept)
            }
        }
        let response: ImageResponse
        do throws(WebImageError) {
            response = try await manager.image(for: request)
        } catch {
            // A drawing that is too large or takes too long need not be drawn.
            guard plan.handsOnDrawings, error.isOfDrawing, let answer = try await handedOnDrawing(plan, request) else {
                throw error
            }
            return answer
        }
        try checkLength(response.byteCount, of: plan.source, plan.options.security)
        if plan.handsOnDrawings, response.image.info.format == .svg,
            let answer = try await handedOnDrawing(plan, request)
        {
            return answer
        }
        let made = try await result(of: response, response.head, plan, choice, allowance)
        return (made, SourceTags.hashes(of: response.head), response.source != .network)
    }

    /// Returns a drawing unchanged or without scripts, although its URL did not tell that it is one.
    private func handedOnDrawing(
        _ plan: PicturePlan, _ request: ImageRequest
    ) async throws(WebImageError) -> (Made, tags: [UInt64], isKept: Bool)? {
        let original = try await original(request)
        try checkLength(original.byteCount, of: plan.source, plan.options.security)
        guard let made = try await handedOn(original, plan, request.decoding.limits) else { return nil }
        return (made, SourceTags.hashes(of: original.head), original.source != .network)
    }

    private func original(_ request: ImageRequest) async throws(WebImageError) -> OriginalResponse {
        var whole = request
        whole.options.includesData = true
        return try await manager.keepOriginal(for: whole)
    }

    /// Checks the length of a source. A cached one may have been loaded under a higher limit.
    ///
    /// - Parameter security: the limits that the URL sets for itself.
    public func checkLength(
        _ length: ByteCount?, of source: String, _ security: ProcessingOptions.Security = ProcessingOptions.Security()
    ) throws(WebImageError) {
        let limit = security.bodyLimit ?? settings.limits.bodyLimit
        // The fallback picture is the operator's own.
        guard let length, length > limit, source != fallbackSource else { return }
        throw WebImageError(
            .bodyTooLarge,
            "the body has \(length), more than the limit of \(limit)"
                + LimitNames.advice(security.sourceFileSize, "max_src_file_size", "IMGPROXY_MAX_SRC_FILE_SIZE"))
    }

    /// Formats with a limit of their own make larger pictures smaller.
    private func checkSides(of image: Image, as format: ResultFormat) throws(WebImageError) {
        guard let most = settings.limits.resultSide, ![.webp, .avif, .heic, .ico].contains(format) else { return }
        guard max(image.displaySize.width, image.displaySize.height) > most else { return }
        throw WebImageError(
            .limitExceeded, "the result is \(image.displaySize), and its sides may have at most \(most) pixels")
    }

    /// - Parameter head: the head of the origin's answer.
    private func result(
        of response: ImageResponse, _ head: ResponseHead?, _ plan: PicturePlan, _ choice: FormatChoice,
        _ allowance: Allowance
    ) async throws(WebImageError) -> Made {
        let image = response.image
        Self.traceStages(of: response.timings)
        guard let pixels = image.displaySize.pixelCount,
            Double(pixels) <= settings.limits.resultResolution * 1_000_000
        else {
            throw WebImageError(
                .limitExceeded,
                "the result is \(image.displaySize), more than the \(settings.limits.resultResolution) megapixels allowed; "
                    + "raise WEBIMAGE_MAX_RESULT_RESOLUTION to allow it")
        }
        try plan.checkStill(response.header, frames: image.animation?.frameCount ?? 1)
        try plan.checkFrames(of: image)
        let isAnimated = (image.animation?.frameCount ?? 1) > 1
        let hasAlpha = response.header?.hasAlpha ?? (image.alpha != .opaque)
        let picture = FormatChoice.Picture(
            format: image.info.format, size: image.displaySize, expectsAlpha: plan.expectsAlpha(hasAlpha),
            hasAlpha: plan.options.background == nil && (hasAlpha || image.alpha != .opaque), isAnimated: isAnimated)
        let format: ResultFormat
        do throws(RequestRefusal) {
            format = try choice.format(for: picture)
        } catch {
            throw WebImageError(.cannotEncode, error.detail)
        }
        try checkSides(of: image, as: format)
        let begin = ContinuousClock.now
        let span = startSpan("webimage.encode")
        defer { span.end() }
        // An animated PNG stays animated if the URL asks for no other format. Clients get the media type of PNG.
        let isAPNG = format == .png && isAnimated && image.info.format == .apng && plan.options.format == nil
        let written = plan.withKeptMetadata(image, as: format)
        let bytes = try await encode(written, as: format, isAPNG: isAPNG, plan, allowance)
        let encode = (ContinuousClock.now - begin).inSeconds
        // The displayed size of the source, even if the URL disables applying the orientation tag.
        let original = response.header.map { ($0.ignoredOrientation ?? $0.orientation).displaySize(of: $0.size) }
        let result = StoredResult(
            bytes: bytes, mediaType: format.mediaType, fileExtension: format.fileExtension, storedAt: now(),
            freshness: freshness(head, plan.source), sourceSize: original ?? image.size,
            resultSize: plan.encodeOptions(format).writtenSize(of: written.displaySize),
            sourceBytes: Int(response.byteCount?.bytes ?? 0))
        var cost = Cost()
        let timings = response.timings
        cost.fetch = timings.fetch
        cost.decode = [timings.decode, timings.transform].compactMap { $0 }
            .reduce(nil) { ($0 ?? 0) + $1.inSeconds }
        cost.encode = encode
        cost.sourceBytes =
            SourceRequest.brings(plan.source, response.source) ? Int(response.byteCount?.bytes ?? 0) : nil
        return Made(result: result, cost: cost)
    }

    /// Records spans of a finished load for its transfer and its pixels.
    private static func traceStages(of timings: LoadTimings) {
        let now = DefaultTracerClock.now.nanosecondsSinceEpoch
        func total(_ stages: [Duration?]) -> UInt64? {
            let all = stages.compactMap { $0 }
            return all.isEmpty ? nil : UInt64(max(all.reduce(0) { $0 + $1.inSeconds }, 0) * 1e9)
        }
        func tell(_ name: String, from start: UInt64, for length: UInt64) {
            startSpan(name, at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: start))
                .end(at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: start + length))
        }
        let process = total([timings.decode, timings.transform])
        if let process { tell("webimage.process", from: now - process, for: process) }
        if let fetch = total([timings.connect, timings.firstByte, timings.transfer]) {
            // The stages overlap, because a picture is decoded while it arrives.
            let start = now - UInt64(max(timings.total?.inSeconds ?? 0, 0) * 1e9)
            tell("webimage.fetch", from: min(start, now - fetch), for: fetch)
        }
    }

    /// Makes the description of a source.
    ///
    /// - Parameter begun: see ``StoredResult/begun``.
    func info(
        _ options: InfoOptions, of url: URLGrammar.ParsedURL, begun: Int, timeout: Duration
    ) async throws(RequestRefusal) -> Made {
        let request = try SourceRequest.make(url.source, cookies: url.cookies, settings) {
            $0.caching.policy = .protocol
            ($0.caching.store, $0.caching.query) = ([], [])
            $0.timeout = timeout
            $0.decoding.limits.pixels = Int(settings.limits.sourceResolution * 1_000_000)
            $0.decoding.limits.bytes = max($0.decoding.limits.bytes, settings.limits.bodyLimit)
        }
        do throws(WebImageError) {
            let info = PictureInfo(options: options, manager: manager)
            let facts = try await purging.load(request, url.source) { request throws(WebImageError) in
                let facts = try await info.facts(request)
                try checkLength(facts.byteCount, of: url.source)
                return (facts, facts.head, facts.source)
            }
            let size = facts.header.displaySize
            var result = StoredResult(
                bytes: Array(JSONValue.object(try await info.members(facts)).text.utf8), mediaType: "application/json",
                fileExtension: "json", storedAt: now(), freshness: freshness(facts.head, url.source), sourceSize: size,
                resultSize: size, sourceBytes: Int(facts.byteCount?.bytes ?? 0))
            (result.begun, result.tags) = (begun, SourceTags.hashes(of: facts.head))
            var made = Made(result: result)
            made.cost.sourceBytes =
                SourceRequest.brings(url.source, facts.source) ? Int(facts.receivedByteCount?.bytes ?? 0) : nil
            return made
        } catch {
            throw RequestRefusal(error, source: url.source)
        }
    }

    /// Returns the original unchanged, or an SVG without scripts, if the options or the configuration request this for
    /// its format.
    ///
    /// - Returns: nil if a picture must be made from it.
    private func handedOn(
        _ original: OriginalResponse, _ plan: PicturePlan, _ limits: DecodeLimits
    ) async throws(WebImageError) -> Made? {
        let header = original.header
        guard let format = ResultFormat(ofSource: header.format), var bytes = original.data else { return nil }
        guard plan.handsOn(format) else {
            guard plan.options.format != .svg else {
                throw WebImageError(.cannotEncode, "only a drawing can be an SVG", format: .svg)
            }
            return nil
        }
        try plan.checkStill(header, frames: header.frameCount ?? 1)
        if format == .svg, settings.output.sanitizesSVG { bytes = try await Self.withoutScripts(bytes, limits) }
        var made = Made(
            result: StoredResult(
                bytes: bytes, mediaType: format.mediaType, fileExtension: format.fileExtension, storedAt: now(),
                freshness: freshness(original.head, plan.source), sourceSize: header.displaySize,
                resultSize: header.displaySize, sourceBytes: original.data?.count ?? 0))
        made.cost.fetch = original.timings.fetch
        made.cost.sourceBytes = SourceRequest.brings(plan.source, original.source) ? original.data?.count : nil
        return made
    }

    private static func withoutScripts(
        _ file: [UInt8], _ limits: DecodeLimits
    ) async throws(WebImageError) -> [UInt8] {
        do {
            return try await NIOThreadPool.singleton.runIfActive {
                try SVGSanitizer.withoutScripts(in: file, limits: limits)
            }
        } catch {
            throw error as? WebImageError ?? WebImageError(.shutDown, "the server ends")
        }
    }

    private func freshness(_ head: ResponseHead?, _ source: String) -> SourceFreshness {
        // Files are not guessed to be fresh, because checking them costs nothing.
        SourceFreshness(
            head ?? ResponseHead(status: 200), now: now(), fallback: settings.sourceTTL,
            guesses: !LocalFiles.has(source))
    }

    /// What the origin says about the source of a result.
    enum OriginAnswer {
        case unchanged(SourceFreshness)
        /// With the new source, unless the caches have it: one that may not be stored would be loaded again.
        case changed(OriginalResponse?)
    }

    /// Asks the origin about the source of a result, and loads the source if it has changed.
    func askOrigin(
        of result: StoredResult, _ url: URLGrammar.ParsedURL, timeout: Duration, priority: LoadPriority
    ) async throws(RequestRefusal) -> OriginAnswer {
        var request = try PicturePlan(url, settings).request(isStill: true, timeout: timeout)
        purging.prepare(&request, url.source)
        request.priority = priority
        do throws(WebImageError) {
            let original = try await original(request)
            let freshness = freshness(original.head, url.source)
            let isSentAgain = original.source == .network
            let hasSameLength = original.byteCount.map { Int($0.bytes) == result.sourceBytes } ?? true
            guard freshness.isSameVersion(as: result.freshness, isSentAgain: isSentAgain),
                !isSentAgain || hasSameLength
            else {
                // The servers of a fleet agree on which of them makes a result, and only after that may its source be
                // loaded.
                let isNeeded = isSentAgain && (freshness.forbidsStoring || purging.fleet == nil)
                return .changed(isNeeded ? original : nil)
            }
            return .unchanged(freshness)
        } catch {
            throw RequestRefusal(error, source: url.source, security: url.options.security)
        }
    }
}

extension WebImageError {
    /// Whether an SVG could not be drawn.
    fileprivate var isOfDrawing: Bool { format == .svg || (cause as? WebImageError)?.format == .svg }
}

extension LoadTimings {
    /// How long the load waited for the source, in seconds; nil if it was cached.
    fileprivate var fetch: Double? {
        [connect, firstByte, transfer].compactMap { $0 }.reduce(nil) { ($0 ?? 0) + $1.inSeconds }
    }
}

extension ImageRequest {
    /// The same request for bytes that are in memory.
    fileprivate func of(_ data: [UInt8], named name: String) -> ImageRequest {
        var request = ImageRequest(data: data, name: name)
        request.options.decoding = options.decoding
        request.options.transformers = options.transformers
        (request.options.timeout, request.options.priority) = (options.timeout, options.priority)
        return request
    }
}

extension Duration {
    package var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
    package var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}

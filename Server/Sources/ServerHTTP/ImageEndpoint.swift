import HTTPTypes
public import Logging
public import ServerConfiguration
import ServerGrammar
public import ServerImages
import Synchronization
import WebImage

/// Answers requests: routing, checks, and the header fields that every answer has.
public struct ImageEndpoint: Sendable {
    private static let longestURL = 8 << 10
    private static let policy =
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"

    let settings: ServerSettings
    let service: ImageService
    let state: ServerState
    let metrics: ServerMetrics
    private let knownURLs = KnownURLs()
    let streamedBytes = StreamedBytes()
    let now: @Sendable () -> Int
    private let logger: Logger

    public init(
        settings: ServerSettings, service: ImageService, state: ServerState, metrics: ServerMetrics = ServerMetrics(),
        now: @escaping @Sendable () -> Int, logger: Logger
    ) {
        self.settings = settings
        self.service = service
        self.state = state
        self.metrics = metrics
        self.now = now
        self.logger = logger
    }

    /// - Parameter peer: the other end of the connection; nil if it has no address.
    /// - Returns: the whole answer; errors are answers, too.
    func answer(_ request: HTTPRequest, from peer: ClientAddress? = nil) async -> Answer {
        let begin = ContinuousClock.now
        let id = Self.requestID(request.headerFields[.requestID])
        var record = RequestRecord(id: id)
        record.client = client(of: request, peer)
        record.forwardedHost = forwardedHost(of: request, peer)
        metrics.begin()
        guard settings.tracing != nil else {
            return finish(await routeWithin(request, &record), request, record, since: begin)
        }
        let span = RequestSpan(request)
        record.span = span
        return await span.run { finish(await routeWithin(request, &record), request, record, since: begin) }
    }

    /// Notes how many requests of this server this one is within.
    private func routeWithin(_ request: HTTPRequest, _ record: inout RequestRecord) async -> Answer {
        let depth = SourceLoop.depth(of: request.headerFields)
        if depth == 0 { return await route(request, &record) }
        return await SourceLoop.$depth.withValue(depth) { await route(request, &record) }
    }

    /// Returns the answer if the result is in memory and the URL was seen recently. Does not wait.
    func answerFromMemory(_ request: HTTPRequest, from peer: ClientAddress? = nil) -> Answer? {
        let begin = ContinuousClock.now
        let fields = request.headerFields
        guard request.method == .get || request.method == .head, settings.secret == nil, state.current == .ready,
            !settings.clientHints,
            !settings.cookies.arePassedOn,
            !Self.hasBody(request),
            let known = knownURLs.known(.init(target: request.path ?? "", accept: fields[.accept])),
            let found = service.cached(known.key, source: known.url.source),
            found.result.bytes.count <= MemoryAnswers.longestBody
        else { return nil }
        var record = RequestRecord(id: Self.requestID(fields[.requestID]))
        if settings.tracing != nil { record.span = RequestSpan(request) }
        record.client = client(of: request, peer)
        metrics.begin()
        record.take(found, known.host)
        let answer = ResultAnswer(settings: settings, url: known.url, now: now(), known: known.disposition)
            .answer(found, fields)
        return finish(answer, request, record, since: begin)
    }

    private func client(of request: HTTPRequest, _ peer: ClientAddress?) -> ClientAddress? {
        ClientAddress.behindProxies(peer, request.headerFields, trusted: settings.trustedProxies)
    }

    /// The host that the client requested, as reported by a trusted proxy.
    private func forwardedHost(of request: HTTPRequest, _ peer: ClientAddress?) -> String? {
        guard settings.cookies.arePassedOn, !settings.trustedProxies.isEmpty,
            peer.map({ peer in settings.trustedProxies.contains { $0.contains(peer.text) } }) ?? true
        else { return nil }
        return request.headerFields[.named("X-Forwarded-Host")]
    }

    /// Adds the fields that all answers have, and records the request in log and metrics.
    private func finish(
        _ answer: Answer, _ request: HTTPRequest, _ record: RequestRecord, since begin: ContinuousClock.Instant
    ) -> Answer {
        var (answer, record) = (answer, record)
        answer.fields[.requestID] = record.id
        if answer.fields[.contentSecurityPolicy] == nil { answer.fields[.contentSecurityPolicy] = Self.policy }
        answer.fields[.named("X-Content-Type-Options")] = "nosniff"
        if let origin = settings.allowOrigin {
            answer.fields[.accessControlAllowOrigin] = origin
            answer.fields[.accessControlAllowMethods] = "GET, OPTIONS"
        }
        // Request bodies are not read, because reading small chunks would cost the server more than sending them costs
        // the client. The connection is closed instead.
        if Self.hasBody(request) || state.current == .draining || settings.keepAliveTimeout == .zero {
            answer.fields[.connection] = "close"
        }
        switch answer.body {
        case _ where Self.hasNoBody(answer.status): answer.body = .none
        case .bytes(let bytes): answer.fields[.contentLength] = "\(bytes.count)"
        case .none: answer.fields[.contentLength] = "0"
        case .stream: break
        }
        if request.method == .head { answer.body = .none }
        if case .bytes(let bytes) = answer.body { record.bytesOut = bytes.count }
        record.status = answer.status
        if case .stream(let body) = answer.body {
            body.whenEnded { [record, bytes = body.bytes] sent, error in
                var record = record
                record.bytesOut = sent
                if record.asksOrigin { record.bytesIn = Int(bytes.receivedByteCount.bytes) }
                if let error { (record.refusal, record.isCut) = (RequestRefusal(error, source: ""), true) }
                tell(request, record, since: begin)
            }
        } else {
            tell(request, record, since: begin)
        }
        return answer
    }

    /// Records a finished request in log, metrics and traces.
    private func tell(_ request: HTTPRequest, _ record: RequestRecord, since begin: ContinuousClock.Instant) {
        var record = record
        record.seconds = (ContinuousClock.now - begin).inSeconds
        metrics.end(record)
        record.span?.end(request, record, settings.grammar)
        if logger.logLevel <= record.level {
            record.write(to: logger, request, settings.grammar)
        }
    }

    private static func hasBody(_ request: HTTPRequest) -> Bool {
        let fields = request.headerFields
        return fields[.transferEncoding] != nil || (fields[.contentLength] ?? "0") != "0"
    }

    /// Whether an answer of this status has no body (RFC 9112, 6.3).
    static func hasNoBody(_ status: Int) -> Bool { status < 200 || status == 204 || status == 304 }

    private func route(_ request: HTTPRequest, _ record: inout RequestRecord) async -> Answer {
        let target = request.path ?? "/"
        let path = target.prefix { $0 != "?" }
        switch request.method {
        case .get, .head: break
        case .options: return Answer(status: 200)
        default: return Answer(status: 405, fields: [.allow: "GET, HEAD, OPTIONS"])
        }
        // Only needed for HTTP/2: the parser of HTTP/1.1 refuses such paths itself.
        guard target.utf8.allSatisfy({ $0 < 0x80 }) else { return .text("Bad Request", status: 400) }
        guard target.utf8.count <= Self.longestURL else { return .text("URI Too Long", status: 414) }
        if Self.hasBody(request) { return .text("Content Too Large", status: 413) }
        let prefix = settings.grammar.pathPrefix
        let hasPrefix = prefix.isEmpty || path == prefix || path.hasPrefix(prefix + "/")
        let rest = hasPrefix ? path.dropFirst(prefix.count) : path
        if rest == "/health" || settings.healthPath.map({ $0 == rest }) == true {
            var answer = Answer.text("webimage is running")
            answer.fields[.cacheControl] = "no-cache"
            return answer
        }
        switch rest {
        case "/ready": return readiness
        case "/", "": return settings.isDevelopment ? DevelopmentPage.answer(settings) : .text("webimage-server")
        case "/favicon.ico", "/robots.txt": return Answer(status: 404)
        default: break
        }
        do throws(RequestRefusal) {
            try authorise(request)
            if settings.isDevelopment, rest == "/sign" { return try signed(target) }
            guard hasPrefix else { throw .invalidURL("the path does not begin with \(prefix)") }
            if SourceLoop.depth >= SourceLoop.most { throw .loop }
            let (infoPath, setsPath) = (URLGrammar.infoPath, URLGrammar.setsPath)
            if rest.hasPrefix(infoPath + "/") {
                return try await info(prefix + rest.dropFirst(infoPath.count), request, &record)
            }
            if rest.hasPrefix(setsPath + "/") {
                return try await srcset(rest.dropFirst(setsPath.count), request, &record)
            }
            return try await picture(target, request, &record)
        } catch {
            var error = error
            if error.status == 429, error.kind == .queue { error.status = settings.overloadStatus }
            record.refusal = error
            let isConditional =
                request.headerFields[.ifNoneMatch] != nil || request.headerFields[.ifModifiedSince] != nil
            if error.fault == .unchanged, isConditional { return Answer(status: 304) }
            return .refusal(error, showsDetail: settings.showsErrors)
        }
    }

    var readiness: Answer { readiness(decoders: service.maker.isolationReport) }

    func readiness(decoders: IsolationReport) -> Answer {
        let phase = state.current
        if phase != .ready { return .text(phase.rawValue, status: 503) }
        if service.gate.isFull { return .text("overloaded", status: 503) }
        return decoders.startsAgainIn != nil && decoders.running == 0
            ? .text("decoders do not start", status: 503) : .text("ready")
    }

    private func authorise(_ request: HTTPRequest) throws(RequestRefusal) {
        guard let secret = settings.secret else { return }
        try check(request, secret, named: "IMGPROXY_SECRET")
    }

    func authorisePurge(_ request: HTTPRequest) throws(RequestRefusal) {
        guard let secret = settings.adminSecret else { return try authorise(request) }
        try check(request, secret, named: "WEBIMAGE_ADMIN_SECRET")
    }

    private func check(_ request: HTTPRequest, _ secret: String, named name: String) throws(RequestRefusal) {
        let given = Digest.sha256(Array((request.headerFields[.authorization] ?? "").utf8))
        // Digests are compared, so that the duration reveals nothing about the secret.
        guard given == Digest.sha256(Array("Bearer \(secret)".utf8)) else {
            throw .forbidden("the bearer is not \(name)")
        }
    }

    // MARK: - Pictures

    func picture(
        _ target: String, _ request: HTTPRequest, _ record: inout RequestRecord
    ) async throws(RequestRefusal) -> Answer {
        let url = try parse(target, request, record)
        if url.options.raw { return try await raw(url, request, &record) }
        let choice = service.maker.choice(url.options, AcceptedFormats(accept: request.headerFields[.accept]))
        let key = service.key(url, choice)
        let found: ImageService.Found
        do throws(RequestRefusal) {
            try SourceRequest.check(url.source, settings)
            if let hit = service.cached(key, source: url.source) {
                found = hit
            } else {
                found = try await service.find(url, choice, client: record.client?.key)
            }
        } catch {
            guard let answer = try await fallback(for: error, url, choice, request, record.client) else { throw error }
            record.refusal = error
            return answer
        }
        let host = SourceURL(url.source)?.host
        record.take(found, host)
        var answer = ResultAnswer(settings: settings, url: url, now: now())
        let fileExtension = found.result.fileExtension
        let disposition = ResultAnswer.Disposition(
            fileExtension: fileExtension, text: answer.disposition(fileExtension))
        answer.known = disposition
        // A URL that expires must be checked each time, and a long one is not worth the memory.
        let asked = KnownURLs.Asked(target: target, accept: request.headerFields[.accept])
        if url.options.expires == 0, !settings.clientHints, !settings.cookies.arePassedOn, asked.length <= 2048 {
            knownURLs.keep(.init(url: url, key: key, host: host, disposition: disposition), asked)
        }
        return try sharing(answer.answer(found, request.headerFields), found.result, key, request, record.client)
    }

    /// Lets all answers with a result share its bytes, which count until the client has read them.
    private func sharing(
        _ answer: Answer, _ result: StoredResult, _ key: String, _ request: HTTPRequest,
        _ client: ClientAddress?
    ) throws(RequestRefusal) -> Answer {
        guard case .bytes = answer.body, request.method != .head else { return answer }
        guard let share = service.cache.share(result, key, for: client?.key) else {
            throw .overloaded("too many bytes of results wait for clients to read them, or for this client")
        }
        var answer = answer
        (answer.body, answer.share) = (.bytes(share.bytes), share)
        return answer
    }

    /// Applies the URL's options to the fallback picture, if a source is not available.
    ///
    /// - Returns: nil if there is no fallback picture, or it cannot be processed.
    private func fallback(
        for refusal: RequestRefusal, _ url: URLGrammar.ParsedURL, _ choice: FormatChoice, _ request: HTTPRequest,
        _ client: ClientAddress?
    ) async throws(RequestRefusal) -> Answer? {
        guard refusal.hasNoSource, let picture = service.maker.fallback else { return nil }
        var other = url
        // The request has been counted.
        (other.source, other.cookies, other.signer) = (service.maker.fallbackSource, nil, nil)
        guard var found = try? await service.find(other, choice) else { return nil }
        found.result.freshness.cacheControl = picture.cacheControl
        let answer = ResultAnswer(settings: settings, url: url, now: now()).answer(found, insteadOf: refusal)
        return try sharing(answer, found.result, service.key(other, choice), request, client)
    }

    /// Adds the client's cookies that are sent to the origin of the source.
    func addCookies(of request: HTTPRequest, _ record: RequestRecord, to url: inout URLGrammar.ParsedURL) {
        url.mayHaveCookies = PassedCookies(settings: settings.cookies)
            .go(to: url.source, from: request, forwardedHost: record.forwardedHost)
        guard url.mayHaveCookies, let cookies = request.headerFields[.cookie], !cookies.isEmpty else { return }
        url.cookies = cookies
    }

    /// Parses the URL, and applies the client hints.
    func parse(
        _ target: String, _ request: HTTPRequest, _ record: RequestRecord
    ) throws(RequestRefusal) -> URLGrammar.ParsedURL {
        var url = try settings.grammar.parse(target: target)
        guard settings.grammar.allows(source: url.source) else {
            throw .invalidSource("IMGPROXY_ALLOWED_SOURCES does not list the source, or its path has segments of dots")
        }
        for warning in url.options.warnings { logger.debug("\(warning)") }
        // The URL may be kept, and a long one can have many.
        url.options.warnings = []
        addCookies(of: request, record, to: &url)
        guard settings.clientHints else { return url }
        let fields = request.headerFields
        // If the newer hint is not valid, the older one counts.
        let dpr = [fields[.clientHintDPR], fields[.dpr]].lazy.compactMap { $0.flatMap { Double($0) } }
            .first { $0 > 0 && $0 <= 8 }.map { max($0, 0.0001) }
        if let dpr, !url.options.saysDPR { url.options.geometry.dpr = dpr }
        let width = [fields[.clientHintWidth], fields[.width]].lazy.compactMap { $0.flatMap { Int($0) } }
            .first { $0 > 0 && $0 <= 1 << 20 }
        if let width, !url.options.saysWidth {
            let wanted = (Double(width) / (dpr ?? 1)).rounded()
            if wanted <= 0x1p20 { url.options.geometry.width = Int(wanted) }
        }
        return url
    }

    /// Returns the path given in the query `path` with its signature, for the development page.
    private func signed(_ target: String) throws(RequestRefusal) -> Answer {
        guard let query = target.split(separator: "?", maxSplits: 1).dropFirst().first,
            query.hasPrefix("path="), let path = PercentEncoding.decode(query.dropFirst(5))
        else { throw .invalidURL("/sign needs the parameter path=") }
        return .text(settings.grammar.signed(path))
    }

    private static func requestID(_ given: String?) -> String {
        if let given, !given.isEmpty, given.utf8.count <= 128,
            given.utf8.allSatisfy({ byte in
                let character = Character(UnicodeScalar(byte))
                return byte < 128 && (character.isLetter || character.isNumber || character == "_" || character == "-")
            })
        {
            return given
        }
        return RequestNumbers.next()
    }
}

/// Makes ids for requests without one: unique within a process, and with high probability across processes.
private enum RequestNumbers {
    private static let state = Mutex(UInt64.random(in: .min ... .max))
    private static let start = UInt64.random(in: .min ... .max)

    static func next() -> String {
        // SplitMix64: the system's cryptographic generator costs a microsecond.
        var number = state.withLock { state in
            state &+= 0x9E37_79B9_7F4A_7C15
            return state
        }
        number = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
        number = (number ^ (number >> 27)) &* 0x94D0_49BB_1331_11EB
        number ^= number >> 31
        return withUnsafeBytes(of: (start, number)) { Base64URL.encode($0) }
    }
}

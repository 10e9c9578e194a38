import WebImage
import HTTPTypes
import ServerConfiguration
import ServerGrammar
import ServerImages

/// Makes the answer that holds a result, or says that the client has it already.
struct ResultAnswer {
    let settings: ServerSettings
    let url: URLGrammar.ParsedURL
    let now: Int
    /// The known file name of the result, if any.
    var known: Disposition?

    /// The file name that a client saves a result under.
    struct Disposition: Sendable {
        let fileExtension: String
        let text: String
    }

    private var options: ProcessingOptions { url.options }
    private var source: String { url.source }

    /// - Parameters:
    ///   - found: the result, and where it was found.
    ///   - request: the fields of the request, for its conditions.
    func answer(_ found: ImageService.Found, _ request: HTTPFields) -> Answer {
        let result = found.result
        var fields: HTTPFields = [
            .contentType: result.mediaType, .contentDisposition: disposition(result),
            .cacheControl: cacheControl(result.freshness), .cacheStatus: Self.cacheStatus(found.source),
        ]
        let eTag = settings.etagBuster.isEmpty ? result.eTag : "\"\(settings.etagBuster)/" + result.eTag.dropFirst()
        if settings.usesETag { fields[.eTag] = eTag }
        if settings.usesLastModified { fields[.lastModified] = lastModified(result) }
        fields[.vary] = vary
        fields[.named("Link")] = canonicalLink
        if let field = settings.cacheTagField { fields[.named(field)] = Self.cacheTag(source) }
        if settings.debugHeaders {
            fields[.named("X-Origin-Width")] = "\(result.sourceSize.width)"
            fields[.named("X-Origin-Height")] = "\(result.sourceSize.height)"
            fields[.named("X-Origin-Content-Length")] = "\(result.sourceBytes)"
            fields[.named("X-Result-Width")] = "\(result.resultSize.width)"
            fields[.named("X-Result-Height")] = "\(result.resultSize.height)"
        }
        if settings.isDevelopment || settings.debugHeaders, let cost = found.cost {
            fields[.named("Server-Timing")] = Self.serverTiming(cost)
        }
        fields[.age] = age(result.freshness)
        let known = RequestConditions(fields: request, now: now)
        if known.isKnown(eTag: fields[.eTag], lastModified: fields[.lastModified]) {
            fields[.contentType] = nil
            fields[.contentDisposition] = nil
            return Answer(status: 304, fields: fields)
        }
        return Answer(fields: fields, body: .bytes(result.bytes))
    }

    /// Makes the answer that holds the fallback picture. Its own `Cache-Control` is passed on as that of a source, unless
    /// the configuration states a lifetime for it.
    func answer(_ fallback: ImageService.Found, insteadOf refusal: RequestRefusal) -> Answer {
        var answer = answer(fallback, [:])
        (answer.fields[.eTag], answer.fields[.lastModified], answer.fields[.age]) = (nil, nil, nil)
        answer.fields[.named("Fallback-Image")] = "1"
        answer.status = settings.fallbackStatus == 0 ? refusal.status : settings.fallbackStatus
        // As other errors, one with a picture states no lifetime, unless the configuration or the URL does.
        let hasLifetime = answer.status < 400 || settings.fallbackTTL != nil || options.expires > 0
        let lifetime = settings.fallbackTTL.map { cacheControl(for: $0) } ?? cacheControl(fallback.result.freshness)
        answer.fields[.cacheControl] = hasLifetime ? lifetime : nil
        return answer
    }

    /// The cache tag, the same for all results of a source: `s-` and 16 hexadecimal digits.
    static func cacheTag(_ source: String) -> String {
        let digits = Digest.sha256(Array(source.utf8)).prefix(8).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return "s-" + digits.joined()
    }

    /// What the answer depends on beside the URL; nil: on nothing.
    private var vary: String? {
        var names: [String] = []
        if !settings.output.automatic.isEmpty || !settings.output.enforced.isEmpty { names.append("Accept") }
        if url.mayHaveCookies { names.append("Cookie") }
        if settings.clientHints { names += ["Sec-CH-DPR", "DPR", "Sec-CH-Width", "Width"] }
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }

    /// The URL of the source without credentials, for `Link: rel="canonical"`; nil if it is not sent.
    var canonicalLink: String? {
        guard settings.setsCanonical, let url = SourceURL(source), url.isWeb else { return nil }
        return "<\(PercentEncoding.asLink(url.withoutUser))>; rel=\"canonical\""
    }

    /// - Parameter origin: the origin's freshness, which is used if the configuration says so.
    func cacheControl(_ origin: SourceFreshness) -> String {
        if settings.passesCacheControl, options.expires == 0 {
            if let own = origin.cacheControl { return url.cookies == nil ? own : Self.forOneUser(own) }
            // An expiry date in the past, or one that is invalid, is ignored, as in imgproxy. The origin's clock may be
            // wrong, so the remaining time counts.
            if let expires = origin.expires, expires > now {
                return "max-age=\(max(origin.freshUntil - now, 0)), \(audience)"
            }
        }
        return cacheControl(for: settings.timeToLive)
    }

    /// The directives without those that let shared caches store the answer.
    private static func forOneUser(_ directives: String) -> String {
        let kept = directives.split(separator: ",").map { $0.split(separator: " ").joined(separator: " ") }.filter {
            let name = $0.prefix { $0 != "=" }.lowercased()
            return !["public", "s-maxage", "private"].contains(name)
        }
        return (["private"] + kept).joined(separator: ", ")
    }

    /// The age of the origin's answer, if its own lifetime is passed on; otherwise nil.
    func age(_ origin: SourceFreshness) -> String? {
        guard settings.passesCacheControl, options.expires == 0, origin.cacheControl != nil else { return nil }
        return "\(max(now - origin.madeAt, 0))"
    }

    /// - Parameter seconds: the lifetime, unless the URL expires earlier.
    private func cacheControl(for seconds: Int) -> String {
        var seconds = seconds
        if options.expires > 0 { seconds = min(seconds, options.expires - now) }
        return seconds > 0 ? "max-age=\(seconds), \(audience)" : "no-cache"
    }

    /// Who may cache the answer: one that was made with a client's cookies is for that client only.
    private var audience: String { url.cookies == nil ? "public" : "private" }

    /// The origin's date, or `IMGPROXY_LAST_MODIFIED_BUSTER` if that is later.
    private func lastModified(_ result: StoredResult) -> String? {
        guard let own = result.freshness.lastModified, let buster = settings.lastModifiedBuster else {
            return result.freshness.lastModified
        }
        return HTTPFieldText.date(own, now: now).map { $0 < buster } ?? true ? HTTPDateText.text(buster) : own
    }

    private func disposition(_ result: StoredResult) -> String {
        if let known, known.fileExtension == result.fileExtension { return known.text }
        return disposition(result.fileExtension)
    }

    /// The last component of the source's path; empty if there is none.
    private var sourceName: Substring { SourceURL(source)?.name ?? "" }

    /// The extension of the source's name; nil if there is none.
    var sourceExtension: String? { sourceName.split(separator: ".").dropFirst().last.map(String.init) }

    /// - Parameter fileExtension: nil: the extension of the source's own name.
    func disposition(_ fileExtension: String?) -> String {
        var name = sourceName
        // A decoded name may be a path, which is no name of a file.
        if let decoded = PercentEncoding.decode(name) { name = decoded.split(separator: "/").last ?? "" }
        var stem = String(name)
        if let dot = name.lastIndex(of: "."), fileExtension != nil { stem = String(name[..<dot]) }
        if !options.filename.isEmpty { stem = options.filename }
        if stem.isEmpty { stem = "image" }
        let whole = fileExtension.map { stem + "." + $0 } ?? stem
        let quoted = whole.unicodeScalars.map { scalar -> String in
            if scalar == "\"" { return "%22" }
            return scalar.value < 32 || scalar.value == 127 ? "_" : String(scalar)
        }.joined()
        let kind = options.returnAttachment ?? settings.output.returnAttachment ? "attachment" : "inline"
        return "\(kind); filename=\"\(quoted)\""
    }

    /// The durations of the stages of making the picture in milliseconds, in the format of W3C's Server Timing.
    static func serverTiming(_ cost: PictureMaker.Cost) -> String {
        let stages = [
            ("queue", cost.queue), ("fetch", cost.fetch), ("decode", cost.decode), ("encode", cost.encode),
        ]
        return stages.compactMap { name, seconds in
            seconds.map { "\(name);dur=\(($0 * 10_000).rounded() / 10)" }
        }.joined(separator: ", ")
    }

    /// The format of RFC 9211.
    private static func cacheStatus(_ source: ImageService.Source) -> String {
        switch source {
        case .memory, .disk, .stale, .shared, .stored: "webimage; hit; detail=\(source.rawValue)"
        case .miss: "webimage; fwd=miss"
        case .collapsed: "webimage; fwd=miss; collapsed"
        }
    }
}

import WebImage
import HTTPTypes
import ServerConfiguration
import ServerGrammar
import ServerImages

/// The answer that holds a result, or says that the client has it.
struct ResultAnswer {
    let settings: ServerSettings
    let options: ProcessingOptions
    let source: String
    let now: Int

    /// - Parameters:
    ///   - found: the result and where it was.
    ///   - request: fields of the request, for its conditions.
    func answer(_ found: ImageService.Found, _ request: HTTPFields) -> Answer {
        let result = found.result
        var fields: HTTPFields = [
            .contentType: result.mediaType, .contentDisposition: disposition(result),
            .cacheControl: cacheControl(result), .cacheStatus: Self.cacheStatus(found.source),
        ]
        let eTag = settings.etagBuster.isEmpty ? result.eTag : "\"\(settings.etagBuster)/" + result.eTag.dropFirst()
        if settings.usesETag { fields[.eTag] = eTag }
        if settings.usesLastModified { fields[.lastModified] = result.freshness.lastModified }
        if let vary = Self.vary(settings) { fields[.vary] = vary }
        if settings.setsCanonical, source.hasPrefix("http") {
            fields[HTTPField.Name.named("Link")] = "<\(source)>; rel=\"canonical\""
        }
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
        if isKnown(eTag, result.freshness.lastModified, request) {
            fields[.contentType] = nil
            fields[.contentDisposition] = nil
            return Answer(status: 304, fields: fields)
        }
        return Answer(fields: fields, body: .bytes(result.bytes))
    }

    /// Whether the client has this result already (RFC 9110, section 13.1).
    private func isKnown(_ eTag: String, _ lastModified: String?, _ request: HTTPFields) -> Bool {
        if settings.usesETag, let wanted = request[.ifNoneMatch] {
            return wanted.split(separator: ",").contains { text in
                var tag = text.drop(while: \.isWhitespace)
                while tag.last?.isWhitespace == true { tag.removeLast() }
                return tag == "*" || (tag.hasPrefix("W/") ? tag.dropFirst(2) : tag) == eTag
            }
        }
        guard settings.usesLastModified, request[.ifNoneMatch] == nil,
            let since = request[.ifModifiedSince].flatMap({ HTTPDateText.seconds($0) }),
            let modified = lastModified.flatMap({ HTTPDateText.seconds($0) })
        else { return false }
        return modified <= since
    }

    /// The same for all results of a source: `s-` and 16 hexadecimal digits.
    static func cacheTag(_ source: String) -> String {
        let digits = Digest.sha256(Array(source.utf8)).prefix(8).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return "s-" + digits.joined()
    }

    static func vary(_ settings: ServerSettings) -> String? {
        var names: [String] = []
        if !settings.output.automatic.isEmpty || !settings.output.enforced.isEmpty { names.append("Accept") }
        if settings.clientHints { names += ["Sec-CH-DPR", "DPR", "Sec-CH-Width", "Width"] }
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }

    private func cacheControl(_ result: StoredResult) -> String {
        if settings.passesCacheControl {
            if let own = result.freshness.cacheControl { return own }
            if let seconds = result.freshness.expiresIn { return "max-age=\(seconds), public" }
        }
        return Self.cacheControl(options, settings.timeToLive, now)
    }

    static func cacheControl(_ options: ProcessingOptions, _ timeToLive: Int, _ now: Int) -> String {
        var seconds = timeToLive
        if options.expires > 0 { seconds = min(seconds, options.expires - now) }
        return seconds > 0 ? "max-age=\(seconds), public" : "no-cache"
    }

    private func disposition(_ result: StoredResult) -> String {
        disposition(result.fileExtension)
    }

    /// - Parameter fileExtension: nil: that of the source's own name.
    func disposition(_ fileExtension: String?) -> String {
        let path = source.prefix { $0 != "?" && $0 != "#" }
        var name =
            path.contains("://")
            ? path.split(separator: "/").dropFirst(2).last ?? "" : path.split(separator: "/").last ?? ""
        if let decoded = PercentEncoding.decode(name) { name = decoded[...] }
        var stem = String(name)
        if let dot = name.lastIndex(of: "."), dot > name.startIndex, fileExtension != nil {
            stem = String(name[..<dot])
        }
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

    /// By W3C's Server Timing, in milliseconds: what making the picture took, stage by stage.
    static func serverTiming(_ cost: PictureMaker.Cost) -> String {
        let stages = [
            ("queue", cost.queue), ("fetch", cost.fetch), ("decode", cost.decode), ("encode", cost.encode),
        ]
        return stages.compactMap { name, seconds in
            seconds.map { "\(name);dur=\(($0 * 10_000).rounded() / 10)" }
        }.joined(separator: ", ")
    }

    /// By RFC 9211.
    private static func cacheStatus(_ source: ImageService.Source) -> String {
        switch source {
        case .memory, .disk, .stale, .shared, .stored: "webimage; hit; detail=\(source.rawValue)"
        case .miss: "webimage; fwd=miss"
        case .collapsed: "webimage; fwd=miss; collapsed"
        }
    }
}

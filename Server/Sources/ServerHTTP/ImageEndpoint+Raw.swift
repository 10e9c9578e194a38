import HTTPTypes
import ServerConfiguration
import ServerGrammar
import ServerImages
import WebImage

extension ImageEndpoint {
    /// Streams the source unchanged, or the requested part of it. Conditions and ranges are evaluated here, whether or
    /// not the origin supports them.
    func raw(
        _ url: URLGrammar.ParsedURL, _ request: HTTPRequest, _ record: inout RequestRecord
    ) async throws(RequestRefusal) -> Answer {
        try await service.admit(record.client?.key, url)
        let bytes = try await open(url)
        record.sourceHost = SourceURL(url.source)?.host
        record.asksOrigin = SourceRequest.brings(url.source, bytes.source)
        let head = bytes.head ?? ResponseHead(status: 200)
        let answer = ResultAnswer(settings: settings, url: url, now: now())
        let freshness = SourceFreshness(head, now: now(), fallback: settings.sourceTTL)
        var fields: HTTPFields = [.cacheControl: answer.cacheControl(freshness)]
        fields[.named("Link")] = answer.canonicalLink
        fields[.age] = answer.age(freshness)
        if url.mayHaveCookies { fields[.vary] = "Cookie" }
        (fields[.eTag], fields[.lastModified]) = (head[.eTag], freshness.lastModified)
        let conditions = RequestConditions(fields: request.headerFields, now: now())
        if conditions.isKnown(eTag: head[.eTag], lastModified: freshness.lastModified) {
            return Answer(status: 304, fields: fields)
        }
        // A local file has no `Content-Type`: its extension determines the type.
        let suffix = answer.sourceExtension
        let mediaType = head[.contentType] ?? suffix.flatMap { ImageFormat(fileExtension: $0)?.mimeType }
        // Without a type browsers would guess one, HTML as well.
        fields[.contentType] = mediaType ?? "application/octet-stream"
        // The file name is kept if its extension stands for the type, such as `.jpeg` and `.jpg`, or if the type is
        // unknown.
        let format = ResultFormat.allCases.first { $0.mediaType == mediaType }
        let isSaid = suffix.flatMap { ImageFormat(fileExtension: $0)?.mimeType } == mediaType
        let staysAsItIs = url.options.filename.isEmpty && (isSaid || format == nil)
        fields[.contentDisposition] = answer.disposition(staysAsItIs ? nil : format?.fileExtension ?? suffix)
        guard let length = bytes.length.map({ Int($0.bytes) }) else {
            return Answer(fields: fields, body: try body(bytes, length: nil, request, record.client))
        }
        fields[.acceptRanges] = "bytes"
        fields[.contentLength] = "\(length)"
        let part =
            request.method == .get
            ? conditions.part(of: length, eTag: head[.eTag], lastModified: freshness.lastModified) : .whole
        switch part {
        case .whole:
            return Answer(fields: fields, body: try body(bytes, length: length, request, record.client))
        case .bytes(let range):
            fields[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)"
            fields[.contentLength] = "\(range.count)"
            return Answer(
                status: 206, fields: fields, body: try body(bytes[range], length: range.count, request, record.client))
        case .none:
            var answer = Answer.text("Range Not Satisfiable", status: 416)
            answer.fields[.contentRange] = "bytes */\(length)"
            return answer
        }
    }

    /// - Parameter bytes: the source. A transfer brings all of it, even if only a part is sent.
    private func body(
        _ bytes: ImageBytes, length: Int?, _ request: HTTPRequest, _ client: ClientAddress?
    ) throws(RequestRefusal) -> Answer.Body {
        // Bytes of a local file stay in the file until the client takes them, so they do not count against the limit.
        let isThere = bytes.source == .file || request.method == .head
        let waiting = isThere ? 0 : Int((bytes.length ?? StreamedBytes.usualLength).bytes)
        guard let share = streamedBytes.take(waiting, for: client?.key) else {
            throw .overloaded("too many bytes of raw sources wait for clients to read them, or for this client")
        }
        return .stream(StreamedBody(bytes, length: length, share: share))
    }

    private func open(_ url: URLGrammar.ParsedURL) async throws(RequestRefusal) -> ImageBytes {
        let request = try SourceRequest.make(url.source, cookies: url.cookies, settings) {
            $0.caching.policy = .protocol
            $0.timeout = settings.timeout
            if let limit = url.options.security.bodyLimit { $0.http.bodyLimit = limit }
        }
        do throws(WebImageError) {
            return try await service.purging.load(request, url.source) { request throws(WebImageError) in
                let bytes = try await service.maker.manager.bytes(for: request)
                try service.maker.checkLength(bytes.length, of: url.source, url.options.security)
                return (bytes, bytes.head, bytes.source)
            }
        } catch {
            throw RequestRefusal(error, source: url.source, security: url.options.security)
        }
    }
}

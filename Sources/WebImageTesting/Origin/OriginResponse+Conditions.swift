extension OriginResponse {
    /// The response after applying the request's conditions and range: the response itself, 304, 206 or 416 (RFC 9110
    /// sections 13 and 14).
    func answering(_ request: RecordedRequest) -> OriginResponse {
        guard status == 200, request.method == "GET" || request.method == "HEAD", framing != .nothingButBody else {
            return self
        }
        if servesConditionals, isUnchanged(for: request) { return notModified() }
        guard servesRanges else { return self }
        var answer = self
        if header("accept-ranges") == nil { answer.headers.append(("Accept-Ranges", "bytes")) }
        guard request.method == "GET", let wanted = request.header("range"), rangeIsMeant(by: request) else {
            return answer
        }
        switch ByteRange(wanted, of: body.count) {
        case .all: return answer
        case .part(let range):
            answer.status = 206
            answer.headers.append(("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(body.count)"))
            answer.body = Array(body[range])
        case .outside:
            answer.status = 416
            answer.headers.append(("Content-Range", "bytes */\(body.count)"))
            answer.body = []
        }
        return answer
    }

    /// Whether the client's copy is still valid. `If-Modified-Since` is ignored if there is an `If-None-Match` (RFC
    /// 9110 section 13.2.2).
    private func isUnchanged(for request: RecordedRequest) -> Bool {
        if let known = request.header("if-none-match") {
            guard let etag = header("etag") else { return false }
            if known == "*" { return true }
            return known.split(separator: ",").contains { Self.opaqueTag($0) == Self.opaqueTag(etag[...]) }
        }
        guard let since = request.header("if-modified-since"), let modified = header("last-modified") else {
            return false
        }
        return since == modified
    }

    private func notModified() -> OriginResponse {
        var answer = self
        answer.status = 304
        answer.body = []
        answer.framing = .contentLength
        let kept: Set = [
            "cache-control", "content-location", "date", "etag", "expires", "vary", "last-modified", "age",
        ]
        answer.headers.removeAll { !kept.contains($0.name.lowercased()) }
        return answer
    }

    /// Whether the request's range applies: `If-Range` needs a strong validator that matches exactly (RFC 9110 section
    /// 13.1.5).
    private func rangeIsMeant(by request: RecordedRequest) -> Bool {
        guard let condition = request.header("if-range") else { return true }
        if condition.hasSuffix("\"") { return !condition.hasPrefix("W/") && condition == header("etag") }
        return condition == header("last-modified")
    }

    private static func opaqueTag(_ tag: Substring) -> Substring {
        let bare = tag.drop { $0 == " " }
        let strong = bare.hasPrefix("W/") ? bare.dropFirst(2) : bare
        return strong.prefix { $0 != " " }
    }
}

/// The result of parsing a `Range` header.
private enum ByteRange {
    /// The range was not understood, or there are several: the whole body is an allowed answer.
    case all
    case part(Range<Int>)
    case outside

    init(_ text: String, of length: Int) {
        self = .all
        guard text.hasPrefix("bytes=") else { return }
        let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return }
        switch (Int(ends[0]), Int(ends[1])) {
        case (let first?, nil) where ends[1].isEmpty:
            self = first < length ? .part(first..<length) : .outside
        case (let first?, let last?) where first <= last:
            self = first < length ? .part(first..<min(last, length - 1) + 1) : .outside
        case (nil, let count?) where ends[0].isEmpty:
            self = count > 0 && length > 0 ? .part(max(length - count, 0)..<length) : .outside
        default: return
        }
    }
}

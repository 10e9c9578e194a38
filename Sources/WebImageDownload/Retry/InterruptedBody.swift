import HTTPTypes
import WebImageCore

/// What of a body is there after a failure, and what an answer must be to go on with it. A pure value.
///
/// An origin that names the body with a strong validator is asked for the rest, as ``ResumePoint`` has it; any other sends all
/// again, and what comes is compared with what is there: readers have it already.
/// Where the origin has another body by now, that one takes the place of what is there: once, then it is an error.
struct InterruptedBody: Sendable {
    /// Bytes that readers have, or may have.
    private(set) var kept = 0
    /// Where the next byte of the running answer belongs.
    private(set) var offset = 0
    /// The head of the last answer that began at the beginning, with what later ones say of it. Looked into only when another try
    /// is made.
    private(set) var head: ResponseHead?
    /// The URL that it came from.
    private var place: WebURL?
    private var total: Int?
    private var isWhole = false
    /// Whether another body has taken the place of the first one, or is to.
    private var isReplaced = false
    /// Whether what readers have is of no use, and nothing has come yet in its place.
    private var isForgotten = false

    /// What an answer is that begins at the beginning.
    enum Beginning {
        case first
        /// Of the body that is there, as far as its head tells.
        case again
        /// Of another body, which takes its place.
        case another
    }

    /// What the rest must belong to; nil when all must come again.
    private var point: ResumePoint? {
        guard kept > 0, isWhole, let head else { return nil }
        return ResumePoint(head, Self.arrival(from: place))
    }

    /// Only the place counts here.
    private static func arrival(from place: WebURL?) -> CacheExchange.Arrival {
        CacheExchange.Arrival(
            requestTime: 0, responseTime: 0, place: place.map { String($0.text.prefix { $0 != "?" }) })
    }

    /// The fields that ask for the rest; nil when all must come again.
    var rangeFields: HTTPFields? { point?.requestFields(from: kept) }

    /// Takes the head of an answer that begins at the beginning.
    ///
    /// - Parameters:
    ///   - place: the URL that it came from.
    ///   - isWhole: false for what a `Range` cannot continue: an encoded body, or a part that the caller asked for.
    ///   - mayReplace: whether it may stand for the whole, should it be another body.
    /// - Throws: `truncatedBody` when it is another body than the one of which a part is there, and that is so for the
    ///   second time or may not be.
    mutating func begin(
        _ head: ResponseHead, from place: WebURL, length: Int?, isWhole: Bool, mayReplace: Bool
    ) throws(WebImageError) -> Beginning {
        if let known = self.head {
            let differs = total != nil && length != nil && total != length
            // One whose head was told, too: readers have gone by that.
            if differs || known.status != head.status || hasOtherTag(head) {
                guard mayReplace, forget() else { throw Self.changed }
            }
        }
        if isForgotten, !mayReplace { throw Self.changed }
        offset = 0
        self.head = head
        self.place = place
        total = length
        self.isWhole = isWhole
        defer { isForgotten = false }
        return isForgotten ? .another : kept > 0 ? .again : .first
    }

    /// Takes the head of a 206 that was asked for with ``rangeFields``.
    ///
    /// - Returns: false when it is not surely one of the same body: all is to be asked for.
    /// - Throws: `protocolError` when it is another part, `truncatedBody` when it is another body for the second time.
    mutating func `continue`(_ head: ResponseHead, from place: WebURL) throws(WebImageError) -> Bool {
        guard var point else { throw Self.changed }
        switch point.accept(head, Self.arrival(from: place), offset: kept) {
        case nil: break
        case .range:
            throw WebImageError(
                .protocolError, "the server sent another part of the body than was asked for", status: head.status)
        case .place, .multipart, .coding, .total, .validator:
            guard forget() else { throw Self.changed }
            return false
        }
        offset = kept
        if total == nil { total = point.total }
        self.head = self.head?.completed(by: head)
        return true
    }

    /// Gives up what is there: the origin has another body.
    ///
    /// - Returns: false when that was so before.
    mutating func forget() -> Bool {
        if isReplaced { return false }
        self = InterruptedBody()
        isReplaced = true
        isForgotten = true
        return true
    }

    /// The running answer turned out to be another body by its bytes: what has come of it takes the place of what is there.
    ///
    /// - Returns: false when that was so before.
    mutating func replace() -> Bool {
        if isReplaced { return false }
        isReplaced = true
        kept = offset
        return true
    }

    /// Of the last answer that began at the beginning.
    var status: Int? { head?.status }

    /// True when a 416 says that there is nothing left to send: the body was whole, only its end was not told.
    func isWhole(accordingTo head: ResponseHead) -> Bool {
        kept > 0 && ContentRange(head[.contentRange])?.total == kept
    }

    /// The whole length, where it is known.
    var length: Int? { total }

    /// Takes bytes of the running answer; returns how many of them are there already.
    mutating func take(_ count: Int) -> Int {
        let known = min(max(kept - offset, 0), count)
        offset += count
        kept = max(kept, offset)
        return known
    }

    static let changed = WebImageError(
        .truncatedBody, "the transfer broke off, and the origin has another body now than the one that began to come")

    private func hasOtherTag(_ other: ResponseHead) -> Bool {
        guard let ours = EntityTag(head?[.eTag]), let theirs = EntityTag(other[.eTag]), !ours.isWeak, !theirs.isWeak
        else { return false }
        return ours != theirs
    }
}

extension ResponseHead {
    /// Fields of a 206 that are about the part alone, and the type, which need not be said again.
    private static let ofPart: Set<HTTPField.Name> = [
        .contentRange, .contentLength, .contentType, .transferEncoding, .connection,
    ]

    /// The head of the whole as a 206 has it that brought the rest: what it says takes the place of what was said before (RFC 9110
    /// section 15.3.7.3).
    fileprivate func completed(by rest: ResponseHead) -> ResponseHead {
        var fields = headers
        // As old as the rest is.
        (fields[.age], fields[.date]) = (nil, nil)
        let news = rest.headers.filter { !Self.ofPart.contains($0.name) }
        for name in Set(news.map(\.name)) { fields[values: name] = [] }
        fields.append(contentsOf: news)
        return ResponseHead(status: status, headers: fields, version: rest.version, remoteAddress: rest.remoteAddress)
    }
}

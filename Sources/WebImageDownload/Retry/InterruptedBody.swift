import HTTPTypes
import WebImageCore

/// The bytes that remain after a failure, and the conditions for an answer to continue them. A pure value.
///
/// An origin that gives the body a strong validator is asked for the rest, see ``ResumePoint``. Any other origin sends
/// the whole body again, which is compared with the available bytes, because readers have these already. If the body
/// has changed meanwhile, the new one replaces the available bytes, but only once: a second change is an error.
struct InterruptedBody: Sendable {
    /// How many bytes readers have, or may have.
    private(set) var kept = 0
    /// The position of the next byte of the current answer.
    private(set) var offset = 0
    /// The head of the last answer that began at the first byte, with the changes of later ones. Used only for another
    /// attempt.
    private(set) var head: ResponseHead?
    /// The URL of that answer.
    private var place: WebURL?
    private var total: Int?
    private var isWhole = false
    /// Whether another body has replaced the first one, or is about to.
    private var isReplaced = false
    /// Whether the readers' bytes are invalid and no others have arrived yet.
    private var isForgotten = false

    /// The kind of an answer that begins at the first byte.
    enum Beginning {
        case first
        /// The same body, as far as its head shows.
        case again
        /// Another body, which replaces the first.
        case another
    }

    /// The information to request the rest; nil if the whole body must be sent again.
    private var point: ResumePoint? {
        // An answer that broke off before it was compared with all available bytes may be of another body.
        guard kept > 0, offset >= kept, isWhole, let head else { return nil }
        return ResumePoint(head, Self.arrival(from: place))
    }

    /// An arrival of which only the place is used.
    private static func arrival(from place: WebURL?) -> CacheExchange.Arrival {
        CacheExchange.Arrival(requestTime: 0, responseTime: 0, place: place?.text.withoutQuery)
    }

    /// The fields that request the rest; nil if the whole body must be sent again.
    var rangeFields: HTTPFields? { point?.requestFields(from: kept) }

    /// Takes the head of an answer that begins at the first byte.
    ///
    /// - Parameters:
    ///   - place: the answering URL.
    ///   - isWhole: false for an answer that a `Range` cannot continue: an encoded body, or a part that the caller
    ///   requested.
    ///   - mayReplace: whether the answer may replace the first body, if it is another one.
    /// - Throws: `truncatedBody` if it is another body than the partly received one, and this is the second time or is
    ///   not allowed.
    mutating func begin(
        _ head: ResponseHead, from place: WebURL, length: Int?, isWhole: Bool, mayReplace: Bool
    ) throws(WebImageError) -> Beginning {
        // A head without any byte of its body was of no use to readers.
        if kept > 0, let known = self.head {
            let differs = total != nil && length != nil && total != length
            // A different head counts even if the bytes may be the same: readers have used the old head.
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

    /// Takes the head of a 206 to a request with ``rangeFields``.
    ///
    /// - Returns: false if it is another part, or not certain to be of the same body: request the whole one.
    /// - Throws: `truncatedBody` if that happened before.
    mutating func `continue`(_ head: ResponseHead, from place: WebURL) throws(WebImageError) -> Bool {
        guard var point else { throw Self.changed }
        guard point.accept(head, Self.arrival(from: place), offset: kept) == nil else {
            guard forget() else { throw Self.changed }
            return false
        }
        offset = kept
        if total == nil { total = point.total }
        self.head = self.head?.completed(by: head)
        return true
    }

    /// Discards the available bytes, because the origin has another body.
    ///
    /// - Returns: false if that happened before.
    mutating func forget() -> Bool {
        if isReplaced { return false }
        self = InterruptedBody()
        isReplaced = true
        isForgotten = true
        return true
    }

    /// The current answer has other bytes than the first body: its bytes so far replace the available ones.
    ///
    /// - Returns: false if that happened before.
    mutating func replace() -> Bool {
        if isReplaced { return false }
        isReplaced = true
        kept = offset
        return true
    }

    /// The status of the last answer that began at the first byte.
    var status: Int? { head?.status }

    /// True if a 416 says that there are no more bytes: the body was complete, only its end was not reported.
    func isWhole(accordingTo head: ResponseHead) -> Bool {
        kept > 0 && ContentRange(head[.contentRange])?.total == kept
    }

    /// The length of the whole body, if it is known.
    var length: Int? { total }

    /// Takes bytes of the current answer; returns how many of them were available already.
    mutating func take(_ count: Int) -> Int {
        let known = min(max(kept - offset, 0), count)
        offset += count
        kept = max(kept, offset)
        return known
    }

    static let changed = WebImageError(
        .truncatedBody, "the transfer was interrupted, and the origin now has another body")

    private func hasOtherTag(_ other: ResponseHead) -> Bool {
        guard let ours = EntityTag(head?[.eTag]), let theirs = EntityTag(other[.eTag]), !ours.isWeak, !theirs.isWeak
        else { return false }
        return ours != theirs
    }
}

extension ResponseHead {
    /// Fields of a 206 that describe only the part, and the type, which need not be repeated.
    private static let ofPart: Set<HTTPField.Name> = [
        .contentRange, .contentLength, .contentType, .transferEncoding, .connection,
    ]

    /// The head of the whole body after a 206 has brought the rest: its fields replace the earlier ones (RFC 9110
    /// section 15.3.7.3).
    fileprivate func completed(by rest: ResponseHead) -> ResponseHead {
        var fields = headers
        // The age is that of the rest.
        (fields[.age], fields[.date]) = (nil, nil)
        let news = rest.headers.filter { !Self.ofPart.contains($0.name) }
        for name in Set(news.map(\.name)) { fields[values: name] = [] }
        fields.append(contentsOf: news)
        return ResponseHead(status: status, headers: fields, version: rest.version, remoteAddress: rest.remoteAddress)
    }
}

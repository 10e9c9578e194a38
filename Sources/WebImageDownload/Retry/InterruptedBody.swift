import HTTPTypes
import WebImageCore

/// What of a body is there after a failure, and what an answer must be to go on with it. A pure value.
///
/// An origin that names the body with a strong validator is asked for the rest (`Range` with `If-Range`, RFC 9110
/// section 13.1.5); any other sends all again, and what comes is compared with what is there: readers have it already.
/// Where the origin has another body by now, that one takes the place of what is there: once, then it is an error.
struct InterruptedBody: Sendable {
    /// Bytes that readers have, or may have.
    private(set) var kept = 0
    /// Where the next byte of the running answer belongs.
    private(set) var offset = 0
    /// The head of the last answer that began at the beginning. Looked into only when another try is made.
    private var head: ResponseHead?
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

    /// The fields that ask for the rest; nil when all must come again.
    var rangeFields: HTTPFields? {
        guard kept > 0, isWhole, let head, head[.acceptRanges]?.lowercased() != "none",
            let validator = Self.strongTag(head) ?? Self.strongDate(head)
        else { return nil }
        return [.range: "bytes=\(kept)-", .ifRange: validator]
    }

    /// Takes the head of an answer that begins at the beginning.
    ///
    /// - Parameter isWhole: false for what a `Range` cannot continue: an encoded body, or a part that the caller asked for.
    ///   - mayReplace: whether it may stand for the whole, should it be another body.
    /// - Throws: `truncatedBody` when it is another body than the one of which a part is there, and that is so for the
    ///   second time or may not be.
    mutating func begin(
        _ head: ResponseHead, length: Int?, isWhole: Bool, mayReplace: Bool
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
        total = length
        self.isWhole = isWhole
        defer { isForgotten = false }
        return isForgotten ? .another : kept > 0 ? .again : .first
    }

    /// Takes the head of a 206 that was asked for with ``rangeFields``.
    ///
    /// - Returns: false when it is one of another body: all is to be asked for.
    /// - Throws: `protocolError` when it is another part, `truncatedBody` when it is another body for the second time.
    mutating func `continue`(_ head: ResponseHead) throws(WebImageError) -> Bool {
        guard let part = ContentRange(head[.contentRange]), part.range?.lowerBound == kept else {
            throw WebImageError(
                .protocolError, "the server sent another part of the body than was asked for", status: head.status)
        }
        let differs = total != nil && part.total != nil && total != part.total
        if differs || hasOtherTag(head) {
            guard forget() else { throw Self.changed }
            return false
        }
        offset = kept
        if total == nil { total = part.total }
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
        guard let ours = head.flatMap(Self.strongTag), let theirs = Self.strongTag(other) else { return false }
        return ours != theirs
    }

    private static func strongTag(_ head: ResponseHead) -> String? {
        guard let tag = head[.eTag], tag.utf8.first == UInt8(ascii: "\""), tag.utf8.count >= 2 else { return nil }
        return tag
    }

    /// RFC 9110 section 8.8.2.2: a date is strong when the origin had time to make another one before it answered.
    private static func strongDate(_ head: ResponseHead) -> String? {
        guard let text = head[.lastModified], let modified = HTTPTimestamp(text, now: 0)?.seconds,
            let sent = head[.date].flatMap({ HTTPTimestamp($0, now: 0)?.seconds }), sent - modified >= 1
        else { return nil }
        return text
    }
}

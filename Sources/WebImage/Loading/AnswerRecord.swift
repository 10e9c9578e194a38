import Synchronization
import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem

/// The answer from which pictures in memory were decoded, so that HTTP's rules can be applied to them without reading
/// the disk.
final class AnswerRecord: ImageOrigin {
    private let current: Guarded<StoredResponse>
    private let hasEnded = Atomic(false)

    init(_ response: StoredResponse) { current = Guarded(response) }

    var response: StoredResponse { current.withLock { $0 } }

    /// Whether the origin has replaced or removed the body since.
    var isOutdated: Bool { hasEnded.load(ordering: .acquiring) }

    func outdate() { hasEnded.store(true, ordering: .releasing) }

    /// Whether a body that the origin has sent is the record's: that very answer, or one with the same strong tag. A date
    /// or a weak tag may be the same for another body (RFC 9111 section 4.3.3).
    func isCertainlyOf(_ sent: StoredResponse) -> Bool {
        let known = response
        return known.responseTime == sent.responseTime || sent.hasStrongTag && known["etag"] == sent["etag"]
    }

    /// Updates the record with a later answer of the same body.
    ///
    /// - Returns: false for an answer of another body.
    func take(_ response: StoredResponse) -> Bool {
        current.withLock { current in
            guard current.hasSameBody(as: response) else { return false }
            if response.responseTime > current.responseTime { current = response }
            return true
        }
    }

    /// Updates the record with the headers of a 304, unless the record is of another body.
    func renew(_ response: StoredResponse) {
        current.withLock { current in
            if current.hasSameBody(as: response) { current = response }
        }
    }
}

extension StoredResponse {
    /// Whether the validators of two answers to the same user show that the bodies differ.
    func hasOtherBody(than other: StoredResponse) -> Bool {
        guard scope == other.scope, vary == other.vary, cookies == other.cookies else { return false }
        if let tag = self["etag"], let theirs = other["etag"] { return tag != theirs }
        guard let changed = self["last-modified"], let theirs = other["last-modified"] else { return false }
        return changed != theirs
    }

    /// Whether two answers of one URL have the same body. Their validators decide; without validators, only the same
    /// answer has the same body. Answers to different users never count as the same body, whatever their validators
    /// say.
    func hasSameBody(as other: StoredResponse) -> Bool {
        guard scope == other.scope, vary == other.vary, cookies == other.cookies else { return false }
        if let tag = self["etag"] { return tag == other["etag"] }
        if let changed = self["last-modified"] { return other["etag"] == nil && changed == other["last-modified"] }
        return other["etag"] == nil && other["last-modified"] == nil && responseTime == other.responseTime
    }
}

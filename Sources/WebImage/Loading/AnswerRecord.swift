import Synchronization
import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem

/// What pictures in memory know of the answer that they were decoded from, so that they can be judged by the rules of HTTP
/// without a look at the disk.
final class AnswerRecord: ImageOrigin {
    private let current: Guarded<StoredResponse>
    private let hasEnded = Atomic(false)

    init(_ response: StoredResponse) { current = Guarded(response) }

    var response: StoredResponse { current.withLock { $0 } }

    /// Whether the origin has said since that it is no longer true.
    var isOutdated: Bool { hasEnded.load(ordering: .acquiring) }

    func outdate() { hasEnded.store(true, ordering: .releasing) }

    /// Takes over what a later answer of the same body said.
    ///
    /// - Returns: false for an answer of another body.
    func take(_ response: StoredResponse) -> Bool {
        current.withLock { current in
            guard current.hasSameBody(as: response) else { return false }
            if response.responseTime > current.responseTime { current = response }
            return true
        }
    }

    /// Takes over what a 304 said, unless the record is of another body.
    func renew(_ response: StoredResponse) {
        current.withLock { current in
            if current.hasSameBody(as: response) { current = response }
        }
    }
}

extension DiskMetadata {
    /// Nil for an entry that did not come by HTTP.
    var answerRecord: AnswerRecord? { status == nil ? nil : AnswerRecord(storedResponse) }
}

extension StoredResponse {
    /// Whether validators tell that two answers of one user's have different bodies.
    func hasOtherBody(than other: StoredResponse) -> Bool {
        guard scope == other.scope, vary == other.vary, cookies == other.cookies else { return false }
        if let tag = self["etag"], let theirs = other["etag"] { return tag != theirs }
        guard let changed = self["last-modified"], let theirs = other["last-modified"] else { return false }
        return changed != theirs
    }

    /// Whether two answers of one URL have the same body: by their validators, or where they have none, by whether they are
    /// one answer. Those of two users have not, whatever their validators say.
    func hasSameBody(as other: StoredResponse) -> Bool {
        guard scope == other.scope, vary == other.vary, cookies == other.cookies else { return false }
        if let tag = self["etag"] { return tag == other["etag"] }
        if let changed = self["last-modified"] { return other["etag"] == nil && changed == other["last-modified"] }
        return other["etag"] == nil && other["last-modified"] == nil && responseTime == other.responseTime
    }
}

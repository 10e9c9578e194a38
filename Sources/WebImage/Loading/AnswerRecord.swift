import Synchronization
import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem

/// What pictures in memory know of the answer that they were decoded from, so that they can be judged by the rules of HTTP
/// without a look at the disk.
final class AnswerRecord: ImageOrigin {
    private let current: Guarded<StoredResponse>

    init(_ response: StoredResponse) { current = Guarded(response) }

    var response: StoredResponse { current.withLock { $0 } }

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
    /// Whether two answers of one URL have the same body: by their validators, or where they have none, by whether they are
    /// one answer. Those of two users have not, whatever their validators say.
    func hasSameBody(as other: StoredResponse) -> Bool {
        guard scope == other.scope, vary == other.vary, cookies == other.cookies else { return false }
        if let tag = self["etag"] { return tag == other["etag"] }
        if let changed = self["last-modified"] { return other["etag"] == nil && changed == other["last-modified"] }
        return other["etag"] == nil && other["last-modified"] == nil && responseTime == other.responseTime
    }
}

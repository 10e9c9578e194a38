import Synchronization
import WebImageCore
import WebImageDownload
import WebImageSystem

/// Keeps the newest answer of each original that has pictures in memory, so that all these pictures share it. A 304 for
/// one size then holds for all sizes, and pictures of an original that the origin has replaced or removed are no longer
/// served from memory.
///
/// Only the pictures hold strong references to the records. Any thread may use it.
final class AnswerBook: Sendable {
    private struct Entry {
        weak var record: AnswerRecord?
    }

    private struct State {
        var entries: [CacheKey: Entry] = [:]
        /// When the book has this many entries, those without pictures are dropped.
        var maxEntries = 256

        mutating func tidy() {
            guard entries.count >= maxEntries else { return }
            entries = entries.filter { $0.value.record != nil }
            maxEntries = max(256, entries.count * 2)
        }
    }

    private let state = Guarded(State())
    private let changes = Atomic(EventOrder.next())

    /// A number that grows when pictures in memory become outdated, and that no other book has. Judgements from before the
    /// last change are no longer valid.
    var outdatings: Int { changes.load(ordering: .acquiring) }

    /// Returns the record for pictures of an answer. Pictures of the same body share a record.
    ///
    /// - Parameters:
    ///   - key: the key of the original.
    ///   - response: the answer, which has just arrived or was stored.
    ///   - replaces: whether the answer replaces the one that memory knows, unless that is certainly of the same body.
    func record(of key: CacheKey, _ response: StoredResponse, replaces: Bool = false) -> AnswerRecord {
        let (record, outdated) = state.withLock { state -> (AnswerRecord, AnswerRecord?) in
            let known = state.entries[key]?.record
            if let known, !replaces || known.isCertainlyOf(response), known.take(response) { return (known, nil) }
            let isOlder = known.map { $0.response.responseTime > response.responseTime } ?? false
            let record = AnswerRecord(response)
            if isOlder, !replaces {
                // Its pictures come too late: memory has those of a newer body.
                if known.map({ $0.response.hasOtherBody(than: response) }) ?? false { record.outdate() }
                return (record, nil)
            }
            state.tidy()
            state.entries[key] = Entry(record: record)
            let isOther = known.map { $0.response.hasOtherBody(than: response) } ?? false
            return (record, replaces || isOther ? known : nil)
        }
        if let outdated { end(outdated) }
        return record
    }

    /// The newest answer of an original, while it has pictures.
    func known(_ key: CacheKey) -> StoredResponse? { state.withLock { $0.entries[key]?.record }?.response }

    /// Whether memory has pictures of a newer answer with another body. An answer may have waited long for its decode.
    func hasReplaced(_ response: StoredResponse, of key: CacheKey) -> Bool {
        known(key).map { $0.responseTime > response.responseTime && $0.hasOtherBody(than: response) } ?? false
    }

    /// Marks the pictures of an original as outdated.
    func outdate(_ key: CacheKey) {
        if let record = state.withLock({ $0.entries.removeValue(forKey: key)?.record }) { end(record) }
    }

    private func end(_ record: AnswerRecord) {
        record.outdate()
        _ = changes.max(EventOrder.next(), ordering: .acquiringAndReleasing)
    }
}

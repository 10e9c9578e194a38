import Synchronization
import WebImageCore
import WebImageDownload
import WebImageSystem

/// What the newest answer is for each original that memory has pictures of, so that all of them know it: what a 304 said to one
/// holds for all sizes, and what the origin has replaced or taken back is served from memory no more.
///
/// Records are held by their pictures alone. Any thread may use it.
final class AnswerBook: Sendable {
    private struct Entry {
        weak var record: AnswerRecord?
    }

    private struct State {
        var entries: [CacheKey: Entry] = [:]
        /// At so many entries those of pictures that are gone are dropped.
        var mostEntries = 256

        mutating func tidy() {
            guard entries.count >= mostEntries else { return }
            entries = entries.filter { $0.value.record != nil }
            mostEntries = max(256, entries.count * 2)
        }
    }

    private let state = Guarded(State())
    private let changes = Atomic(0)

    /// How often pictures in memory have become outdated: those that were judged before are to be judged once more.
    var outdatings: Int { changes.load(ordering: .acquiring) }

    /// The record for pictures of an answer: that of others of the same body, where there are some.
    ///
    /// - Parameters:
    ///   - key: of the original.
    ///   - response: what the origin said, now or when it was stored.
    ///   - replaces: whether the answer takes the place of what memory has, unless that is surely of the same body.
    func record(of key: CacheKey, _ response: StoredResponse, replaces: Bool = false) -> AnswerRecord {
        let (record, outdated) = state.withLock { state -> (AnswerRecord, AnswerRecord?) in
            let known = state.entries[key]?.record
            if let known, known.take(response) { return (known, nil) }
            let isOlder = known.map { $0.response.responseTime > response.responseTime } ?? false
            let record = AnswerRecord(response)
            if isOlder, !replaces { return (record, nil) }
            state.tidy()
            state.entries[key] = Entry(record: record)
            let isOther = known.map { $0.response.hasOtherBody(than: response) } ?? false
            return (record, replaces || isOther ? known : nil)
        }
        if let outdated { end(outdated) }
        return record
    }

    /// What was said of an original is no longer true.
    func outdate(_ key: CacheKey) {
        if let record = state.withLock({ $0.entries.removeValue(forKey: key)?.record }) { end(record) }
    }

    private func end(_ record: AnswerRecord) {
        record.outdate()
        changes.add(1, ordering: .acquiringAndReleasing)
    }
}

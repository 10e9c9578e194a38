import Synchronization

/// Results on their way to clients, which may read slowly, up to a number of bytes. All answers with the same result
/// share its bytes, which count once. Any thread may use it.
public final class SentResults: Sendable {
    /// The bytes of a result, which count until the last answer with them has been sent.
    public final class Share: Sendable {
        public let bytes: [UInt8]
        private let key: String
        private let number: Int
        private let owner: SentResults

        fileprivate init(_ bytes: [UInt8], _ key: String, _ number: Int, _ owner: SentResults) {
            (self.bytes, self.key, self.number, self.owner) = (bytes, key, number, owner)
        }

        deinit { owner.end(key, number, bytes.count) }
    }

    private struct Entry {
        weak var share: Share?
        let number: Int
        var result: StoredResult
    }

    private struct State {
        var bytes = 0
        var entries: [String: Entry] = [:]
        var lastNumber = 0
    }

    private let most: Int
    private let state = Mutex(State())

    /// - Parameter most: how many bytes may be on their way. Default 1 GiB.
    public init(most: Int = 1 << 30) { self.most = most }

    /// How many bytes are on their way.
    public var bytes: Int { state.withLock { $0.bytes } }

    /// The result, if it is being sent.
    func result(_ key: String) -> StoredResult? { state.withLock { $0.entries[key]?.result } }

    /// - Returns: nil if there is no room. A single result always fits.
    func share(_ result: StoredResult, _ key: String) -> Share? {
        state.withLock { state in
            if let entry = state.entries[key], entry.result.eTag == result.eTag, let share = entry.share {
                return share
            }
            guard state.bytes == 0 || state.bytes <= most - result.bytes.count else { return nil }
            state.bytes += result.bytes.count
            state.lastNumber += 1
            let share = Share(result.bytes, key, state.lastNumber, self)
            // A result that must not be stored is for those who have waited for it.
            if !result.freshness.forbidsStoring {
                state.entries[key] = Entry(share: share, number: state.lastNumber, result: result)
            }
            return share
        }
    }

    /// Later requests get the new properties with the same bytes, or no longer find the result if its bytes are others.
    func replace(_ result: StoredResult, _ key: String) {
        state.withLock { state in
            guard let entry = state.entries[key] else { return }
            if entry.result.eTag == result.eTag {
                var result = result
                result.bytes = entry.result.bytes
                state.entries[key]?.result = result
            } else {
                state.entries[key] = nil
            }
        }
    }

    private func end(_ key: String, _ number: Int, _ count: Int) {
        state.withLock { state in
            state.bytes -= count
            // A newer result may have taken its place.
            if state.entries[key]?.number == number { state.entries[key] = nil }
        }
    }
}

import Synchronization

/// Results that are being sent to clients, which may read slowly. Their total size is limited. All answers with the
/// same result share its bytes, which count once. Any thread may use it.
public final class SentResults: Sendable {
    /// The bytes of a result on their way to a client, which count until the last answer with them has been sent.
    public final class Share: Sendable {
        public let bytes: [UInt8]
        private let number: Int
        private let client: String?
        private let owner: SentResults

        fileprivate init(_ bytes: [UInt8], _ number: Int, _ client: String?, _ owner: SentResults) {
            (self.bytes, self.number, self.client, self.owner) = (bytes, number, client, owner)
        }

        deinit { owner.end(number, client) }
    }

    private struct Entry {
        let key: String
        var result: StoredResult
        /// How many answers are on their way to each client.
        var answers: [String?: Int] = [:]
    }

    private struct State {
        var budget: ByteBudget
        var entries: [Int: Entry] = [:]
        /// The entries that later requests find.
        var numbers: [String: Int] = [:]
        var lastNumber = 0
    }

    private let state: Mutex<State>

    /// - Parameter most: how many bytes may be on their way. Default 1 GiB.
    public init(most: Int = 1 << 30) { state = Mutex(State(budget: ByteBudget(most: most))) }

    /// How many bytes are on their way.
    public var bytes: Int { state.withLock { $0.budget.bytes } }

    /// The result, if it is being sent.
    func result(_ key: String) -> StoredResult? {
        state.withLock { state in state.numbers[key].flatMap { state.entries[$0]?.result } }
    }

    /// - Parameter client: its address; nil: it is not known.
    /// - Returns: nil if there is no room, or the client already reads too much. A single result always fits.
    func share(_ result: StoredResult, _ key: String, for client: String? = nil) -> Share? {
        state.withLock { state in
            if let number = state.numbers[key], var entry = state.entries[number], entry.result.eTag == result.eTag {
                let bytes = entry.result.bytes
                guard
                    entry.answers[client] != nil || state.budget.take(bytes.count, for: client, isNew: false)
                else { return nil }
                entry.answers[client, default: 0] += 1
                state.entries[number] = entry
                return Share(bytes, number, client, self)
            }
            guard state.budget.take(result.bytes.count, for: client) else { return nil }
            state.lastNumber += 1
            state.entries[state.lastNumber] = Entry(key: key, result: result, answers: [client: 1])
            // A result that must not be stored is only for the requests that waited for it, so later ones must not find
            // it.
            if !result.freshness.forbidsStoring { state.numbers[key] = state.lastNumber }
            return Share(result.bytes, state.lastNumber, client, self)
        }
    }

    /// Replaces the properties of a result that is being sent. If the new result has other bytes, later requests no
    /// longer find the old one.
    func replace(_ result: StoredResult, _ key: String) {
        state.withLock { state in
            guard let number = state.numbers[key], let known = state.entries[number]?.result else { return }
            if known.eTag == result.eTag {
                var result = result
                result.bytes = known.bytes
                state.entries[number]?.result = result
            } else {
                state.numbers[key] = nil
            }
        }
    }

    /// Called when an answer has been sent or was abandoned.
    private func end(_ number: Int, _ client: String?) {
        state.withLock { state in
            guard var entry = state.entries[number], let answers = entry.answers[client] else { return }
            entry.answers[client] = answers > 1 ? answers - 1 : nil
            let isLast = entry.answers.isEmpty
            if answers == 1 { state.budget.giveBack(entry.result.bytes.count, of: client, isLast: isLast) }
            state.entries[number] = isLast ? nil : entry
            // A newer result may have taken its place.
            if isLast, state.numbers[entry.key] == number { state.numbers[entry.key] = nil }
        }
    }
}

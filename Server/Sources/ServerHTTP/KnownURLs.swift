import ServerGrammar
import Synchronization

/// URLs that were checked and read a short while ago, so that a result in memory costs neither again. Any thread may use it.
final class KnownURLs: Sendable {
    /// A URL with what was asked for by it.
    struct Known: Sendable {
        var url: URLGrammar.ParsedURL
        /// Names the result.
        var key: String
        /// Of the source.
        var host: String?
        /// The name that the result was given last.
        var disposition: ResultAnswer.Disposition
    }

    /// What the meaning of a URL depends on.
    struct Asked: Hashable, Sendable {
        var target: String
        var accept: String?

        var length: Int { target.utf8.count + (accept?.utf8.count ?? 0) }
    }

    private struct State {
        var recent: [Asked: Known] = [:]
        /// Those of the generation before.
        var older: [Asked: Known] = [:]
    }

    private let most: Int
    private let state = Mutex(State())

    /// - Parameter most: how many there are in a generation; there are two.
    init(most: Int = 2048) { self.most = most }

    func known(_ asked: Asked) -> Known? {
        state.withLock { state in
            if let known = state.recent[asked] { return known }
            guard let known = state.older[asked] else { return nil }
            insert(known, asked, &state)
            return known
        }
    }

    func keep(_ known: Known, _ asked: Asked) { state.withLock { insert(known, asked, &$0) } }

    private func insert(_ known: Known, _ asked: Asked, _ state: inout State) {
        if state.recent.count >= most {
            state.older = state.recent
            state.recent = [:]
        }
        state.recent[asked] = known
    }
}

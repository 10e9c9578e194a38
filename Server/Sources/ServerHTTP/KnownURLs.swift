import ServerGrammar
import Synchronization

/// URLs that were checked and parsed recently, so that a result in memory needs neither again. Any thread may use it.
final class KnownURLs: Sendable {
    /// The parsed content of a URL.
    struct Known: Sendable {
        var url: URLGrammar.ParsedURL
        /// The key of the result.
        var key: String
        /// The host of the source.
        var host: String?
        /// The last `Content-Disposition` of the result.
        var disposition: ResultAnswer.Disposition
    }

    /// Everything that determines the meaning of a URL. It is compared by its bytes: the signature of one URL is not that
    /// of another which Swift's strings take for equal.
    struct Asked: Hashable, Sendable {
        var target: String
        var accept: String?

        var length: Int { target.utf8.count + (accept?.utf8.count ?? 0) }

        static func == (left: Asked, right: Asked) -> Bool {
            left.target.utf8.elementsEqual(right.target.utf8)
                && (left.accept ?? "").utf8.elementsEqual((right.accept ?? "").utf8)
        }

        func hash(into hasher: inout Hasher) {
            for text in [target, accept ?? ""] {
                var text = text
                text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
                hasher.combine(UInt8(0xFF))
            }
        }
    }

    private struct State {
        var recent: [Asked: Known] = [:]
        /// The entries of the previous generation.
        var older: [Asked: Known] = [:]
    }

    private let most: Int
    private let state = Mutex(State())

    /// - Parameter most: how many entries a generation has; there are two generations.
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

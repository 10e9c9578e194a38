public import ServerGrammar
import Synchronization

/// Lets so many pictures be made at a time, and refuses more at once: who would wait in vain is told so now.
public final class MissGate: Sendable {
    private struct State {
        var running = 0
        /// How long one picture keeps a thread, in seconds; a moving average.
        var cost = 0.02
    }

    private let most: Int
    private let threads: Int
    private let patience: Double
    private let state = Mutex(State())

    /// - Parameters:
    ///   - most: pictures that are made or wait at a time.
    ///   - threads: that make them.
    ///   - patience: seconds after which a caller gives up.
    public init(most: Int, threads: Int, patience: Double) {
        self.most = most
        self.threads = max(threads, 1)
        self.patience = patience
    }

    /// How many are being made or wait.
    public var running: Int { state.withLock { $0.running } }
    /// Whether the next one would be refused.
    public var isFull: Bool { state.withLock { refusal($0) != nil } }

    /// - Throws: `Too many requests`, with the time after which to ask again.
    public func enter() throws(RequestRefusal) {
        let refused: RequestRefusal? = state.withLock { state in
            if let refusal = refusal(state) { return refusal }
            state.running += 1
            return nil
        }
        if let refused { throw refused }
    }

    /// - Parameter work: how long a thread was busy with it, in seconds; nil when it came to nothing.
    public func leave(work: Double?) {
        state.withLock { state in
            state.running -= 1
            if let work { state.cost += (min(max(work, 0.0001), 30) - state.cost) * 0.1 }
        }
    }

    private func refusal(_ state: State) -> RequestRefusal? {
        let wait = Double(state.running) * state.cost / Double(threads)
        guard state.running >= most || wait > patience else { return nil }
        return .tooMany(
            "\(state.running) pictures are waiting, about \(Int(wait * 1000)) ms",
            retryAfter: max(1, Int(wait.rounded(.up))))
    }
}

import Synchronization
import WebImageSystem

/// Keeps the memory that all running decodes have taken under a budget: who does not fit waits, in order. One that is
/// larger than the whole budget runs when it is alone.
final class DecodeAdmission: Sendable {
    private struct State {
        var used = 0
        var waiting = FIFO<(bytes: Int, run: @Sendable () -> Void)>()
        var waitingBytes: Int?

        mutating func take(_ bytes: Int, _ budget: Int) -> Bool {
            guard waitingBytes == nil, used == 0 || used + bytes <= budget else { return false }
            used += bytes
            return true
        }
    }

    private let budget: Int
    private let state = Guarded(State())

    init(budget: Int) { self.budget = budget }

    var used: Int { state.withLock { $0.used } }

    /// Takes `bytes` now if they are there and nobody waits.
    func take(_ bytes: Int) -> Bool { state.withLock { $0.take(bytes, budget) } }

    /// Takes `bytes` now, or returns false: then `run` is called once, off every lock, when they have been taken.
    func take(_ bytes: Int, orLater run: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            if state.take(bytes, budget) { return true }
            state.waiting.append((bytes, run))
            if state.waitingBytes == nil { state.waitingBytes = bytes }
            return false
        }
    }

    func give(_ bytes: Int) {
        let ready = state.withLock { state -> [@Sendable () -> Void] in
            state.used -= bytes
            var ready: [@Sendable () -> Void] = []
            while let next = state.waitingBytes, state.used == 0 || state.used + next <= budget {
                guard let first = state.waiting.popFirst() else { break }
                state.used += first.bytes
                ready.append(first.run)
                state.waitingBytes = state.waiting.first?.bytes
            }
            return ready
        }
        for run in ready { run() }
    }
}

/// Whether a decode that cannot be interrupted may begin.
enum LongDecodeTurn {
    case notNeeded
    case needed
    case taken
}

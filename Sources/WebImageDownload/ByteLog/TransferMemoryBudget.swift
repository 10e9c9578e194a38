import Synchronization
import WebImageSystem

/// The memory that all logs together may hold. What is over goes to their files; only when the files cannot follow
/// does a writer stand still.
package final class TransferMemoryBudget: Sendable {
    private struct State {
        var used = 0
        var waiting: [@Sendable () -> Void] = []
    }

    package let limit: Int
    private let state = Guarded(State())

    /// - Parameter limit: bytes, default 64 MiB.
    package init(limit: Int = 64 << 20) { self.limit = limit }

    package var used: Int { state.withLock { $0.used } }

    /// What a log said it needs; true when it may keep the bytes in memory. The last quarter is for bytes on their way
    /// to a file, so that logs which keep what they have can never stop the others for good.
    func take(_ bytes: Int) -> Bool {
        state.withLock { state in
            state.used += bytes
            return state.used <= mostKept
        }
    }

    private var mostKept: Int { limit - limit / 4 }

    /// Whether bytes that can be had otherwise may be kept.
    var mayKeepMore: Bool { state.withLock { $0.used < mostKept } }

    var isOver: Bool { state.withLock { $0.used > limit } }

    func give(_ bytes: Int) {
        let ready = state.withLock { state -> [@Sendable () -> Void] in
            state.used -= bytes
            guard state.used <= limit, !state.waiting.isEmpty else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for run in ready { run() }
    }

    /// Calls `run` once, off the lock, as soon as the logs hold no more than allowed: perhaps at once.
    package func whenBelow(_ run: @escaping @Sendable () -> Void) {
        let isBelow = state.withLock { state in
            if state.used <= limit { return true }
            state.waiting.append(run)
            return false
        }
        if isBelow { run() }
    }
}

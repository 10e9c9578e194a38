import Synchronization
import WebImageSystem

/// The memory that all logs together may use. Bytes beyond it go to the logs' files; a writer waits only if the files
/// are too slow.
package final class TransferMemoryBudget: Sendable {
    private struct State {
        var used = 0
        /// Bytes that no file could take.
        var stranded = 0
        var waiting: [@Sendable () -> Void] = []
    }

    package let limit: Int
    private let state = Guarded(State())

    /// - Parameter limit: bytes, default 64 MiB.
    package init(limit: Int = 64 << 20) { self.limit = limit }

    /// The most bytes that all logs together keep in memory beyond the limit because the disk fails.
    private var maxStranded: Int { max(limit / 4, 16 << 20) }

    /// Reserves memory for bytes that no file can take, for as long as their log lives. Returns false if there is none:
    /// nobody waits for such memory.
    func strand(_ bytes: Int) -> Bool {
        state.withLock { state in
            guard state.stranded + bytes <= maxStranded else { return false }
            state.stranded += bytes
            return true
        }
    }

    func unstrand(_ bytes: Int) { state.withLock { $0.stranded -= bytes } }

    package var used: Int { state.withLock { $0.used } }

    /// Returns true if a log may keep the given bytes in memory. The last quarter is reserved for bytes on their way to
    /// a file, so that logs that keep their bytes can never block the others for good.
    func take(_ bytes: Int) -> Bool {
        state.withLock { state in
            state.used += bytes
            return state.used <= maxKept
        }
    }

    private var maxKept: Int { limit - limit / 4 }

    /// Whether a log may keep bytes in memory that it can also read from a file.
    var mayKeepMore: Bool { state.withLock { $0.used < maxKept } }

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

    /// Calls `run` once, without the lock held, when the logs use no more than the limit, possibly at once.
    package func whenBelow(_ run: @escaping @Sendable () -> Void) {
        let isBelow = state.withLock { state in
            if state.used <= limit { return true }
            state.waiting.append(run)
            return false
        }
        if isBelow { run() }
    }
}

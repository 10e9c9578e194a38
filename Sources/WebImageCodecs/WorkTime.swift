import Synchronization
import WebImageCore
import WebImageSystem

/// Measures work that is done in pieces, without the time between two pieces. Any thread may use it.
final class WorkTime: Sendable {
    fileprivate struct State {
        var used = Duration.zero
        var begin: ContinuousClock.Instant?
    }

    private let limit: Duration
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Guarded(State())

    init(limit: Duration, now: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.limit = limit
        self.now = now
    }

    func begin() { state.withLock { $0.begin = now() } }

    func end() {
        state.withLock { state in
            state.used = state.time(at: now())
            state.begin = nil
        }
    }

    /// - Throws: `limitExceeded` if it has taken longer than the limit.
    func check() throws(WebImageError) {
        let used = state.withLock { $0.time(at: now()) }
        guard used > limit else { return }
        throw WebImageError(over: .time, "reading the picture's header took longer than \(limit.inWords)")
    }
}

extension WorkTime.State {
    fileprivate func time(at now: ContinuousClock.Instant) -> Duration { used + (begin.map { now - $0 } ?? .zero) }
}

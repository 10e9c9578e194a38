import Synchronization
import WebImageCore
import WebImageSystem

/// Pauses transfers of low priority while those who store the bodies fall behind. Transfers of a higher priority go on:
/// a picture that somebody waits for does not wait for the disk.
package final class TransferBrake: Sendable {
    private struct State {
        /// Negative if a release has overtaken its pull, on another thread.
        var count = 0
        var waiting: [@Sendable () -> Void] = []
    }

    private let state = Guarded(State())
    /// Read with every piece of every body.
    private let isPulled = Atomic(false)

    init() {}

    /// Whether a transfer of that priority must wait.
    func holds(_ priority: LoadPriority) -> Bool { priority <= .low && isPulled.load(ordering: .relaxed) }

    /// May be called on any thread; each call must be followed by one of ``release()``, in whatever order they arrive.
    package func pull() { change(by: 1) }

    package func release() { change(by: -1) }

    private func change(by difference: Int) {
        let ready = state.withLock { state -> [@Sendable () -> Void] in
            state.count += difference
            isPulled.store(state.count > 0, ordering: .relaxed)
            guard state.count <= 0 else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for run in ready { run() }
    }

    /// Calls `run` once, without locks held, when the brake is released, possibly at once.
    func whenReleased(_ run: @escaping @Sendable () -> Void) {
        let isHeld = state.withLock { state in
            if state.count > 0 { state.waiting.append(run) }
            return state.count > 0
        }
        if !isHeld { run() }
    }
}

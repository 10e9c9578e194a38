import Synchronization

/// Wakes one waiting task. A nudge that comes before the task waits is remembered, and wakes the task at once when it
/// waits.
final class Nudge: Sendable {
    private struct State {
        var isPending = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    func give() {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            if state.waiter == nil { state.isPending = true }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Returns after a nudge, when the time is over, or when the task is cancelled.
    func wait(atMost milliseconds: Int) async {
        let timer = Task { [weak self] in
            guard (try? await Task.sleep(for: .milliseconds(milliseconds))) != nil else { return }
            self?.give()
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.isPending || Task.isCancelled {
                        state.isPending = false
                        return true
                    }
                    state.waiter = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            give()
        }
        timer.cancel()
    }
}

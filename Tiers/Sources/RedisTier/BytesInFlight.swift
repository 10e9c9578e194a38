import Synchronization
import WebImage

/// Limits how many bytes are sent at a time. Those that come later wait in the order in which they came. Any thread may
/// use it.
final class BytesInFlight: Sendable {
    private struct State {
        var bytes = 0
        var waiting: [(number: Int, bytes: Int, continuation: CheckedContinuation<Bool, Never>)] = []
        var lastNumber = 0
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int) { self.limit = limit }

    /// Waits until there is room for this many bytes. More than the limit may be sent if nothing else is. Each call that
    /// returns needs a call of ``leave(_:)``.
    ///
    /// - Throws: `cancelled` if the task is cancelled while it waits.
    func enter(_ bytes: Int) async throws(WebImageError) {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let hasEntered = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> Bool? in
                    if Task.isCancelled { return false }
                    if state.waiting.isEmpty, hasRoom(for: bytes, state) {
                        state.bytes += bytes
                        return true
                    }
                    state.waiting.append((number, bytes, continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0).continuation }
            }
            waiter?.resume(returning: false)
            // Those behind it may need less room.
            admitWaiting()
        }
        guard hasEntered else { throw .cancelled }
    }

    func leave(_ bytes: Int) {
        state.withLock { $0.bytes -= bytes }
        admitWaiting()
    }

    private func hasRoom(for bytes: Int, _ state: State) -> Bool { state.bytes == 0 || state.bytes + bytes <= limit }

    private func admitWaiting() {
        while let next = state.withLock({ state -> CheckedContinuation<Bool, Never>? in
            guard let first = state.waiting.first, hasRoom(for: first.bytes, state) else { return nil }
            state.bytes += first.bytes
            return state.waiting.removeFirst().continuation
        }) {
            next.resume(returning: true)
        }
    }
}

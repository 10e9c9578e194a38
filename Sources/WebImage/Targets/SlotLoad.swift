import Synchronization
import WebImageCore
import WebImageSystem

/// Calls something on the main actor, soon and not now.
typealias MainActorHop = @Sendable (@escaping @MainActor @Sendable () -> Void) -> Void

/// One load of a slot, with what it has told and the slot has not taken yet. However much it tells, one hop to the main actor
/// at a time is under way for it. Letting go of it cancels the load.
final class SlotLoad: Sendable {
    private struct State {
        var pending = PendingEvents()
        /// True while the slot is about to come by: after a hop was asked for, and while the load is begun.
        var isExpected = true
        var token: LoadToken?
    }

    let number: Int
    private let state = Guarded(State())
    private let callSlot: @Sendable (SlotLoad) -> Void

    /// - Parameter callSlot: asks the slot to come by on the main actor; called on any thread.
    init(_ number: Int, callSlot: @escaping @Sendable (SlotLoad) -> Void) {
        self.number = number
        self.callSlot = callSlot
    }

    deinit { state.withLock { $0.token }?.cancel() }

    /// Begins it. What it tells before this returns is there to be taken.
    func begin(_ request: ImageRequest, by manager: ImageManager) {
        let token = manager.load(request) { [weak self] event in self?.post(event) }
        state.withLock { $0.token = token }
    }

    func setPriority(_ priority: LoadPriority) { state.withLock { $0.token }?.setPriority(priority) }

    private func post(_ event: ImageEvent) {
        let mustCall = state.withLock { state in
            state.pending.put(event)
            defer { state.isExpected = true }
            return !state.isExpected
        }
        if mustCall { callSlot(self) }
    }

    /// The next thing that it has told; nil: there is nothing more, and it will call when there is.
    func take() -> ImageEvent? {
        state.withLock { state in
            let event = state.pending.take()
            if event == nil { state.isExpected = false }
            return event
        }
    }
}

/// What is called with the answer to one call of a slot: once, also when the slot is gone before.
final class SlotCompletion: Sendable {
    typealias Body = @MainActor (Result<ImageResponse, WebImageError>) -> Void

    private let body: Guarded<Body?>
    private let hop: MainActorHop

    init(_ body: @escaping Body, hop: @escaping MainActorHop) {
        self.body = Guarded(body)
        self.hop = hop
    }

    deinit {
        guard let body = take() else { return }
        hop { body(.failure(.cancelled)) }
    }

    @MainActor func callAsFunction(_ result: Result<ImageResponse, WebImageError>) { take()?(result) }

    private func take() -> Body? {
        body.withLock { body in
            defer { body = nil }
            return body
        }
    }
}

import Synchronization
import WebImageCore
import WebImageSystem

/// Calls a closure on the main actor soon, and never before returning.
typealias MainActorHop = @Sendable (@escaping @MainActor @Sendable () -> Void) -> Void

/// One load of a slot, with the events that the slot has not taken yet. However many events arrive, at most one hop to
/// the main actor is pending for them. Releasing this object cancels the load.
final class SlotLoad: Sendable {
    private struct State {
        var pending = PendingEvents()
        /// True while the slot is about to take events: when a hop is pending, and while the load is being started.
        var isExpected = true
        var token: LoadToken?
    }

    let number: Int
    private let state = Guarded(State())
    private let callSlot: @Sendable (SlotLoad) -> Void

    /// - Parameter callSlot: makes the slot take the events on the main actor; called on any thread.
    init(_ number: Int, callSlot: @escaping @Sendable (SlotLoad) -> Void) {
        self.number = number
        self.callSlot = callSlot
    }

    deinit { state.withLock { $0.token }?.cancel() }

    /// Starts the load, of a picture that is not in memory. Events that arrive before this returns can be taken then,
    /// without a hop.
    func begin(_ request: ImageRequest, by manager: ImageManager) {
        let token = manager.load(request, on: .direct, asksMemory: false) { [weak self] event in self?.post(event) }
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

    /// Takes the next event. Nil if there is none; the slot is then called when there is one.
    func take() -> ImageEvent? {
        state.withLock { state in
            let event = state.pending.take()
            if event == nil { state.isExpected = false }
            return event
        }
    }
}

/// The completion of one call of a slot. It is called once; if it is released before the answer, with `cancelled`.
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

import Synchronization
import WebImageCore
import WebImageSystem

/// The events that a caller has not received yet: the cached picture, the newest progress, the newest preview, and the
/// end. After the end nothing else is accepted.
struct PendingEvents {
    private var cached: ImageResponse?
    private var progress: LoadProgress?
    private var preview: Image?
    private var end: Result<ImageResponse, WebImageError>?
    private var isOver = false

    /// Whether no event can be taken now.
    var isEmpty: Bool { cached == nil && progress == nil && preview == nil && end == nil }

    /// True after the end was received: no event will follow.
    var isDone: Bool { isOver && end == nil }

    mutating func put(_ event: ImageEvent) {
        guard !isOver else { return }
        switch event {
        case .cached(let response): cached = response
        case .progress(let progress): self.progress = progress
        case .preview(let image): preview = image
        case .finished(let result):
            isOver = true
            end = result
            // Progress and previews that were not received are dropped at the end. For a failed picture the last
            // preview is kept, since it may be all that there is to show.
            progress = nil
            if case .success = result { cached = nil }
            if isWorthNoPreview(result) { preview = nil }
        }
    }

    private func isWorthNoPreview(_ result: Result<ImageResponse, WebImageError>) -> Bool {
        guard case .failure(let error) = result else { return true }
        return error.code == .cancelled
    }

    mutating func take() -> ImageEvent? {
        if let cached {
            self.cached = nil
            return .cached(cached)
        }
        if let progress {
            self.progress = nil
            return .progress(progress)
        }
        if let preview {
            self.preview = nil
            return .preview(preview)
        }
        guard let end else { return nil }
        self.end = nil
        return .finished(end)
    }
}

/// Holds the events that a reader has not received yet.
final class EventMailbox: Sendable {
    private struct State {
        var pending = PendingEvents()
        var reader: CheckedContinuation<ImageEvent?, Never>?
    }

    private let state = Guarded(State())

    func post(_ event: ImageEvent) {
        let delivery = state.withLock { state -> (CheckedContinuation<ImageEvent?, Never>, ImageEvent)? in
            state.pending.put(event)
            guard let reader = state.reader, let event = state.pending.take() else { return nil }
            state.reader = nil
            return (reader, event)
        }
        if let (reader, event) = delivery { reader.resume(returning: event) }
    }

    /// The next event; nil after the end. One reader at a time.
    func next() async -> ImageEvent? {
        await withCheckedContinuation { continuation in
            let ready = state.withLock { state -> ImageEvent?? in
                if let event = state.pending.take() { return .some(event) }
                if state.pending.isDone { return .some(nil) }
                precondition(state.reader == nil, "an event sequence has one reader")
                state.reader = continuation
                return nil
            }
            if let ready { continuation.resume(returning: ready) }
        }
    }
}

/// Calls one caller's closure with its events, one at a time and the end last, whichever threads the events come from.
/// An event that arrives during a call (even from the call itself), or before the executor has come to it, is delivered
/// after it. So an executor that is busy for long is given one closure, not one for each event.
final class EventCallback: Sendable {
    private struct State {
        var pending = PendingEvents()
        /// Whether the executor has been asked to deliver the pending events, and has not delivered them all.
        var isCalling = false
    }

    private let state = Guarded(State())
    private let executor: CallbackExecutor
    private let call: @Sendable (ImageEvent) -> Void

    init(on executor: CallbackExecutor = .direct, _ call: @escaping @Sendable (ImageEvent) -> Void) {
        self.executor = executor
        self.call = call
    }

    func post(_ event: ImageEvent) {
        let begins = state.withLock { state in
            state.pending.put(event)
            if state.isCalling || state.pending.isEmpty { return false }
            state.isCalling = true
            return true
        }
        if begins { executor.run { self.deliver() } }
    }

    private func deliver() {
        while let event = state.withLock({ state -> ImageEvent? in
            let next = state.pending.take()
            state.isCalling = next != nil
            return next
        }) {
            call(event)
        }
    }
}

/// The events of one load. Iterating starts the load. Leaving the loop, releasing the iterator or cancelling the task
/// cancels it.
public struct ImageEvents: AsyncSequence, Sendable {
    public typealias Element = ImageEvent

    let start: @Sendable (EventMailbox) -> LoadToken

    public func makeAsyncIterator() -> Iterator { Iterator(start: start) }

    public struct Iterator: AsyncIteratorProtocol {
        /// Cancels the load when its events can no longer be read.
        private final class Load: Sendable {
            let mailbox = EventMailbox()
            let token: LoadToken

            init(start: (EventMailbox) -> LoadToken) { token = start(mailbox) }

            deinit { token.cancel() }
        }

        private let start: @Sendable (EventMailbox) -> LoadToken
        private var load: Load?

        init(start: @escaping @Sendable (EventMailbox) -> LoadToken) { self.start = start }

        public mutating func next() async -> ImageEvent? {
            let load = self.load ?? Load(start: start)
            self.load = load
            return await withTaskCancellationHandler {
                await load.mailbox.next()
            } onCancel: {
                load.token.cancel()
            }
        }
    }
}

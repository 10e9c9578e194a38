import Synchronization
import WebImageCore
import WebImageSystem

/// Events that a caller has not been told yet: what the caches have, at most one progress and one preview, the newest, and
/// the end. Once the end is here, nothing else is taken.
struct PendingEvents {
    private var cached: ImageResponse?
    private var progress: LoadProgress?
    private var preview: Image?
    private var end: Result<ImageResponse, WebImageError>?
    private var isOver = false

    /// True when the end was taken: no event will come.
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
            // What nobody has seen of the way is not worth a look any more; but of a picture that failed, the part that
            // there is may be all that one will see.
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

/// Holds the events that a reader has not taken yet.
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

/// Calls one caller's function with its events: never twice at once and the end last, whichever threads they come from.
/// An event that comes during a call (from the call itself, too) is told after it.
final class EventCallback: Sendable {
    private struct State {
        var pending = PendingEvents()
        var isCalling = false
    }

    private let state = Guarded(State())
    private let call: @Sendable (ImageEvent) -> Void

    init(_ call: @escaping @Sendable (ImageEvent) -> Void) { self.call = call }

    func post(_ event: ImageEvent) {
        var next = state.withLock { state -> ImageEvent? in
            state.pending.put(event)
            if state.isCalling { return nil }
            let next = state.pending.take()
            state.isCalling = next != nil
            return next
        }
        while let event = next {
            call(event)
            next = state.withLock { state in
                let next = state.pending.take()
                state.isCalling = next != nil
                return next
            }
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
        /// Cancels the load when nobody can ask for its events any more.
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

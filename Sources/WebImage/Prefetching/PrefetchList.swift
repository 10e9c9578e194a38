import Synchronization
import WebImageCore
import WebImageSystem

/// The parts of a list that do not concern the order of work: its requests and its listener.
final class PrefetchList: Sendable {
    fileprivate struct State {
        var waiting = FIFO<PrefetchEvent>()
        var isCalling = false
        /// The pictures of which the listener was told that they have begun, but not that they have ended.
        var running: Set<Int> = []
        /// The furthest progress that was reported to the listener.
        var told = PrefetchProgress(total: 0)
        var isOver = false
        var end: PrefetchProgress?
        /// Whether the end was reported to the listener, if there is one.
        var hasToldEnd = false
        var answers: [CancellableAnswer<PrefetchProgress>] = []
    }

    let request: @Sendable (Int) throws(WebImageError) -> ImageRequest
    private let onEvent: (@Sendable (PrefetchEvent) -> Void)?
    private let executor: CallbackExecutor
    private let beginMore: @Sendable () -> Void
    private let state = Guarded(State())

    /// - Parameter beginMore: begins further pictures, when an executor that is not direct has reported the end of one.
    ///   It is called on the executor, and must not block.
    init(
        _ request: @escaping @Sendable (Int) throws(WebImageError) -> ImageRequest, _ executor: CallbackExecutor,
        _ onEvent: (@Sendable (PrefetchEvent) -> Void)?, beginMore: @escaping @Sendable () -> Void = {}
    ) {
        self.request = request
        self.executor = executor
        self.onEvent = onEvent
        self.beginMore = beginMore
    }

    /// Whether there is a listener.
    var isWatched: Bool { onEvent != nil }

    /// Reports an event to the listener, after the earlier ones.
    ///
    /// - Returns: whether the caller should begin further pictures. If another thread is reporting an event, or an
    ///   executor will report it later, the result is false: that thread also reports this event, and then begins
    ///   further pictures. So a slow listener is not flooded.
    func tell(_ event: PrefetchEvent) -> Bool {
        guard let onEvent else { return event.isItem }
        let isMine = state.withLock { state in
            guard state.takes(event) else { return false }
            state.waiting.append(state.goingForward(event))
            if state.isCalling { return false }
            state.isCalling = true
            return true
        }
        guard isMine else { return false }
        if executor.isDirect { return deliver(to: onEvent) }
        executor.run { [self] in
            if deliver(to: onEvent) { beginMore() }
        }
        return false
    }

    /// Reports every event that waits.
    ///
    /// - Returns: whether the end of a picture was among them.
    private func deliver(to onEvent: @Sendable (PrefetchEvent) -> Void) -> Bool {
        var hasItems = false
        while let next = state.withLock({ state -> PrefetchEvent? in
            let next = state.waiting.popFirst()
            state.isCalling = next != nil
            return next
        }) {
            onEvent(next)
            hasItems = hasItems || next.isItem
            if case .finished(let progress) = next { answer(progress) }
        }
        return hasItems
    }

    /// Sets ``finalProgress``. ``reportEnd(_:)`` follows.
    func note(end progress: PrefetchProgress) { state.withLock { $0.end = progress } }

    /// Tells the listener, and then everyone who waits for the end, after ``note(end:)``.
    func reportEnd(_ progress: PrefetchProgress) {
        if isWatched { _ = tell(.finished(progress)) } else { answer(progress) }
    }

    /// Tells everyone who waits for the end. The listener knows of all pictures by now.
    private func answer(_ progress: PrefetchProgress) {
        let answers = state.withLock { state in
            state.hasToldEnd = true
            defer { state.answers = [] }
            return state.answers
        }
        for answer in answers { answer.give(.success(progress)) }
    }

    /// Whether everyone who waited for the end has been told.
    var hasToldEnd: Bool { state.withLock { $0.hasToldEnd } }

    var finalProgress: PrefetchProgress? { state.withLock { $0.end } }

    func whenEnded(_ answer: CancellableAnswer<PrefetchProgress>) {
        let end = state.withLock { state -> PrefetchProgress? in
            if state.hasToldEnd { return state.end }
            state.answers.append(answer)
            return nil
        }
        if let end { answer.give(.success(end)) }
    }
}

extension PrefetchList.State {
    /// Records an event that will be reported.
    ///
    /// - Returns: false if the event comes too late to be reported. A transfer's progress comes from another thread
    ///   than its end. A picture may be cancelled, and its list may end, before its beginning is reported.
    fileprivate mutating func takes(_ event: PrefetchEvent) -> Bool {
        guard !isOver else { return false }
        switch event {
        case .began(let index): running.insert(index)
        // Progress is soon outdated, so it does not wait for the listener.
        case .transfer(let index, _): return !isCalling && running.contains(index)
        case .item(let item, _): running.remove(item.index)
        case .finished: isOver = true
        }
        return true
    }

    /// The event with a progress that is not behind that of an earlier event. Pictures that end at the same time are
    /// reported by several threads, in any order.
    fileprivate mutating func goingForward(_ event: PrefetchEvent) -> PrefetchEvent {
        guard case .item(let item, let progress) = event else { return event }
        if progress.finished >= told.finished { told = progress }
        return .item(item, told)
    }
}

extension PrefetchEvent {
    /// Whether a picture has ended.
    fileprivate var isItem: Bool {
        if case .item = self { true } else { false }
    }
}

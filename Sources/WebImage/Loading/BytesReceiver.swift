import Synchronization
import WebImageCore
import WebImageDownload
import WebImageSystem

/// A seeker that needs a request's bytes without a picture.
final class BytesReceiver: BytesSeeker {
    private struct State {
        var download: Download?
        var hasLeft = false
        var timeout: ScheduledAction?
        /// Set when the request's timeout has passed.
        var lateness: WebImageError?
        /// The closures to call when the timeout passes, by number.
        var whenLate: [Int: @Sendable (WebImageError) -> Void] = [:]
        var lastNumber = 0
    }

    let priority: LoadPriority
    let finishesWhenDrained: Bool
    let keeper: OriginalKeeper
    let answer = CancellableAnswer<OpenedBytes>()
    /// Called before the answer is given, on the thread that found the bytes.
    private let onFound: @Sendable (OpenedBytes) -> Void
    private let state = Guarded(State())

    init(
        priority: LoadPriority, finishesWhenDrained: Bool, keeper: OriginalKeeper,
        onFound: @escaping @Sendable (OpenedBytes) -> Void
    ) {
        self.priority = priority
        self.keeper = keeper
        self.onFound = onFound
        self.finishesWhenDrained = finishesWhenDrained
    }

    var owner: AnyObject { self }
    var isAbandoned: Bool { state.withLock { $0.hasLeft } }
    var makesPicture: Bool { false }
    var remembered: AnswerRecord? { nil }
    var trace: TraceBook? { nil }

    func follow(_ download: Download) -> Bool {
        state.withLock { state in
            if !state.hasLeft { state.download = download }
            return !state.hasLeft
        }
    }

    func answerFromMemory(_ body: StoredResponse?, isProvisional: Bool) -> Bool { false }
    func found(_ bytes: OpenedBytes) {
        onFound(bytes)
        answer.give(.success(bytes))
    }

    func failed(_ error: WebImageError) { answer.give(.failure(error)) }

    /// - Parameter error: the error with which the reading ends at `time`, unless the receiver has left before.
    func arm(at time: Duration, _ clock: any LoadClock, _ error: WebImageError) {
        let action = clock.schedule(at: time) { [weak self] in self?.expire(error) }
        let isLate = state.withLock { state in
            if !state.hasLeft { state.timeout = action }
            return state.hasLeft
        }
        if isLate { action.cancel() }
    }

    /// Calls `run` when the timeout passes before the receiver has left; at once if it has passed already.
    ///
    /// - Returns: the number for ``forget(_:)``.
    func whenLate(_ run: @escaping @Sendable (WebImageError) -> Void) -> Int {
        let (number, lateness) = state.withLock { state in
            state.lastNumber += 1
            if state.lateness == nil, !state.hasLeft { state.whenLate[state.lastNumber] = run }
            return (state.lastNumber, state.lateness)
        }
        if let lateness { run(lateness) }
        return number
    }

    func forget(_ number: Int) { state.withLock { $0.whenLate[number] = nil } }

    private func expire(_ error: WebImageError) {
        let late = state.withLock { state in
            if !state.hasLeft { state.lateness = error }
            defer { state.whenLate = [:] }
            return state.hasLeft ? [:] : state.whenLate
        }
        for run in late.values { run(error) }
        answer.give(.failure(error))
    }

    func leave() {
        let (download, timeout) = state.withLock { state in
            state.hasLeft = true
            defer { (state.download, state.timeout, state.whenLate) = (nil, nil, [:]) }
            return (state.download, state.timeout)
        }
        timeout?.cancel()
        download?.cancel()
    }
}

import HTTPTypes
import Synchronization
import WebImageCore
import WebImageSystem

/// A transfer from an ``ImageLoader``. Only the total deadline applies. However it ends, its slot is held until the
/// loader has returned.
final class LoaderTransfer: Transfer {
    struct Rules: Sendable {
        let bodyLimit: Int
        let totalDeadline: Duration?
        let minimumProgressInterval: Double
    }

    private struct State {
        var work: Task<Void, Never>?
        var received = 0
        var expectedLength: Int?
        var hasBegun = false
        var hasEnded = false
        /// Seconds since 1970.
        var begunAt: Int64 = 0
        var head = ResponseHead(status: 200)
        var metrics = TransferMetrics()
        var progress: ProgressGate
        /// Whether a call of the receiver is using the log.
        var isWriting = false
        /// Whether the loader has returned, so that no more bytes follow.
        var isClosed = false
        /// Why bytes were refused. The body is then incomplete, even if the loader does not pass the error on.
        var refusal: WebImageError?
        var lateEnd: ByteLog.End?
        /// Set while the loader waits until all logs together hold less, or until the brake is released.
        var room: CancellableAnswer<Void>?
        /// Whether the loader waits for the brake.
        var isBraked = false
    }

    let id: TransferQueue.ID
    let log: ByteLog
    private let loader: any ImageLoader
    private let url: String
    private let rules: Rules
    private let surroundings: TransferSurroundings
    private let owner: any TransferOwner
    private let createdAt: Duration
    private let state: Guarded<State>
    private let urgency = Atomic(LoadPriority.normal.rawValue)

    init(
        id: TransferQueue.ID, loader: any ImageLoader, url: String, rules: Rules, log: ByteLog,
        surroundings: TransferSurroundings, owner: any TransferOwner
    ) {
        self.id = id
        self.log = log
        self.loader = loader
        self.url = url
        self.rules = rules
        self.surroundings = surroundings
        self.owner = owner
        createdAt = surroundings.clock.now
        state = Guarded(State(progress: ProgressGate(minimumInterval: rules.minimumProgressInterval)))
    }

    var metrics: TransferMetrics? { state.withLock { $0.hasEnded ? $0.metrics : nil } }

    func note(_ priority: LoadPriority) { urgency.store(priority.rawValue, ordering: .sequentiallyConsistent) }

    private var mustBrake: Bool {
        let priority = LoadPriority(rawValue: urgency.load(ordering: .sequentiallyConsistent)) ?? .normal
        return surroundings.brake.holds(priority)
    }

    func resumeIfUrgent() {
        if mustBrake { return }
        state.withLock { $0.isBraked ? $0.room : nil }?.give(.success(()))
    }

    /// Treats the answer like one over HTTP. If the loader states no lifetime, neither does the answer.
    var exchange: DownloadExchange? {
        guard log.receivedCount > 0 || log.end != nil else { return nil }
        if case .failed? = log.end, log.receivedCount == 0 { return nil }
        let (begunAt, head) = state.withLock { ($0.begunAt, $0.head) }
        return DownloadExchange(
            url: url, requestFields: [:], requestTime: begunAt, responseTime: begunAt, head: head,
            redirects: [], hops: [])
    }

    var firstDeadline: Duration? { rules.totalDeadline.map { createdAt + $0 } }

    func expire(at now: Duration) -> Duration? {
        guard let deadline = firstDeadline, !state.withLock({ $0.hasEnded }) else { return nil }
        guard deadline <= now else { return deadline }
        fail(
            WebImageError(.deadlineExceeded, "the download took longer than \((rules.totalDeadline ?? .zero).inWords)"))
        return nil
    }

    func begin() {
        let (now, wallTime) = (surroundings.clock.now, surroundings.clock.wallTime)
        let isNeeded = state.withLock { state in
            if state.hasBegun || state.hasEnded { return false }
            state.hasBegun = true
            state.begunAt = wallTime
            state.metrics.queued = now - createdAt
            return true
        }
        guard isNeeded else { return }
        emit(.started)
        owner.transferExpects(deadline: firstDeadline)
        let work = Task {
            do {
                try await self.loader.load(self.url, to: ImageReceiver(transfer: self))
                self.end(self.missing)
            } catch {
                let message = "the loader \(self.loader.name.prefix(64)) failed"
                self.end(WebImageError.wrapping(error, as: .connectionLost, message).at(redactedURL(self.url)))
            }
        }
        let isLate = state.withLock { state in
            if !state.hasEnded { state.work = work }
            return state.hasEnded
        }
        if isLate { work.cancel() }
    }

    /// The error of a body that is incomplete when the loader returns; nil if it is complete.
    private var missing: WebImageError? {
        let (received, expectedLength, refusal) = state.withLock { ($0.received, $0.expectedLength, $0.refusal) }
        if let refusal { return refusal.at(redactedURL(url)) }
        guard let expected = expectedLength, received < expected else { return nil }
        return WebImageError(
            .truncatedBody, "the loader \(loader.name.prefix(64)) brought \(received) of \(expected) bytes",
            location: redactedURL(url))
    }

    func fail(_ error: WebImageError) {
        let error = error.at(redactedURL(url))
        let work = noteEnd(error)
        let hasBegun = state.withLock { $0.hasBegun }
        // A loader that has begun gives up its slot when it returns.
        if hasBegun { owner.transferWillEnd(id) } else { owner.transferDidEnd(id) }
        log.abort(error)
        work?.cancel()
    }

    /// The loader has returned.
    private func end(_ error: WebImageError?) {
        noteEnd(error)
        owner.transferDidEnd(id)
        close(error.map { .failed($0) } ?? .complete)
    }

    /// Records the end of the transfer and emits its event, once. Returns the loader's task if it still runs.
    @discardableResult
    private func noteEnd(_ error: WebImageError?) -> Task<Void, Never>? {
        let now = surroundings.clock.now
        typealias Ended = (work: Task<Void, Never>?, metrics: TransferMetrics?, room: CancellableAnswer<Void>?)
        let (work, metrics, room) = state.withLock { state -> Ended in
            if state.hasEnded { return (nil, nil, nil) }
            state.hasEnded = true
            state.metrics.total = now - createdAt
            state.metrics.receivedBytes = state.received
            state.metrics.finalURL = url
            defer { (state.work, state.room) = (nil, nil) }
            return (state.work, state.metrics, state.room)
        }
        room?.give(.failure(.cancelled))
        if let metrics { surroundings.events.emitEnd(id, redactedURL(url), error, metrics.receivedBytes, metrics) }
        return work
    }

    private func emit(_ kind: @autoclosure () -> DownloadEvent.Kind) {
        surroundings.events.emit(id, redactedURL(url), kind())
    }

    // MARK: From the loader

    func expect(_ length: ByteCount?, _ fields: HTTPFields) {
        guard length.map({ $0.bytes >= 0 }) ?? true, beginWriting() == nil else { return }
        let head = ResponseHead(status: 200, headers: fields)
        state.withLock { ($0.head, $0.expectedLength) = (head, length?.bytes) }
        log.setHead(head, expectedLength: length?.bytes)
        endWriting()
    }

    func receive(_ bytes: [UInt8]) async throws(WebImageError) {
        if Task.isCancelled { throw .cancelled }
        if let refusal = beginWriting() { throw refusal.at(redactedURL(url)) }
        let result = try write(bytes)
        emitProgress()
        switch result {
        case .proceed: if mustBrake { try await wait(isBraked: true, surroundings.brake.whenReleased) }
        case .full(let error): throw refuse(error)
        case .pause: try await wait(isBraked: false, surroundings.budget.whenBelow)
        }
    }

    /// Waits until `whenOver` calls back. Throws `cancelled` at once when the transfer ends: nobody wants the bytes of
    /// a loader that goes on.
    private func wait(
        isBraked: Bool, _ whenOver: (@escaping @Sendable () -> Void) -> Void
    ) async throws(WebImageError) {
        let answer = CancellableAnswer<Void>()
        let isOver = state.withLock { state in
            if !state.hasEnded { (state.room, state.isBraked) = (answer, isBraked) }
            return state.hasEnded
        }
        if isOver { throw .cancelled }
        whenOver { answer.give(.success(())) }
        // The priority may have been raised before `room` was set.
        resumeIfUrgent()
        try await answer.value()
    }

    /// Records why bytes are refused.
    private func refuse(_ error: WebImageError) -> WebImageError {
        state.withLock { $0.refusal = $0.refusal ?? error }
        return error.at(redactedURL(url))
    }

    private func write(_ bytes: [UInt8]) throws(WebImageError) -> ByteLog.AppendResult {
        defer { endWriting() }
        let count = state.withLock { state in
            state.received += bytes.count
            return state.received
        }
        guard count <= rules.bodyLimit else {
            throw refuse(.bodyTooLarge(limit: rules.bodyLimit))
        }
        defer { log.publish() }
        return bytes.withUnsafeBytes { log.append($0) }
    }

    // MARK: One writer at a time

    /// Reserves the log for one call of the receiver, so that concurrent calls of a loader never write at once.
    ///
    /// - Returns: the error if this is not possible.
    private func beginWriting() -> WebImageError? {
        state.withLock { state in
            // When the transfer has ended, a task that the loader started may still bring bytes.
            if state.isClosed || state.hasEnded { return .cancelled }
            if state.isWriting {
                let name = loader.name.prefix(64)
                return WebImageError(
                    .responseRefused, "the loader \(name) brought bytes while it was still bringing others")
            }
            state.isWriting = true
            return nil
        }
    }

    private func endWriting() {
        let end = state.withLock { state in
            state.isWriting = false
            return state.lateEnd
        }
        if let end { log.finish(end) }
    }

    /// Ends the log, or leaves this to a call that is still writing although the loader has returned.
    private func close(_ end: ByteLog.End) {
        let isWriting = state.withLock { state in
            state.isClosed = true
            if state.isWriting { state.lateEnd = end }
            return state.isWriting
        }
        if !isWriting { log.finish(end) }
    }

    private func emitProgress() {
        guard surroundings.events.isWanted else { return }
        let (received, expected) = log.progress
        let isWanted = state.withLock { state in
            !state.hasEnded && state.progress.admits(received: received, expected: expected)
        }
        if isWanted { emit(.bytes(received: received, expected: expected)) }
    }
}

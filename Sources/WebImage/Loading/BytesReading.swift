import Synchronization
import WebImageCore
import WebImageDownload
import WebImageSystem

/// One reader of a request's bytes, who wants no picture made of them. Letting go of it ends the reading, and the transfer
/// if nobody else wants it.
final class BytesReading: Sendable {
    /// As it was let in.
    let request: ImageRequest
    let bytes: OpenedBytes
    let keeper: OriginalKeeper
    private let loader: Loader
    private let receiver: BytesReceiver
    private let settled: SettledLog

    private init(
        _ loader: Loader, _ request: ImageRequest, _ bytes: OpenedBytes, _ keeper: OriginalKeeper,
        _ receiver: BytesReceiver, _ settled: SettledLog
    ) {
        self.loader = loader
        self.request = request
        self.bytes = bytes
        self.keeper = keeper
        self.receiver = receiver
        self.settled = settled
    }

    deinit { receiver.leave() }

    /// Finds a request's bytes by its policy. What comes from the network is kept once it is whole and turns out to be a
    /// picture.
    ///
    /// - Parameter asksBehind: whether the origin is asked behind an answer that may be old.
    static func open(
        _ given: ImageRequest, by loader: Loader, asksBehind: Bool = true
    ) async throws(WebImageError) -> BytesReading {
        let settings = loader.origin.downloader.snapshot
        let request = await loader.door.enterWaiting(given, by: settings)
        let key = try BytesKey(request, by: settings)
        guard loader.table.withLock({ $0.beginPreliminary() }) else {
            throw LoadTable.shutDownError.at(request.redactedURL)
        }
        defer { loader.endPreliminary() }
        let keeper = OriginalKeeper(key, removals: loader.caches.removals(key.caching))
        let settled = SettledLog()
        // At once, not when this task goes on: whoever looks for the original just after it has come is to find that it is
        // there, or about to be.
        let receiver = BytesReceiver(
            priority: request.options.priority, finishesWhenDrained: request.options.http.finishesWhenDrained
        ) { bytes in
            bytes.log.whenSettled { log in
                // In this order: whoever knows the end, and then waits for the stores, waits for this one.
                loader.keepUndecoded(log, of: bytes, keeper, request)
                settled.set(log)
            }
        }
        if let timeout = request.options.timeout { receiver.arm(timeout, loader.clock, for: request) }
        BytesSearch(loader: loader, request: request, key: key, seeker: receiver).start()
        do throws(WebImageError) {
            let bytes = try await receiver.answer.value()
            if bytes.isProvisional, asksBehind { loader.askBehind(request) }
            return BytesReading(loader, request, bytes, keeper, receiver, settled)
        } catch {
            receiver.leave()
            throw error
        }
    }

    /// Waits for an answer for as long as the request's time lasts.
    ///
    /// - Throws: what the answer is; `deadlineExceeded`, `cancelled`.
    func value<Value: Sendable>(of answer: CancellableAnswer<Value>) async throws(WebImageError) -> Value {
        try await inTime({ answer.give(.failure($0)) }) { () async throws(WebImageError) in try await answer.value() }
    }

    /// - Parameter end: called when the request's time is over before `work` has ended; at once when it is over already.
    func inTime<Value: Sendable>(
        _ end: @escaping @Sendable (WebImageError) -> Void, _ work: () async throws(WebImageError) -> Value
    ) async throws(WebImageError) -> Value {
        let number = receiver.whenLate(end)
        defer { receiver.forget(number) }
        return try await work()
    }

    /// The log that has the body in the end, when all of it is there.
    ///
    /// - Throws: what the transfer failed with; `deadlineExceeded`, `cancelled`.
    func whole() async throws(WebImageError) -> ByteLog {
        let answer = CancellableAnswer<ByteLog>()
        settled.whenSet { log in
            if case .failed(let error) = log.end { return answer.give(.failure(error)) }
            answer.give(.success(log))
        }
        return try await value(of: answer)
    }

    /// Tells of the bytes that have come whenever there are more, until the end or until `watch` has ended: on threads for
    /// files, since the transport's is everybody's. Who is slow is told less often.
    func tellProgress(to watch: ProgressWatch) {
        Self.tellProgress(of: bytes.log, request.options.priority, on: loader.ioExecutor, watch)
    }

    private static func tellProgress(
        of log: ByteLog, _ priority: LoadPriority, on executor: any WorkExecutor, _ watch: ProgressWatch
    ) {
        let (received, expected) = log.progress
        if received > 0 {
            watch.tell(LoadProgress(received: ByteCount(received), expected: expected.map { ByteCount($0) }))
        }
        guard log.end == nil, !watch.hasEnded else { return }
        log.whenReadable(after: received) {
            executor.run(priority) { tellProgress(of: log.latest, priority, on: executor, watch) }
        }
    }

    /// Whether an entry stands in for bytes that broke off: a request with ``CachePolicy/cacheOnly`` brings it.
    func hasStandIn(for error: WebImageError) -> Bool { bytes.standIn(for: error, now: loader.clock.wallTime) != nil }

    /// Remembers how `work` went with the origin, if that was asked.
    func notingOutcome<Value: Sendable>(
        _ work: () async throws(WebImageError) -> Value
    ) async throws(WebImageError) -> Value {
        do throws(WebImageError) {
            let value = try await work()
            noteOutcome(nil)
            return value
        } catch {
            noteOutcome(error)
            throw error
        }
    }

    func noteOutcome(_ failure: WebImageError?) {
        if bytes.source == .network {
            loader.noteOutcome(of: keeper.key, failure: failure, as: failure == nil ? nil : request)
        }
    }
}

/// Who is told of a transfer until he has his answer: progress is told on another thread, which may come to it later.
final class ProgressWatch: Sendable {
    private let listener: Guarded<(@Sendable (LoadProgress) -> Void)?>

    init(_ listener: @escaping @Sendable (LoadProgress) -> Void) { self.listener = Guarded(listener) }

    func tell(_ progress: LoadProgress) {
        let listener = listener.withLock { $0 }
        listener?(progress)
    }

    var hasEnded: Bool { listener.withLock { $0 == nil } }

    /// No call begins after this. One that has begun may still run.
    func end() { listener.withLock { $0 = nil } }
}

/// The log that has a body in the end, once it has ended.
private final class SettledLog: Sendable {
    private struct State {
        var log: ByteLog?
        var waiting: [@Sendable (ByteLog) -> Void] = []
    }

    private let state = Guarded(State())

    func set(_ log: ByteLog) {
        let waiting = state.withLock { state in
            state.log = log
            defer { state.waiting = [] }
            return state.waiting
        }
        for run in waiting { run(log) }
    }

    /// Calls `run` once, off every lock; at once when the log is there.
    func whenSet(_ run: @escaping @Sendable (ByteLog) -> Void) {
        let log = state.withLock { state in
            if state.log == nil { state.waiting.append(run) }
            return state.log
        }
        if let log { run(log) }
    }
}

import Synchronization
import WebImageCore
import WebImageDownload
import WebImageSystem

/// One reader of a request's bytes, without decoding. Releasing it ends the reading, and the transfer if no one else
/// needs it.
final class BytesReading: Sendable {
    /// The request as ``RequestDoor`` has resolved it.
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

    /// Finds a request's bytes by its policy. Bytes from the network are stored when they are complete and turn out to
    /// be a picture.
    ///
    /// - Parameter revalidatesInBackground: whether the origin is asked in the background after an answer that may be stale.
    static func open(
        _ given: ImageRequest, by loader: Loader, revalidatesInBackground: Bool = true
    ) async throws(WebImageError) -> BytesReading {
        let settings = loader.origin.downloader.snapshot
        // The time counts from the call, also while the modifier is awaited.
        let timeout = loader.door.timeout(of: given)
        let end = timeout.map { loader.clock.now + $0 }
        let request = await loader.door.enterWaiting(given, by: settings, until: end)
        if Task.isCancelled { throw .cancelled }
        if let timeout, let end, loader.clock.now >= end { throw .tookTooLong(timeout, request) }
        let removals = loader.caches.removals(of: request.originalKey, request.options.caching)
        let key = try BytesKey(request, by: settings, removal: removals.ofOriginal)
        guard loader.table.withLock({ $0.beginPreliminary() }) else {
            throw LoadTable.shutDownError.at(request.redactedURL)
        }
        defer { loader.endPreliminary() }
        let keeper = OriginalKeeper(key, removals: removals)
        if request.options.caching.waitsForStore { keeper.noteAwaited() }
        let settled = SettledLog()
        // Announced at once, not when this task resumes: a load that looks for the original just after it has arrived
        // must find that it is there, or about to be.
        let receiver = BytesReceiver(
            priority: request.options.priority, finishesWhenDrained: request.options.http.finishesWhenDrained,
            keeper: keeper
        ) { bytes in
            bytes.log.whenSettled { log in
                // In this order, so that a caller who knows the end and then waits for the stores also waits for this
                // one.
                loader.keepUndecoded(log, of: bytes, keeper, request)
                settled.set(log)
            }
        }
        if let timeout, let end { receiver.arm(at: end, loader.clock, .tookTooLong(timeout, request)) }
        BytesSearch(loader: loader, request: request, key: key, seeker: receiver).start()
        do throws(WebImageError) {
            let bytes = try await receiver.answer.value()
            if bytes.isProvisional, revalidatesInBackground { loader.revalidateBytesInBackground(request, key) }
            return BytesReading(loader, request, bytes, keeper, receiver, settled)
        } catch {
            receiver.leave()
            // It may have waited for memory, and others behind it.
            loader.decoding.noteLeft()
            throw error
        }
    }

    /// Waits for an answer within the request's timeout. The timeout counts only until the transfer has ended, however
    /// slowly the caller then reads the bytes.
    ///
    /// - Throws: the error of the answer; `deadlineExceeded`, `cancelled`.
    func value<Value: Sendable>(of answer: CancellableAnswer<Value>) async throws(WebImageError) -> Value {
        if bytes.log.latest.end != nil { return try await answer.value() }
        return try await inTime({ answer.give(.failure($0)) }) { () async throws(WebImageError) in
            try await answer.value()
        }
    }

    /// - Parameter end: called when the timeout passes before `work` has ended; at once if it has passed already.
    func inTime<Value: Sendable>(
        _ end: @escaping @Sendable (WebImageError) -> Void, _ work: () async throws(WebImageError) -> Value
    ) async throws(WebImageError) -> Value {
        let number = receiver.whenLate(end)
        defer { receiver.forget(number) }
        return try await work()
    }

    /// Returns the log that holds the complete body in the end.
    ///
    /// - Throws: the error of the transfer; `deadlineExceeded`, `cancelled`.
    func whole() async throws(WebImageError) -> ByteLog {
        let answer = CancellableAnswer<ByteLog>()
        settled.whenSet { log in
            if case .failed(let error) = log.end { return answer.give(.failure(error)) }
            answer.give(.success(log))
        }
        return try await value(of: answer)
    }

    /// Reports progress whenever more bytes have arrived, until the end or until `watch` has ended. It runs on file
    /// threads, because all transfers share the transport's thread. A slow listener is called less often.
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

    /// Whether a cache entry may be served in place of interrupted bytes; a request with ``CachePolicy/cacheOnly`` then
    /// loads it.
    func hasStandIn(for error: WebImageError) -> Bool { bytes.standIn(for: error, now: loader.clock.wallTime) != nil }

    /// Records whether `work` succeeded or failed, if the origin was asked.
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

extension Loader {
    /// Like ``revalidateInBackground(_:_:)``, after an answer without a picture: a newer original is stored without
    /// being decoded, unless a serializer needs the picture.
    fileprivate func revalidateBytesInBackground(_ given: ImageRequest, _ key: BytesKey) {
        if caches.serializer(for: given) != nil { return revalidateInBackground(given, key) }
        guard !isRenewed(key) else { return }
        let begins = table.withLock { $0.revalidated.insert(key).inserted }
        guard begins else { return }
        var request = given
        request.options.caching.policy = .revalidate
        request.options.priority = .low
        // A caller of its own, so that `cancelAll` and `shutDown` end it.
        let token = LoadToken(loader: self, request: request, isWatching: false)
        let hasBegun = beginPreliminary(token, .nobody) { [self, request] in
            defer { endRevalidation(of: key) }
            guard let reading = try? await BytesReading.open(request, by: self) else { return }
            _ = try? await reading.notingOutcome { () async throws(WebImageError) in try await reading.whole() }
        }
        if !hasBegun { endRevalidation(of: key) }
    }

    private func endRevalidation(of key: BytesKey) { table.withLock { _ = $0.revalidated.remove(key) } }
}

/// The listener for a transfer's progress. It is called until the answer has been given: progress is reported on another
/// thread, which may be late by one call.
final class ProgressWatch: Sendable {
    /// Wraps the closure. Without optimisation, the compiler wraps a bare closure in a lock once more at each access,
    /// so that thousands of accesses overflow the stack.
    private struct Listener {
        let tell: @Sendable (LoadProgress) -> Void
    }

    private let listener: Guarded<Listener?>

    init(_ listener: @escaping @Sendable (LoadProgress) -> Void) { self.listener = Guarded(Listener(tell: listener)) }

    func tell(_ progress: LoadProgress) {
        let listener = listener.withLock { $0 }
        listener?.tell(progress)
    }

    var hasEnded: Bool { listener.withLock { $0 == nil } }

    /// Ends the calls, except for one that another thread is just about to make or is making.
    func end() { listener.withLock { $0 = nil } }
}

/// The log that holds a body in the end, when the transfer has ended.
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

    /// Calls `run` once, without locks held; at once if the log is known already.
    func whenSet(_ run: @escaping @Sendable (ByteLog) -> Void) {
        let log = state.withLock { state in
            if state.log == nil { state.waiting.append(run) }
            return state.log
        }
        if let log { run(log) }
    }
}

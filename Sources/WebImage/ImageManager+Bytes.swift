import Synchronization
public import WebImageCodecs
public import WebImageCore
import WebImageDownload
import WebImageSystem

extension ImageManager {
    /// The original's bytes as the origin sent them, without decoding: from the disk cache or the network, by the
    /// request's policy. They are not stored: only what turned out to be a picture is.
    ///
    /// - Throws: any code of ``WebImageError`` but 30xx; `cancelled` when the task was cancelled.
    public func data(for request: ImageRequest) async throws(WebImageError) -> [UInt8] {
        if let data = request.inlineData { return data }
        let (request, key) = try await prepared(request)
        let (bytes, receiver) = try await bytes(for: request, key)
        defer { receiver.leave() }
        do throws(WebImageError) {
            return try await data(of: bytes, request, key, receiver)
        } catch {
            guard bytes.standIn(for: error, now: loader.clock.wallTime) != nil else { throw error }
            var entry = request
            entry.cachePolicy = .cacheOnly
            guard let data = try? await data(for: entry) else { throw error }
            return data
        }
    }

    private func data(
        of bytes: OpenedBytes, _ request: ImageRequest, _ key: BytesKey, _ receiver: BytesReceiver
    ) async throws(WebImageError) -> [UInt8] {
        let answer = CancellableAnswer<ByteChunk>()
        receiver.whenLate { answer.give(.failure($0)) }
        bytes.log.whenSettled { [loader] log in
            if case .failed(let error) = log.end { return answer.give(.failure(error)) }
            // Part of the bytes may be in a file.
            loader.ioExecutor.run(request.priority) {
                answer.give(Result { () throws(WebImageError) in try log.contiguous() })
            }
        }
        return try await settling(bytes, request, key) { () async throws(WebImageError) in
            try await answer.value().array
        }
    }

    /// What a picture's file says of itself, from as few of its first bytes as tell it.
    ///
    /// - Throws: what a load of it would throw.
    public func details(for request: ImageRequest) async throws(WebImageError) -> ImageDetails {
        let (request, key) = try await prepared(request)
        let (bytes, receiver) = try await bytes(for: request, key)
        defer { receiver.leave() }
        return try await settling(bytes, request, key) { [loader] () async throws(WebImageError) in
            let probe = HeaderProbe(bytes.log, bytes.source, for: request, by: loader.decoding)
            receiver.whenLate { probe.end($0) }
            return try await probe.details()
        }
    }

    /// The request as it is asked now, and what it asks for.
    private func prepared(_ given: ImageRequest) async throws(WebImageError) -> (ImageRequest, BytesKey) {
        let settings = downloader.snapshot
        let request = await loader.door.enterWaiting(given, by: settings)
        return (request, try BytesKey(request, by: settings))
    }

    /// Remembers how it went with the origin, if that was asked.
    private func settling<Value: Sendable>(
        _ bytes: OpenedBytes, _ request: ImageRequest, _ key: BytesKey, _ work: () async throws(WebImageError) -> Value
    ) async throws(WebImageError) -> Value {
        let asksOrigin = bytes.source == .network
        do throws(WebImageError) {
            let value = try await work()
            if asksOrigin { loader.settle(key, failure: nil) }
            return value
        } catch {
            if asksOrigin { loader.settle(key, failure: error, of: request) }
            throw error
        }
    }

    /// The bytes, as they come, by the policy of a request that was prepared.
    private func bytes(
        for request: ImageRequest, _ key: BytesKey
    ) async throws(WebImageError) -> (OpenedBytes, BytesReceiver) {
        guard loader.table.withLock({ $0.beginPreliminary() }) else { throw LoadTable.shutDownError.at(request.place) }
        defer { loader.endPreliminary() }
        let receiver = BytesReceiver(priority: request.priority, finishesWhenDrained: request.finishesWhenDrained)
        if let timeout = request.timeout { receiver.arm(timeout, loader.clock, for: request) }
        BytesSearch(loader: loader, request: request, key: key, seeker: receiver).start()
        do throws(WebImageError) {
            let bytes = try await receiver.answer.value()
            if bytes.isProvisional { loader.askBehind(request) }
            return (bytes, receiver)
        } catch {
            receiver.leave()
            throw error
        }
    }

    /// The bytes of a picture in a format, made on the decode executor: encodes go before decodes that have not begun, so
    /// that what is loaded leaves again before more is loaded.
    ///
    /// - Parameter priority: among encodes, and against more or less urgent loads. Default normal.
    /// - Throws: `cannotEncode`; `cancelled` at once when the task is cancelled. An encode that has begun then runs to its
    ///   end for nothing.
    public func encode(
        _ image: Image, as format: ImageFormat, _ options: EncodeOptions = EncodeOptions(),
        priority: LoadPriority = .normal
    ) async throws(WebImageError) -> [UInt8] {
        try await onDecodeExecutor(priority) { [coders] () throws(WebImageError) in
            try image.encoded(as: format, options, coders: coders)
        }
    }
}

/// What a picture's file says of itself.
public struct ImageDetails: Sendable {
    public var header: ImageHeader
    /// How long the file is; nil when the origin does not say.
    public var byteCount: ByteCount?
    public var source: ImageSource
}

/// One who wants a request's bytes and no picture.
private final class BytesReceiver: BytesSeeker {
    private struct State {
        var download: Download?
        var hasLeft = false
        var timeout: ScheduledAction?
        /// Set once the request's time is over.
        var lateness: WebImageError?
        var whenLate: (@Sendable (WebImageError) -> Void)?
    }

    let priority: LoadPriority
    let finishesWhenDrained: Bool
    let answer = CancellableAnswer<OpenedBytes>()
    private let state = Guarded(State())

    init(priority: LoadPriority, finishesWhenDrained: Bool) {
        self.priority = priority
        self.finishesWhenDrained = finishesWhenDrained
    }

    var owner: AnyObject { self }
    var isAbandoned: Bool { state.withLock { $0.hasLeft } }
    var remembered: AnswerRecord? { nil }

    func follow(_ download: Download) -> Bool {
        state.withLock { state in
            if !state.hasLeft { state.download = download }
            return !state.hasLeft
        }
    }

    func answerFromMemory(_ body: StoredResponse?, isProvisional: Bool) -> Bool { false }
    func found(_ bytes: OpenedBytes) { answer.give(.success(bytes)) }
    func failed(_ error: WebImageError) { answer.give(.failure(error)) }

    func arm(_ timeout: Duration, _ clock: any LoadClock, for request: ImageRequest) {
        let action = clock.schedule(at: clock.now + timeout) { [weak self] in
            self?.expire(.tookTooLong(timeout, request))
        }
        let isLate = state.withLock { state in
            if !state.hasLeft { state.timeout = action }
            return state.hasLeft
        }
        if isLate { action.cancel() }
    }

    /// Calls `run` when the request's time is over before it has left; at once when it is over already.
    func whenLate(_ run: @escaping @Sendable (WebImageError) -> Void) {
        let lateness = state.withLock { state in
            if state.lateness == nil, !state.hasLeft { state.whenLate = run }
            return state.lateness
        }
        if let lateness { run(lateness) }
    }

    private func expire(_ error: WebImageError) {
        let run = state.withLock { state in
            if !state.hasLeft { state.lateness = error }
            defer { state.whenLate = nil }
            return state.hasLeft ? nil : state.whenLate
        }
        run?(error)
        answer.give(.failure(error))
    }

    func leave() {
        let (download, timeout) = state.withLock { state in
            state.hasLeft = true
            defer { (state.download, state.timeout, state.whenLate) = (nil, nil, nil) }
            return (state.download, state.timeout)
        }
        timeout?.cancel()
        download?.cancel()
    }
}

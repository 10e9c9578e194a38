import HTTPTypes
import Synchronization
import WebImageCore
import WebImageSystem

/// What an ``ImageLoader`` brings, as a transfer: needs no slot and knows no deadline.
final class LoaderTransfer: Transfer {
    private struct State {
        var work: Task<Void, Never>?
        var received = 0
        var hasEnded = false
    }

    let id: TransferQueue.ID
    let log: ByteLog
    private let loader: any ImageLoader
    private let url: String
    private let limit: Int
    private let clock: any LoadClock
    private let budget: TransferMemoryBudget
    private let owner: any TransferOwner
    private let state = Guarded(State())
    private let startedAt: Int64

    init(
        id: TransferQueue.ID, loader: any ImageLoader, url: String, limit: Int, log: ByteLog, clock: any LoadClock,
        budget: TransferMemoryBudget, owner: any TransferOwner
    ) {
        self.id = id
        self.log = log
        self.loader = loader
        self.url = url
        self.limit = limit
        self.clock = clock
        self.budget = budget
        self.owner = owner
        startedAt = clock.wallTime
    }

    var metrics: TransferMetrics? {
        guard log.end != nil else { return nil }
        var metrics = TransferMetrics()
        metrics.finalURL = url
        metrics.receivedBytes = log.receivedCount
        return metrics
    }

    /// As if it had come by HTTP, and the origin had said nothing of how long it may be kept.
    var exchange: DownloadExchange? {
        guard log.receivedCount > 0 || log.end != nil else { return nil }
        if case .failed? = log.end, log.receivedCount == 0 { return nil }
        return DownloadExchange(
            url: url, requestFields: [:], requestTime: startedAt, responseTime: startedAt,
            head: ResponseHead(status: 200), redirects: [])
    }

    func expire(at now: Duration) -> Duration? { nil }

    func begin() {
        let work = Task {
            do {
                try await self.loader.load(self.url, to: ImageReceiver(transfer: self))
                self.end(self.missing.map { .failed($0) } ?? .complete)
            } catch {
                let message = "the loader \(self.loader.name.prefix(64)) failed"
                self.end(.failed(WebImageError.wrapping(error, as: .connectionLost, message).at(redactedURL(self.url))))
            }
        }
        let isLate = state.withLock { state in
            state.work = work
            return state.hasEnded
        }
        if isLate { work.cancel() }
    }

    /// A short body is an error, never a picture.
    private var missing: WebImageError? {
        let received = state.withLock { $0.received }
        guard let expected = log.expectedLength, received < expected else { return nil }
        return WebImageError(
            .truncatedBody, "the loader \(loader.name.prefix(64)) brought \(received) of \(expected) bytes",
            location: redactedURL(url))
    }

    func fail(_ error: WebImageError) {
        let work = takeEnd()
        owner.transferDidEnd(id)
        log.abort(error.at(redactedURL(url)))
        work?.cancel()
    }

    private func end(_ end: ByteLog.End) {
        _ = takeEnd()
        owner.transferDidEnd(id)
        log.finish(end)
    }

    private func takeEnd() -> Task<Void, Never>? {
        state.withLock { state in
            state.hasEnded = true
            defer { state.work = nil }
            return state.work
        }
    }

    // MARK: From the loader

    func expect(_ length: ByteCount) {
        if length.bytes >= 0 { log.setHead(ResponseHead(status: 200), expectedLength: length.bytes) }
    }

    func receive(_ bytes: [UInt8]) async throws(WebImageError) {
        if Task.isCancelled { throw .cancelled }
        let count = state.withLock { state in
            state.received += bytes.count
            return state.received
        }
        guard count <= limit else {
            throw WebImageError(
                .bodyTooLarge, "the body is longer than the limit of \(ByteCount(limit))", location: redactedURL(url))
        }
        let result = bytes.withUnsafeBytes { log.append($0) }
        log.publish()
        switch result {
        case .proceed: break
        case .full(let error): throw error
        case .pause:
            await withCheckedContinuation { continuation in budget.whenBelow { continuation.resume() } }
        }
    }
}

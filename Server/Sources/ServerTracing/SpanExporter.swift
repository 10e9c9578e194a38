public import Logging
public import ServerConfiguration
public import ServiceLifecycle
import Synchronization

/// Sends spans that have ended to a collector, in batches in the background. Spans that cannot be sent, or that exceed
/// the queue, are dropped and counted. Any thread may use it.
public final class SpanExporter: Service {
    private struct State {
        var waiting: [FinishedSpan] = []
        var sent = 0
        var dropped = 0
        /// Whether the last batch could not be sent.
        var isFailing = false
    }

    private let settings: ServerSettings.Tracing
    private let send: @Sendable ([UInt8]) async throws -> Void
    private let logger: Logger
    private let state = Mutex(State())

    /// How often the exporter checks whether a batch is full.
    private static let interval = Duration.milliseconds(100)

    /// - Parameter send: sends a message to the collector.
    public init(
        _ settings: ServerSettings.Tracing, send: @escaping @Sendable ([UInt8]) async throws -> Void, logger: Logger
    ) {
        self.settings = settings
        self.send = send
        self.logger = logger
    }

    /// How many spans were sent, and how many were dropped.
    public var counts: (sent: Int, dropped: Int) { state.withLock { ($0.sent, $0.dropped) } }

    public func take(_ span: FinishedSpan) {
        state.withLock { state in
            if state.waiting.count < settings.queueSize {
                state.waiting.append(span)
            } else {
                state.dropped += 1
            }
        }
    }

    /// Sends spans until the server stops, and then those that are left.
    public func run() async throws {
        await cancelWhenGracefulShutdown { await self.sendPeriodically() }
        await flush()
    }

    private func sendPeriodically() async {
        let clock = ContinuousClock()
        var last = clock.now
        while !Task.isCancelled {
            try? await Task.sleep(for: min(Self.interval, settings.delay))
            let isDue = clock.now - last >= settings.delay
            guard isDue || state.withLock({ $0.waiting.count >= settings.batchSize }) else { continue }
            await flush()
            last = clock.now
        }
    }

    /// Sends all waiting spans.
    public func flush() async {
        while true {
            let batch = state.withLock { state -> [FinishedSpan] in
                let batch = Array(state.waiting.prefix(settings.batchSize))
                state.waiting.removeFirst(batch.count)
                return batch
            }
            guard !batch.isEmpty else { return }
            do {
                try await send(OTLPMessage(spans: batch, resource: settings.resource).bytes)
                state.withLock { state in
                    state.sent += batch.count
                    state.isFailing = false
                }
            } catch {
                let isFirst = state.withLock { state in
                    defer { state.isFailing = true }
                    state.dropped += batch.count
                    return !state.isFailing
                }
                logger.log(
                    level: isFirst ? .warning : .debug, "spans cannot be sent to \(settings.shownEndpoint): \(error)")
            }
        }
    }
}

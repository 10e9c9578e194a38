/// A service for graceful shutdown: it runs until it is asked to stop, and then drains a downloader or a whole manager.
///
/// It has the one method that `Service` of swift-service-lifecycle requires, so that one line makes it conform:
/// `extension DrainService: Service {}`, with `{ try? await gracefulShutdown() }` for `untilShutdown`.
public struct DrainService: Sendable {
    private let untilShutdown: @Sendable () async -> Void
    private let drain: @Sendable () async -> Void

    /// - Parameters:
    ///   - downloader: the downloader to drain.
    ///   - drainTime: how long marked downloads may take to finish. Default 10 s.
    ///   - untilShutdown: returns when the service should stop; nil (the default): the service stops when its task is
    ///     cancelled.
    public init(
        downloader: ImageDownloader, drainTime: Duration = .seconds(10),
        untilShutdown: (@Sendable () async -> Void)? = nil
    ) {
        self.init(until: untilShutdown) { await downloader.drain(within: drainTime) }
    }

    /// - Parameter untilShutdown: returns at shutdown; nil: the service waits until its task is cancelled.
    package init(until untilShutdown: (@Sendable () async -> Void)?, drain: @escaping @Sendable () async -> Void) {
        self.untilShutdown = untilShutdown ?? Self.untilCancelled
        self.drain = drain
    }

    /// Runs until it is asked to stop, then drains.
    public func run() async throws {
        await untilShutdown()
        // In a task of its own, because a cancelled task would not wait.
        await Task { await drain() }.value
    }

    private static let untilCancelled: @Sendable () async -> Void = {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        for await _ in stream {}
        continuation.finish()
    }
}

/// A downloader as a service of a program that ends in order: it runs until it is asked to stop, and drains then.
///
/// It has the one method that swift-service-lifecycle's `Service` asks for, so that one line adopts it:
/// `extension DownloadService: Service {}`, with `{ try? await gracefulShutdown() }` for `untilShutdown`.
public struct DownloadService: Sendable {
    public let downloader: ImageDownloader
    /// How long marked downloads may go on. Default 10 s.
    public let drainTime: Duration
    private let untilShutdown: @Sendable () async -> Void

    /// - Parameter untilShutdown: returns when the service shall stop; nil (the default) when its task is cancelled.
    public init(
        downloader: ImageDownloader, drainTime: Duration = .seconds(10),
        untilShutdown: (@Sendable () async -> Void)? = nil
    ) {
        self.downloader = downloader
        self.drainTime = drainTime
        self.untilShutdown = untilShutdown ?? Self.untilCancelled
    }

    /// Runs until it is asked to stop, then drains.
    public func run() async throws {
        await untilShutdown()
        // Of its own, since a cancelled task would not wait for what is to be finished.
        let (downloader, drainTime) = (downloader, drainTime)
        await Task { await downloader.drain(within: drainTime) }.value
    }

    private static let untilCancelled: @Sendable () async -> Void = {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        for await _ in stream {}
        continuation.finish()
    }
}

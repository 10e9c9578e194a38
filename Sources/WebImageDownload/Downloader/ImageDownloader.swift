package import WebImageCore
import WebImageSystem

/// Downloads bytes: one transfer for all that ask the same thing at the same time, so many at once, the most urgent
/// first, within deadlines and limits. It caches nothing.
///
/// Letting go of it shuts it down. Safe to use from any thread.
public final class ImageDownloader: Sendable {
    private let center: DownloadCenter

    /// - Parameter transport: nil (the default) makes a ``CurlTransport`` that ends with the downloader.
    public convenience init(
        configuration: DownloadConfiguration = DownloadConfiguration(), transport: (any HTTPTransport)? = nil
    ) {
        self.init(
            configuration: configuration, transport: transport, clock: SystemClock.shared,
            executor: ThreadPool(name: "wi-io", width: 4), files: PosixFileSystem())
    }

    /// - Parameter executor: for temporary files, `file:` and `data:` URLs.
    package init(
        configuration: DownloadConfiguration, transport: (any HTTPTransport)?, clock: any LoadClock,
        executor: any WorkExecutor, files: any FileSystem
    ) {
        center = DownloadCenter(
            configuration: configuration, transport: transport ?? CurlTransport(), ownsTransport: transport == nil,
            clock: clock, executor: executor, files: files)
    }

    deinit { center.shutDown() }

    /// Joins the transfer of the same request, or starts one. Never blocks: everything that can go wrong ends the log.
    package func download(_ request: DownloadRequest, priority: LoadPriority = .normal) -> Download {
        do throws(WebImageError) {
            return center.download(try ResolvedRequest(request), priority: priority)
        } catch {
            return Download(failed: error)
        }
    }

    /// The same for a request that was resolved before.
    package func download(_ request: ResolvedRequest, priority: LoadPriority = .normal) -> Download {
        center.download(request, priority: priority)
    }

    /// How much there is to do.
    public var counters: DownloadCounters { center.counters }

    /// While true no transfer starts; those that run go on. Default false.
    public var isSuspended: Bool {
        get { center.isSuspended }
        set { center.isSuspended = newValue }
    }

    /// Changes how many transfers may run at a time; those that run go on.
    public func setLimits(maxConcurrent: Int, maxConcurrentPerHost: Int) {
        center.limits = TransferQueue.Limits(total: maxConcurrent, perHost: maxConcurrentPerHost)
    }

    /// Ends every transfer with `cancelled`.
    public func cancelAll() { center.cancelAll() }

    /// Ends every transfer, now and later, with `shutDown`.
    public func shutDown() { center.shutDown() }
}

/// What an ``ImageDownloader`` did and does.
public struct DownloadCounters: Hashable, Sendable {
    /// Transfers begun or queued since the beginning.
    public var started: Int
    /// Requests that shared a transfer of another.
    public var joined: Int
    public var running: Int
    public var waiting: Int
}

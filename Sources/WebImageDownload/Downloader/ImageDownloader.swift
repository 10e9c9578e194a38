public import HTTPTypes
public import WebImageCore
import WebImageSystem

/// Downloads bytes: one transfer for all that ask the same thing at the same time, so many at once, the most urgent
/// first, within deadlines and limits, again when that is likely to help. It caches nothing.
///
/// Letting go of it shuts it down. Safe to use from any thread.
public final class ImageDownloader: Sendable {
    let center: DownloadCenter

    /// - Parameters:
    ///   - configuration: what holds for all downloads that do not say otherwise.
    ///   - transport: nil (the default) makes a ``CurlTransport`` that ends with the downloader.
    public convenience init(
        configuration: DownloadConfiguration = DownloadConfiguration(), transport: (any HTTPTransport)? = nil
    ) {
        self.init(
            configuration: configuration, transport: transport, clock: SystemClock.shared,
            executor: ThreadPool(name: "wi-io", width: 4), files: PosixFileSystem())
    }

    /// - Parameters:
    ///   - executor: for temporary files, `file:` and `data:` URLs, decryptors.
    ///   - jitter: 0 to 1, anew at each call: how much of a retry's longest wait is waited.
    package init(
        configuration: DownloadConfiguration, transport: (any HTTPTransport)?, clock: any LoadClock,
        executor: any WorkExecutor, files: any FileSystem,
        jitter: @escaping @Sendable () -> Double = { Double.random(in: 0...1) }
    ) {
        center = DownloadCenter(
            configuration: configuration, transport: transport ?? CurlTransport(), ownsTransport: transport == nil,
            clock: clock, executor: executor, files: files, jitter: jitter)
    }

    deinit { center.shutDown() }

    /// Downloads all of a body, within the limits and deadlines of request and configuration.
    ///
    /// Nothing is cached and nothing decoded. Cancelling the task ends the transfer, unless others wait for it.
    ///
    /// - Returns: the bytes, after ``DownloadOptions/decryptor`` where there is one; the answer's head, nil for what no server
    ///   answered (`file:`, `data:`).
    /// - Throws: any code of the network (20xx) and of HTTP, `bodyTooLarge`, `fileNotFound`, `cancelled`, `shutDown`.
    /// - Complexity: the body's memory.
    public func data(
        for request: DownloadRequest, priority: LoadPriority = .normal
    ) async throws(WebImageError) -> (bytes: [UInt8], head: ResponseHead?) {
        let download = download(request, priority: priority)
        defer { download.cancel() }
        let answer = CancellableAnswer<[UInt8]>()
        download.log.whenSettled { [center] log in
            if case .failed(let error) = log.end { return answer.give(.failure(error)) }
            // A long body is in a file.
            center.executor.run(priority) {
                do throws(WebImageError) { answer.give(.success(try log.collect())) } catch {
                    answer.give(.failure(error))
                }
            }
        }
        let bytes = try await answer.value()
        return (bytes, download.exchange?.head)
    }

    /// Joins the transfer of the same request, or starts one. Never blocks: everything that can go wrong ends the log.
    package func download(_ request: consuming DownloadRequest, priority: LoadPriority = .normal) -> Download {
        do throws(WebImageError) {
            return center.download(try ResolvedRequest(request), priority: priority)
        } catch {
            return Download(failed: error)
        }
    }

    /// The same for a request that was resolved before.
    ///
    /// - Parameters:
    ///   - snapshot: what it goes by; nil: ``snapshot``.
    ///   - finishesWhenDrained: as if the request said so.
    package func download(
        _ request: ResolvedRequest, by snapshot: ConfigurationSnapshot? = nil, priority: LoadPriority = .normal,
        finishesWhenDrained: Bool = false
    ) -> Download {
        center.download(request, by: snapshot, priority: priority, finishesWhenDrained: finishesWhenDrained)
    }

    /// What a load that begins now goes by.
    package var snapshot: ConfigurationSnapshot { center.snapshot }

    /// Makes one log of the beginning of a body, which an earlier transfer kept, and of the rest, which comes now.
    ///
    /// - Parameters:
    ///   - head: that of the whole.
    ///   - whenBegun: called once, with the log when the beginning is in it and the claim is not read any more; with nil
    ///     when the beginning cannot be read.
    package func makeLog(
        of beginning: any PartialBody, continuedBy download: Download, _ head: ResponseHead,
        whenBegun: @escaping @Sendable (ByteLog?) -> Void
    ) {
        center.makeLog(of: beginning, continuedBy: download, head, whenBegun: whenBegun)
    }

    // MARK: Configuration

    /// What new transfers go by. A change counts for those that begin from then on, limits and order at once; only
    /// ``DownloadConfiguration/memoryForAll`` is that of the beginning.
    public var configuration: DownloadConfiguration {
        get { center.configuration }
        set { center.configuration = newValue }
    }

    /// The value of a field that is sent with each new request; setting nil takes it out.
    public subscript(header name: HTTPField.Name) -> String? {
        get { center.configuration.headers[name] }
        set { center.changeConfiguration { $0.headers[name] = newValue } }
    }

    /// Changes how many transfers may run at a time; those that run go on.
    public func setLimits(maxConcurrent: Int, maxConcurrentPerHost: Int) {
        center.changeConfiguration(changesWhatIsSent: false) { configuration in
            configuration.maxConcurrent = maxConcurrent
            configuration.maxConcurrentPerHost = maxConcurrentPerHost
        }
    }

    package var settings: SettingsCounter { center.settings }

    /// While true no transfer starts; those that run go on. Default false.
    public var isSuspended: Bool {
        get { center.isSuspended }
        set { center.isSuspended = newValue }
    }

    // MARK: What happens

    /// How much there is to do.
    public var counters: DownloadCounters { center.counters }

    /// What happens to all transfers from now on. Each call gives events of its own.
    public var events: DownloadEvents { center.events.listen() }

    /// How many transfers run: now, and whenever that changes; only the newest number waits.
    public var activity: AsyncStream<Int> { center.events.gauge(startingAt: center.counters.running) }

    /// The hosts, with their ports, that failed so often that they are left alone now.
    public var openCircuits: [String] { center.openCircuits }

    /// Asks every host again.
    public func closeCircuits() { center.closeCircuits() }

    /// Forgets what credential providers answered.
    public func forgetCredentials() { center.credentials.forgetAll() }

    // MARK: The end

    /// Ends every transfer with `cancelled`.
    public func cancelAll() { center.cancelAll() }

    /// Takes nothing new (`shutDown`), ends what is not marked ``DownloadOptions/finishesWhenDrained``, and returns when
    /// the rest has ended, or has been ended after `limit`. A cancelled task does not wait. The downloader is then shut
    /// down.
    public func drain(within limit: Duration) async { await center.drain(within: limit) }

    /// The beginning of a drain by one who knows of marked downloads to come: takes only such from now on, and ends all
    /// others.
    package func endUnmarked() { center.endUnmarked() }

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
    /// Those of them that crawl: see ``DownloadConfiguration/spareForSlowOrigins``.
    public var slow = 0
    public var waiting: Int
    /// Transfers that failed and wait for their next try.
    public var resting = 0
}

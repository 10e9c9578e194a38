public import HTTPTypes
public import WebImageCore
import WebImageSystem

/// Downloads bytes, with priorities, deadlines, limits and retries. Equal requests at the same time share one transfer.
/// It caches nothing.
///
/// Releasing the downloader shuts it down. Safe to use from any thread.
public final class ImageDownloader: Sendable {
    let center: DownloadCenter

    /// - Parameters:
    ///   - configuration: the settings for all downloads that do not have their own.
    ///   - transport: the HTTP client; nil (the default): a new ``CurlTransport`` that ends with the downloader.
    public convenience init(
        configuration: DownloadConfiguration = DownloadConfiguration(), transport: (any HTTPTransport)? = nil
    ) {
        self.init(
            configuration: configuration, transport: transport, clock: SystemClock.shared,
            executor: ThreadPool(name: "wi-io", width: 4), files: PosixFileSystem())
    }

    /// - Parameters:
    ///   - executor: for temporary files, `file:` and `data:` URLs, decryptors.
    ///   - jitter: returns a new number from 0 to 1 at each call: the share of a retry's longest delay that is waited.
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
    /// - Returns: the bytes, after ``DownloadOptions/decryptor`` if there is one, and the answer's head, which is nil
    ///   if no server answered (`file:`, `data:`).
    /// - Throws: any code of the network (20xx) and of HTTP, `bodyTooLarge`, `fileNotFound`, `cancelled`, `shutDown`.
    /// - Complexity: the body's memory.
    public func data(
        for request: DownloadRequest, priority: LoadPriority = .normal
    ) async throws(WebImageError) -> (bytes: [UInt8], head: ResponseHead?) {
        let (settings, given) = (snapshot, try ResolvedRequest(request))
        // Cookies and modifiers tell who asks, which must be known before the request joins another's transfer.
        let prepared = await prepare(given, by: settings)
        let download = download(prepared.map { given.prepared($0) } ?? given, by: settings, priority: priority)
        defer { download.cancel() }
        let answer = CancellableAnswer<[UInt8]>()
        download.log.whenSettled { [center] log in
            if case .failed(let error) = log.end { return answer.give(.failure(error)) }
            // A long body is in a file, so it is read on the I/O executor.
            center.executor.run(priority) { answer.give(from: { () throws(WebImageError) in try log.collect() }) }
        }
        let bytes = try await answer.value()
        return (bytes, download.exchange?.head)
    }

    /// Joins the transfer of the same request, or starts one. Never blocks; all errors are reported by the log.
    package func download(_ request: consuming DownloadRequest, priority: LoadPriority = .normal) -> Download {
        do throws(WebImageError) {
            return center.download(try ResolvedRequest(request), priority: priority)
        } catch {
            return Download(failed: error)
        }
    }

    /// Like the other method, for a request that was resolved before.
    ///
    /// - Parameters:
    ///   - snapshot: the settings to use; nil: ``snapshot``.
    ///   - moment: a number of `EventOrder`. A transfer from before it is not joined.
    ///   - finishesWhenDrained: like the request's option of that name.
    package func download(
        _ request: ResolvedRequest, by snapshot: ConfigurationSnapshot? = nil, notBefore moment: Int = 0,
        priority: LoadPriority = .normal, finishesWhenDrained: Bool = false
    ) -> Download {
        center.download(
            request, by: snapshot, notBefore: moment, priority: priority, finishesWhenDrained: finishesWhenDrained)
    }

    /// The settings of a load that begins now.
    package var snapshot: ConfigurationSnapshot { center.snapshot }

    /// Makes one log from the beginning of a body, which an earlier transfer stored, and the rest, which `download`
    /// receives.
    ///
    /// - Parameters:
    ///   - head: the head of the whole body.
    ///   - whenBegun: called once: with the log when it holds the whole beginning and `beginning` is no longer read, or
    ///     with nil if the beginning cannot be read.
    package func makeLog(
        of beginning: any PartialBody, continuedBy download: Download, _ head: ResponseHead,
        limit: ByteCount, whenBegun: @escaping @Sendable (ByteLog?) -> Void
    ) {
        center.makeLog(of: beginning, continuedBy: download, head, limit: limit, whenBegun: whenBegun)
    }

    /// The brake, which pauses transfers of low priority. Those who store the bodies pull it while they fall behind.
    package var brake: TransferBrake { center.surroundings.brake }

    // MARK: Configuration

    /// The settings of the downloader. A change applies to transfers that begin afterwards; limits and order change at
    /// once. Only ``DownloadConfiguration/memoryForAll`` cannot be changed.
    public var configuration: DownloadConfiguration {
        get { center.configuration }
        set { center.configuration = newValue }
    }

    /// The value of a header that is sent with each new request; setting nil removes the header.
    public subscript(header name: HTTPField.Name) -> String? {
        get { center.configuration.headers[name] }
        set { center.changeConfiguration { $0.headers[name] = newValue } }
    }

    /// Changes how many transfers may run at a time; running transfers go on.
    public func setLimits(maxConcurrent: Int, maxConcurrentPerHost: Int) {
        center.changeConfiguration(changesWhatIsSent: false) { configuration in
            configuration.maxConcurrent = maxConcurrent
            configuration.maxConcurrentPerHost = maxConcurrentPerHost
        }
    }

    package var settings: SettingsCounter { center.settings }

    /// Whether the downloader is suspended: no transfer starts, but running transfers go on. Default false.
    public var isSuspended: Bool {
        get { center.isSuspended }
        set { center.isSuspended = newValue }
    }

    // MARK: Observing

    /// How many transfers were started and joined, and how many are running and waiting now.
    public var counters: DownloadCounters { center.counters }

    /// The events of all transfers from now on. Each call returns a sequence of its own.
    public var events: DownloadEvents { center.events.listen() }

    /// The number of running transfers: the current number first, then each change. Only the newest number is buffered.
    public var activity: AsyncStream<Int> { center.events.gauge(startingAt: center.counters.running) }

    /// The hosts, with their ports, that are blocked now because they failed too often.
    public var openCircuits: [String] { center.openCircuits }

    /// Unblocks all hosts.
    public func closeCircuits() { center.closeCircuits() }

    /// Forgets the answers of credential providers.
    public func forgetCredentials() { center.credentials.forgetAll() }

    // MARK: Ending

    /// Ends every transfer with `cancelled`.
    public func cancelAll() { center.cancelAll() }

    /// Shuts the downloader down in an orderly way. New transfers fail with `shutDown`, and transfers that are not
    /// marked ``DownloadOptions/finishesWhenDrained`` end. Returns when the others have finished, or were ended after
    /// `limit`. A cancelled task does not wait. The downloader is then shut down.
    public func drain(within limit: Duration) async { await center.drain(within: limit) }

    /// Begins a drain whose caller still has marked downloads to start: from now on only such downloads are accepted,
    /// and all others end.
    package func endUnmarked() { center.endUnmarked() }

    /// Ends every transfer, now and later, with `shutDown`.
    public func shutDown() { center.shutDown() }
}

/// The counters of an ``ImageDownloader``.
public struct DownloadCounters: Hashable, Sendable {
    /// Transfers that were begun or queued since the downloader was made.
    public var started: Int
    /// Requests that shared a transfer of another request.
    public var joined: Int
    /// Transfers that have a slot, including slow ones.
    public var running: Int
    /// Running transfers that are slow: see ``DownloadConfiguration/spareForSlowOrigins``.
    public var slow = 0
    /// Transfers that wait for a slot.
    public var waiting: Int
    /// Transfers that failed and wait for their next attempt.
    public var resting = 0
}

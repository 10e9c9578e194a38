import Logging
import Synchronization
import Tracing
public import WebImageCache
public import WebImageCodecs
public import WebImageCore
public import WebImageDownload
import WebImageSystem

/// Loads pictures from memory, from disk and from the network. Callers that ask for the same picture share the work.
///
/// Make one and share it; every method may be called from any thread. Nothing blocks the caller.
///
///     let manager = ImageManager()
///     let response = try await manager.image(for: ImageRequest("https://example.com/a.jpg"))
///     print(response.image.size, response.source)
public final class ImageManager: Sendable {
    /// The memory cache; empty if ``Configuration/cache`` is not an ``ImageCache``.
    public var memoryCache: MemoryCache { ownCache.memoryCache }
    /// The disk cache; nil if the manager was configured without one.
    public var diskCache: DiskCache? { ownCache.diskCache }
    /// Stores, finds and removes pictures directly: ``memoryCache`` and ``diskCache`` in one, or
    /// ``Configuration/cache``.
    public let cache: any ImageCaching
    /// The cache whose layers the manager uses directly: its own, or the ``ImageCache`` that it was given.
    package let ownCache: ImageCache
    /// Whether ``ownCache`` was given by the configuration, and may be shared with other managers.
    private let sharesCache: Bool
    /// Downloads the bytes of pictures, for all loads of the manager.
    public let downloader: ImageDownloader
    /// The coders that read and write pictures.
    public let coders: CoderRegistry
    /// The URLs that failed and are blocked for a while. They are consulted after the caches and before the network.
    public let failedURLs: FailedURLs
    let loader: Loader
    private let isolatedDecoders: DecoderPool

    /// How decoders are isolated from this program, as far as is known yet.
    public var isolationReport: IsolationReport { isolatedDecoders.report }

    /// Starts a decoding process unless one is running, so that the first picture of an isolated format need not wait
    /// for it (some tens of milliseconds), and reports how it is confined. A server should call this when it starts.
    /// Without ``Configuration/isolation`` no process is started.
    @discardableResult
    public nonisolated(nonsending) func prewarmDecoders() async -> IsolationReport {
        let pool = isolatedDecoders
        await withCheckedContinuation { continuation in
            loader.decoding.executor.run(.normal) {
                pool.prewarm()
                continuation.resume()
            }
        }
        return pool.report
    }

    /// Makes a manager.
    ///
    /// - Parameters:
    ///   - configuration: the manager's settings.
    ///   - coders: the coders that read and write pictures.
    ///   - transport: the HTTP client; nil: a new one that uses libcurl.
    public convenience init(
        configuration: Configuration = Configuration(), coders: CoderRegistry = .standard,
        transport: (any HTTPTransport)? = nil
    ) {
        self.init(
            configuration, coders: coders, transport: transport, clock: SystemClock.shared, files: PosixFileSystem(),
            memoryPressure: configuration.answersMemoryPressure ? SystemMemory.pressure : nil)
    }

    /// - Parameters:
    ///   - frames: the budget of the frames that animations keep, which are released when memory is short.
    ///   - executor: does the work of the decoding and the file threads; nil: the manager has its own threads.
    package init(
        _ configuration: Configuration, coders: CoderRegistry, transport: (any HTTPTransport)?, clock: any LoadClock,
        files: any FileSystem, memoryPressure: (any MemoryPressureSource)? = nil, frames: FrameBudget = .shared,
        executor: (any WorkExecutor)? = nil
    ) {
        let given = configuration.cache as? ImageCache
        let ioExecutor =
            given?.executor ?? executor ?? ThreadPool(name: "wi-files", width: max(configuration.fileThreads, 1))
        downloader = ImageDownloader(
            configuration: configuration.download.accepting(coders.decodableFormats), transport: transport,
            clock: clock, executor: ioExecutor, files: files)
        self.coders = coders
        isolatedDecoders = DecoderPool(
            configuration.isolation, width: configuration.decodeThreads,
            notify: DecoderWatch.notifying(configuration.logger))
        failedURLs = FailedURLs(policy: configuration.failedURLs, clock: clock)
        let decoding = DecodeService(
            coders: coders, isolation: isolatedDecoders, clock: clock,
            executor: executor ?? ThreadPool.computing(name: "wi-decode", width: max(configuration.decodeThreads, 1)),
            width: configuration.decodeThreads, memory: configuration.decodeMemory,
            inputMemory: configuration.download.memoryForAll, limits: configuration.limits)
        let foreign = given == nil ? configuration.cache.map(ForeignCache.init) : nil
        let ownCache =
            given
            ?? ImageCache(
                configuration, behind: foreign, decoding, executor: ioExecutor, files: files,
                memoryPressure: memoryPressure, frames: frames)
        self.ownCache = ownCache
        sharesCache = given != nil
        cache = configuration.cache ?? ownCache
        loader = Loader(
            LoaderParts(
                cache: ownCache, foreign: foreign, downloader: downloader, failedURLs: failedURLs, decoding: decoding,
                observer: LoadObserver(logger: configuration.logger),
                rules: .standard(keeping: configuration.keptHeaders, isShared: configuration.servesManyUsers),
                defaults: LoadDefaults(limits: configuration.limits, timeout: configuration.timeout),
                interceptors: configuration.interceptors))
        if configuration.cache == nil, configuration.disk == nil, !configuration.isDiskChosen {
            configuration.logger.notice(
                "no disk cache: the environment names no home; set XDG_CACHE_HOME, or Configuration.disk to nil")
        }
    }

    /// Returns the picture if it is in memory: one lock, one look-up, no allocation.
    ///
    /// With ``CachePolicy/protocol`` the picture is returned only while it is fresh; that check takes some
    /// microseconds. With the policies that always ask the origin, including ``CachePolicy/refresh``, the result is
    /// nil.
    /// - Complexity: O(1).
    public func cachedImage(for request: ImageRequest) -> Image? {
        // Without interceptors nothing is copied, and so nothing retained.
        if loader.hasInterceptors { return loader.cachedImage(for: loader.changed(request)) }
        return loader.cachedImage(for: request)
    }

    /// Loads a picture. A picture in memory is returned without any suspension.
    ///
    /// Cancelling the task cancels the load, unless other callers wait for the same picture.
    /// - Throws: any code of ``/WebImageCore/WebImageError``; `cancelled` when the task was cancelled.
    public nonisolated(nonsending) func image(for request: ImageRequest) async throws(WebImageError) -> ImageResponse {
        let request = loader.changed(request)
        if let response = loader.responseFromMemory(for: request) { return response }
        let span = startSpan("webimage.load", ofKind: .client)
        defer { span.end() }
        if span.isRecording { span.attributes["url.full"] = request.redactedURL }
        do throws(WebImageError) {
            let response = try await loader.image(for: request)
            if span.isRecording { span.attributes["webimage.source"] = response.source.rawValue }
            return response
        } catch {
            span.recordError(error)
            throw error
        }
    }

    /// The response of ``image(for:)`` if the picture is in memory; otherwise nil.
    func responseFromMemory(for request: ImageRequest) -> ImageResponse? {
        loader.responseFromMemory(for: loader.changed(request))
    }

    /// Loads a picture and reports progress, previews and the result as an async sequence. The load starts when the
    /// sequence is iterated.
    public func events(for request: ImageRequest) -> ImageEvents {
        ImageEvents { [loader] mailbox in
            let request = loader.changed(request)
            let token = LoadToken(loader: loader, request: request, isWatching: true)
            loader.begin(token, request, .mailbox(mailbox))
            return token
        }
    }

    /// Loads a picture for code without async functions.
    ///
    /// - Parameters:
    ///   - request: what to load, and how.
    ///   - executor: where `onEvent` is called. Default ``CallbackExecutor/direct``: on threads of the manager, and for
    ///     a picture in memory on the caller's thread, before this returns.
    ///   - onEvent: called with each event. `finished` comes exactly once, last, also after a cancellation. The closure
    ///     must not block.
    @discardableResult
    public func load(
        _ request: ImageRequest, on executor: CallbackExecutor = .direct,
        onEvent: @escaping @Sendable (ImageEvent) -> Void
    ) -> LoadToken { load(request, on: executor, asksMemory: true, onEvent: onEvent) }

    /// - Parameter asksMemory: false if the caller has looked in memory just before.
    func load(
        _ request: ImageRequest, on executor: CallbackExecutor, asksMemory: Bool,
        onEvent: @escaping @Sendable (ImageEvent) -> Void
    ) -> LoadToken {
        let request = loader.changed(request)
        let token = LoadToken(loader: loader, request: request, isWatching: true)
        if asksMemory, executor.isDirect, let response = loader.responseFromMemory(for: request) {
            token.endBeforeItIsShared()
            onEvent(.finished(.success(response)))
            return token
        }
        loader.begin(token, request, .callback(EventCallback(on: executor, onEvent)), asksMemory: asksMemory)
        return token
    }

    /// Ends every running or waiting load of a picture with `cancelled`. It does not affect later loads, nor
    /// `data(for:)` and the other functions for bytes, which end with their tasks.
    public func cancelAll() { loader.cancelAll() }

    /// The number of pictures that are loading or waiting to load.
    public var runningLoads: Int { loader.runningLoads }

    /// Returns when every original that was answered so far is stored in the disk cache and in the further tiers, or
    /// could not be stored. In a cancelled task it returns at once.
    public func finishStores() async {
        try? await loader.originals.finish()
        await ownCache.finishTiers()
    }

    /// Shuts the manager down in an orderly way. New loads fail with `shutDown`. Loads that wait for the network end,
    /// unless they are marked ``/WebImageDownload/DownloadOptions/finishesWhenDrained``; the others may finish within
    /// `limit`. Then everything is written to disk, expired entries are removed
    /// (``/WebImageCache/DiskCacheConfiguration/removesExpiredWhenDrained``), the manager shuts down, and free memory
    /// is returned to the system. A cancelled task does not wait for loads.
    public func drain(within limit: Duration) async {
        let end = loader.clock.now + limit
        loader.refuseNewLoads()
        // Marked loads may not have reached the downloader yet, so it must still accept them.
        downloader.endUnmarked()
        await loader.idle(until: end)
        await downloader.drain(within: end - loader.clock.now)
        await finishStores()
        do throws(WebImageError) {
            if let diskCache, diskCache.configuration.removesExpiredWhenDrained, loader.clock.now < end {
                try await diskCache.removeExpired()
            }
            try await diskCache?.flush()
        } catch {
            loader.observer.cacheFailed(error)
        }
        shutDown()
        await returnFreeMemory()
    }

    /// Gives the memory that the loads have freed back to the system, for a program that continues to run.
    private func returnFreeMemory() async {
        await withCheckedContinuation { continuation in
            loader.ioExecutor.run(.low) {
                ProcessMemory.returnFree()
                continuation.resume()
            }
        }
    }

    /// Ends every load, now and later, with `shutDown`. Pictures that were answered are still stored: see
    /// ``finishStores()``.
    public func shutDown() {
        if !sharesCache { ownCache.stopWatchingMemory() }
        loader.shutDown()
        downloader.shutDown()
        isolatedDecoders.shutDown()
    }
}

extension ImageCache {
    /// Makes the cache of a manager that was given no ``ImageCache``.
    ///
    /// - Parameter foreign: keeps pictures and originals in place of memory and disk; nil: memory and disk keep them.
    fileprivate convenience init(
        _ configuration: ImageManager.Configuration, behind foreign: ForeignCache?, _ decoding: DecodeService,
        executor: any WorkExecutor, files: any FileSystem, memoryPressure: (any MemoryPressureSource)?,
        frames: FrameBudget
    ) {
        let clock = decoding.clock
        let memory = MemoryCache(
            limits: foreign == nil ? configuration.memoryLimits : .init(cost: 0), policy: configuration.evictionPolicy,
            remembersHeld: true, clock: clock)
        let place = foreign == nil ? configuration.disk : nil
        let disk = place.map { DiskCache($0, executor: executor, clock: clock, files: files) }
        let partials = place.map { PartialStore($0, of: disk, clock: clock, files: files) }
        if let partials { executor.run(.low) { partials.prepare() } }
        let tiers = (foreign.map { [$0] } ?? []) + configuration.tiers
        self.init(
            memory: memory, disk: disk, partials: partials, decoding: decoding, executor: executor,
            furtherTiers: tiers.map { FurtherTier($0, decoding, executor: executor, logger: configuration.logger) },
            encoding: configuration.cacheEncoding, serializer: configuration.cacheSerializer,
            pressure: memoryPressure.map { source in
                MemoryPressureWatcher(source: source, clock: clock, trims: memory, frames: frames)
            })
    }
}

extension DrainService {
    /// - Parameters:
    ///   - manager: the manager to drain.
    ///   - drainTime: how long running decodes, and downloads that are marked with
    ///     ``/WebImageDownload/DownloadOptions/finishesWhenDrained``, may take to finish. All other downloads end at once: see
    ///     ``ImageManager/drain(within:)``. Default 10 s.
    ///   - untilShutdown: returns when the service should stop; nil (the default): the service stops when its task is
    ///     cancelled.
    public init(
        manager: ImageManager, drainTime: Duration = .seconds(10), untilShutdown: (@Sendable () async -> Void)? = nil
    ) {
        self.init(until: untilShutdown) { await manager.drain(within: drainTime) }
    }
}

extension DownloadConfiguration {
    /// A copy whose `Accept` header names these formats, unless the program has set that header.
    fileprivate func accepting(_ formats: [ImageFormat]) -> DownloadConfiguration {
        var configuration = self
        if headers[.accept] == Self.accept([]) { configuration.headers[.accept] = Self.accept(formats) }
        return configuration
    }
}

extension Loader {
    /// The events of a load as a sequence. The interceptors are not called.
    func events(for request: ImageRequest) -> ImageEvents {
        ImageEvents { [self] mailbox in
            let token = LoadToken(loader: self, request: request, isWatching: true)
            start(token, request, .mailbox(mailbox))
            return token
        }
    }

    /// - Parameter caller: the actor on which this function runs. Without it, the closures would run elsewhere: two
    ///   executor hops, which cost more than everything that is done here.
    func image(
        for request: ImageRequest, on caller: isolated (any Actor)? = #isolation
    ) async throws(WebImageError) -> ImageResponse {
        // A caller on an actor, above all the main actor, must not be kept busy with decoding.
        let isFree = caller == nil && withUnsafeCurrentTask { $0?.unownedTaskExecutor == nil }
        let token = LoadToken(loader: self, request: request, isWatching: false, isOfFreeTask: isFree)
        let result = await withTaskCancellationHandler {
            _ = caller
            return await withCheckedContinuation { continuation in
                // The callers have looked in memory just before.
                begin(token, request, .once(continuation), asksMemory: false)
            }
        } onCancel: {
            token.cancel()
        }
        return try result.get()
    }
}

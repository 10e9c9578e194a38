public import Logging
import Synchronization
public import WebImageCache
public import WebImageCodecs
public import WebImageCore
import WebImageSystem

/// A memory cache and a disk cache in one. Memory is asked first. A picture that is found on disk is decoded to the
/// requested size, and is in memory from then on.
///
///     let cache = ImageCache(configuration: .init(disk: DiskCacheConfiguration(directory: folder)))
///     try await cache.store(avatar, for: "avatar-42")
///     let found = try await cache.image(for: "avatar-42")
///
/// Requests find the pictures that an ``ImageManager`` with the same directory has stored, and the other way round. A
/// stored picture can be found as soon as its bytes are known, before they are on disk. Removing a picture also removes
/// a store that has not finished. Files are read and pictures decoded on threads of the cache's own, never on Swift's.
///
/// The equivalent of SDWebImage's `SDImageCache`.
public final class ImageCache: ImageCaching {
    /// The settings of an image cache.
    public struct Configuration: Sendable {
        /// The limits of the memory cache. Default: 20 % of the container's memory, at most 512 MiB.
        public var memoryLimits = MemoryCache.Limits.default
        /// Which pictures are evicted from memory first. Default ``/WebImageCache/EvictionPolicy/twoQueues``.
        public var evictionPolicy = EvictionPolicy.twoQueues
        /// The disk cache; nil (the default): pictures are kept in memory only.
        public var disk: DiskCacheConfiguration?
        /// Further tiers for encoded originals, behind the disk. Loads that use this cache
        /// (``ImageRequest/Caching/cache``) look up and store originals in them; the cache's own
        /// ``ImageCaching/image(for:in:promotes:)`` and ``ImageCaching/data(for:)`` do not. Default none.
        public var tiers: [any BytesTier] = []
        /// How pictures without encoded bytes are encoded for the disk. Default ``CacheEncoding/automatic``.
        public var encoding = CacheEncoding.automatic
        /// Decides which bytes are stored on disk, for calls without a serializer of their own. Default nil: the given
        /// bytes, otherwise those that ``encoding`` makes.
        public var serializer: CacheSerializer?
        /// Reads and writes pictures. Default ``/WebImageCodecs/CoderRegistry/standard``.
        public var coders = CoderRegistry.standard
        /// Which decoders run in separate processes, as in ``ImageManager/Configuration/isolation``. Default
        /// ``/WebImageCodecs/DecoderIsolation/none``.
        public var isolation = DecoderIsolation.none
        /// Threads that decode and encode. Default: as many as the machine has cores for this process.
        public var decodeThreads = Processors.count
        /// Threads that read and write files. Default 4.
        public var fileThreads = 4
        /// The memory that all running decodes may hold together; a larger decode waits until no other runs. Default
        /// 512 MiB.
        public var decodeMemory = ByteCount.mebibytes(512)
        /// Whether the cache frees memory when the container or the machine has little left. Default true.
        public var answersMemoryPressure = true
        /// The logger. It is quiet by default: messages at `warning` need somebody's attention.
        public var logger = Logger(label: "webimage")

        public init(disk: DiskCacheConfiguration? = nil) { self.disk = disk }
    }

    /// How much an image cache holds.
    public struct Usage: Hashable, Sendable {
        /// Pictures in memory, and what they cost.
        public var memoryCount: Int
        public var memoryCost: ByteCount
        /// The usage of the disk cache; nil without one.
        public var disk: DiskUsage?
    }

    /// The cache of decoded pictures in memory.
    public let memoryCache: MemoryCache
    /// The disk cache; nil if pictures are kept in memory only.
    public let diskCache: DiskCache?
    let decoding: DecodeService
    /// Reads and writes files.
    let executor: any WorkExecutor
    /// The tiers of originals behind ``diskCache``.
    let furtherTiers: [FurtherTier]
    let encoding: CacheEncoding
    let serializer: CacheSerializer?
    /// The beginnings of interrupted downloads, which are kept apart from the entries; nil without a disk cache.
    let partials: PartialStore?
    let reads: CacheReads?
    /// Frees memory when it is short; nil if that is switched off.
    private let pressure: MemoryPressureWatcher?
    /// The answers by which pictures in memory are judged, whichever manager loaded them.
    let answers = AnswerBook()
    /// Orders stores and removals; nothing waits while it is held.
    let pending = Guarded(PendingStores())

    public convenience init(configuration: Configuration = Configuration()) {
        self.init(
            configuration, clock: SystemClock.shared, files: PosixFileSystem(),
            memoryPressure: configuration.answersMemoryPressure ? SystemMemory.pressure : nil)
    }

    package convenience init(
        _ configuration: Configuration, clock: any LoadClock, files: any FileSystem,
        memoryPressure: (any MemoryPressureSource)? = nil
    ) {
        let fileExecutor = ThreadPool(name: "wi-files", width: max(configuration.fileThreads, 1))
        self.init(
            configuration, clock: clock, files: files, fileExecutor: fileExecutor,
            decodeExecutor: ThreadPool.computing(name: "wi-decode", width: max(configuration.decodeThreads, 1)),
            memoryPressure: memoryPressure)
    }

    package convenience init(
        _ configuration: Configuration, clock: any LoadClock, files: any FileSystem, fileExecutor: any WorkExecutor,
        decodeExecutor: any WorkExecutor, memoryPressure: (any MemoryPressureSource)? = nil
    ) {
        let memory = MemoryCache(
            limits: configuration.memoryLimits, policy: configuration.evictionPolicy, remembersHeld: true, clock: clock)
        let disk = configuration.disk.map { DiskCache($0, executor: fileExecutor, clock: clock, files: files) }
        let partials = configuration.disk.map { PartialStore($0, of: disk, clock: clock, files: files) }
        let decoding = DecodeService(
            coders: configuration.coders,
            isolation: DecoderPool(
                configuration.isolation, width: configuration.decodeThreads,
                notify: DecoderWatch.notifying(configuration.logger)), clock: clock, executor: decodeExecutor,
            width: configuration.decodeThreads, memory: configuration.decodeMemory,
            inputMemory: DownloadConfiguration().memoryForAll)
        self.init(
            memory: memory, disk: disk, partials: partials, decoding: decoding, executor: fileExecutor,
            furtherTiers: configuration.tiers.map {
                FurtherTier($0, decoding, executor: fileExecutor, logger: configuration.logger)
            }, encoding: configuration.encoding, serializer: configuration.serializer,
            pressure: memoryPressure.map { source in
                MemoryPressureWatcher(source: source, clock: clock, trims: memory, frames: .shared)
            })
    }

    /// Makes a cache from existing parts, such as those of a manager.
    ///
    /// - Parameters:
    ///   - decoding: the service for decoding and encoding.
    ///   - executor: the executor for files.
    init(
        memory: MemoryCache, disk: DiskCache?, partials: PartialStore?, decoding: DecodeService,
        executor: any WorkExecutor, furtherTiers: [FurtherTier] = [], encoding: CacheEncoding = .automatic,
        serializer: CacheSerializer? = nil,
        pressure: MemoryPressureWatcher? = nil
    ) {
        memoryCache = memory
        diskCache = disk
        self.partials = partials
        self.decoding = decoding
        self.executor = executor
        self.furtherTiers = furtherTiers
        self.encoding = encoding
        self.serializer = serializer
        reads = disk.map { [answers] disk in
            CacheReads(memory: memory, disk: disk, executor: executor, decoding: decoding, answers: answers)
        }
        self.pressure = pressure
        pressure?.start()
    }

    /// Stops freeing memory when it is short.
    func stopWatchingMemory() { pressure?.stop() }

    /// How much the cache holds. O(1).
    public var usage: Usage {
        Usage(memoryCount: memoryCache.count, memoryCost: memoryCache.cost, disk: diskCache?.usage)
    }

    /// Returns when every change so far has been made in the further tiers, or has failed. In a cancelled task it
    /// returns at once.
    func finishTiers() async {
        for tier in furtherTiers {
            let answer = CancellableAnswer<Void>()
            tier.whenIdle { answer.give(.success(())) }
            try? await answer.value()
        }
    }

    // MARK: - Asking

    public func cachedImage(for request: ImageRequest) -> Image? { memoryCache.image(for: request.variantKey) }

    public func image(
        for request: ImageRequest, in layers: CacheLayers, promotes: Bool
    ) async throws(WebImageError) -> CachedImage? {
        let asksMemory = layers.contains(.memory)
        if asksMemory, let image = cachedImage(for: request) {
            let data = request.options.includesData && layers.contains(.disk) ? try await data(for: request) : nil
            return CachedImage(image: image, source: .memory, data: data)
        }
        guard layers.contains(.disk), let reads else { return nil }
        return try await reads.image(for: request, asksMemory: asksMemory, promotes: promotes)
    }

    /// Returns the finished picture from disk, not its original, and stores it in memory if the request allows it.
    ///
    /// - Parameters:
    ///   - asksMemory: whether it is returned from memory if it has just been stored there.
    ///   - begun: gets a closure that raises the priority of the read.
    func finished(
        _ request: ImageRequest, asksMemory: Bool, begun: (@escaping @Sendable (LoadPriority) -> Void) -> Void
    ) async throws(WebImageError) -> CachedImage? {
        guard let reads else { return nil }
        let promotes = request.options.caching.store.contains(.memory)
        return try await reads.image(
            for: request, asksMemory: asksMemory, promotes: promotes, isFinished: true, begun: begun)
    }

    public func data(for request: ImageRequest) async throws(WebImageError) -> [UInt8]? {
        guard diskCache != nil else { return nil }
        return try await onFileThread(request.options.priority) { () throws(WebImageError) in
            try self.dataBlocking(for: request)
        }
    }

    public func contains(
        _ request: ImageRequest, in layers: CacheLayers
    ) async throws(WebImageError) -> CacheLayers {
        guard layers.contains(.disk), diskCache != nil else { return try containsBlocking(request, in: layers) }
        return try await onFileThread(request.options.priority) { () throws(WebImageError) in
            try self.containsBlocking(request, in: layers)
        }
    }

    func onFileThread<Value: Sendable>(
        _ priority: LoadPriority, _ work: @escaping @Sendable () throws(WebImageError) -> Value
    ) async throws(WebImageError) -> Value {
        try await executor.answer(priority, work)
    }
}

extension MemoryPressureWatcher {
    /// Evicts pictures from a cache and releases decoded frames of animations, depending on the level.
    convenience init(
        source: any MemoryPressureSource, clock: any LoadClock, trims memory: MemoryCache, frames: FrameBudget
    ) {
        self.init(source: source, clock: clock) { [weak memory] level in
            memory?.trim(for: level)
            switch level {
            case .none, .low: break
            case .medium: frames.trim(to: ByteCount(frames.used.bytes / 2))
            case .critical: frames.trim(to: .zero)
            }
        }
    }
}

import Synchronization
import WebImageCore
import WebImageDownload
import WebImageSystem

/// The bytes that a load needs, and how they are decoded. Loads with the same key share one transfer, and may share a
/// decode.
///
/// A reference, since every stage of a load passes it on.
final class BytesKey: Hashable, Sendable {
    let download: ResolvedRequest
    let originalKey: CacheKey
    // How the bytes are decoded: all waiters of a key can use the same rows, from the same coder, within the same
    // limits.
    let coder: String?
    let formatHint: ImageFormat?
    let keepsBitDepth: Bool
    let page: Int
    let usesEmbeddedThumbnail: Bool
    let limits: DecodeLimits
    /// The caching options, without those that concern only a single picture.
    let caching: ImageRequest.Caching
    /// A load that fails because its URL is blocked must not decide for a load that ignores the block.
    let retriesFailed: Bool
    /// Other settings of the downloader may lead to another answer.
    let settings: ConfigurationSnapshot
    /// The number of the original's last removal before the load began. Bytes from before it would be outdated.
    let removal: Int

    /// - Throws: `invalidURL`, `unsupportedScheme`.
    init(_ request: ImageRequest, by settings: ConfigurationSnapshot, removal: Int = 0) throws(WebImageError) {
        self.settings = settings
        self.removal = removal
        download = try request.download.get()
        originalKey = request.originalKey
        let options = request.options
        let decoding = options.decoding
        coder = decoding.coder?.key
        formatHint = decoding.formatHint
        keepsBitDepth = decoding.keepsBitDepth
        page = decoding.page
        usesEmbeddedThumbnail = decoding.usesEmbeddedThumbnail
        limits = decoding.limits
        caching = options.caching.ofBytes
        retriesFailed = options.retriesFailed
    }

    var policy: CachePolicy { caching.policy }

    /// Whether both loads store their originals in the same place.
    func storesOriginal(like other: BytesKey) -> Bool {
        originalKey == other.originalKey && removal == other.removal && caching.cache === other.caching.cache
            && caching.originalCache === other.caching.originalCache
    }

    static func == (one: BytesKey, other: BytesKey) -> Bool { one === other || one.difference(from: other) == nil }

    func hash(into hasher: inout Hasher) {
        // Other differences of keys are too rare to be worth hashing.
        hasher.combine(originalKey)
    }

    /// Why a load does not share the bytes of another one. Nil: the keys are equal.
    func difference(from other: BytesKey) -> StaticString? {
        if originalKey != other.originalKey { return "they load different pictures" }
        if caching.policy != other.caching.policy { return "the cache policies differ" }
        if settings != other.settings { return "the downloader's settings have changed between them" }
        if download != other.download { return "the requests differ: in URL, headers, credentials or hooks" }
        if coder != other.coder || formatHint != other.formatHint { return "the coders or format hints differ" }
        if keepsBitDepth != other.keepsBitDepth { return "one of them keeps the bit depth" }
        if usesEmbeddedThumbnail != other.usesEmbeddedThumbnail { return "one of them wants the embedded thumbnail" }
        if page != other.page { return "they are of different pages" }
        if limits != other.limits { return "the decode limits differ" }
        if retriesFailed != other.retriesFailed { return "only one of them retries URLs that failed" }
        if caching != other.caching { return "they use different caches" }
        if removal != other.removal { return "the original was removed from the cache between them" }
        return nil
    }
}

/// The pixels that a load needs. Loads with the same key share one decode.
struct PixelKey: Hashable, Sendable {
    let bytes: BytesKey
    let variantKey: CacheKey
    /// Complete pictures are the same with and without it, but for truncated ones the answers differ.
    let allowsPartial: Bool
    /// The pictures are the same with and without it, but a load that preloads frames must not be answered before them.
    let preloadsFrames: Bool
    /// The pictures are the same with and without it, but only a load for one that wants the bytes is sure to have them.
    let includesData: Bool

    /// - Throws: the same errors as ``BytesKey``.
    init(_ request: ImageRequest, by settings: ConfigurationSnapshot, removal: Int = 0) throws(WebImageError) {
        bytes = try BytesKey(request, by: settings, removal: removal)
        variantKey = request.variantKey
        let decoding = request.options.decoding
        allowsPartial = decoding.allowsPartial
        preloadsFrames = decoding.preloadsFrames
        includesData = request.options.includesData
    }

    func hash(into hasher: inout Hasher) { hasher.combine(variantKey) }
}

/// A job that makes pixels for its waiters.
final class PixelJob: @unchecked Sendable {
    // Sendable: `tokens` and `basis` are guarded by the loader's lock; the flags are atomic; the rest is constant.
    let key: PixelKey
    let request: ImageRequest
    let bytes: BytesJob
    /// When the first caller asked.
    let started: Duration
    var tokens: [LoadToken] = []
    /// The token by which this job waits for the job whose picture it continues; nil: its picture is made from the
    /// bytes.
    var basis: LoadToken?
    private let abandoned = Atomic(false)
    /// Read without the lock, since most loads have no caller that follows progress.
    private let watched = Atomic(false)

    init(key: PixelKey, request: ImageRequest, bytes: BytesJob, started: Duration) {
        self.key = key
        self.started = started
        self.request = request
        self.bytes = bytes
    }

    func add(_ token: LoadToken) {
        token.job = self
        token.index = tokens.count
        tokens.append(token)
        bytes.priorities.add(token.currentPriority)
        if token.waitsForStore { bytes.keeper.noteAwaited() }
        if token.finishesWhenDrained { bytes.finishesWhenDrained.store(true, ordering: .relaxed) }
        if token.isWatching { noteWatched() }
    }

    /// A caller follows the progress, also that of the picture from which this one is made.
    private func noteWatched() {
        watched.store(true, ordering: .relaxed)
        bytes.isWatched.store(true, ordering: .relaxed)
        guard let basis, !basis.isWatching else { return }
        basis.isWatching = true
        basis.job?.noteWatched()
    }

    func remove(_ token: LoadToken) {
        tokens.swapAt(token.index, tokens.count - 1)
        tokens[token.index].index = token.index
        tokens.removeLast()
        token.job = nil
        bytes.priorities.remove(token.currentPriority)
    }

    /// Removes all callers.
    func removeAll() {
        for token in tokens {
            token.job = nil
            bytes.priorities.remove(token.currentPriority)
        }
        tokens = []
    }

    /// A running decode stops at its next row.
    func abandon() { abandoned.store(true, ordering: .relaxed) }

    var stepCount: Int { request.options.transformers.count }

    /// Whether a caller also wants the original's bytes, which are not in memory.
    var wantsData: Bool { tokens.contains(where: \.includesData) }

    /// The callers that follow progress, not only the result.
    var watchers: [LoadToken.Delivery] {
        tokens.compactMap { $0.isWatching ? $0.delivery : nil }
    }
}

extension PixelJob: PictureOrder {
    var recipe: PictureRecipe { request.recipe }
    var place: String { request.redactedURL }
    var isAbandoned: Bool { abandoned.load(ordering: .relaxed) }
    var isWatched: Bool { watched.load(ordering: .relaxed) }
}

/// A job that gets bytes for its pixel jobs: one look-up on disk, or one transfer, for all of them.
final class BytesJob: @unchecked Sendable {
    // Sendable: what changes is guarded by the loader's lock; the rest is constant.
    let key: BytesKey
    let request: ImageRequest
    let started: Duration
    let keeper: OriginalKeeper
    let trace: TraceBook
    /// Set when there are no waiters left.
    let isAbandoned = Atomic(false)
    /// Set when a caller follows progress.
    let isWatched = Atomic(false)
    /// Set when a caller wants it to finish when the manager is drained.
    let finishesWhenDrained = Atomic(false)
    /// The thread of the task that is just starting the job, if it may decode; otherwise 0.
    private let beginner = Atomic<UInt>(0)
    /// Set by the session that records whether the origin's answer was usable.
    let isSettled = Atomic(false)
    private let highest = Atomic(LoadPriority.veryLow.rawValue)

    /// Every pixel job that is not finished.
    var pixelJobs: [PixelJob] = []
    /// The pixel jobs that no decode session has taken on.
    var unplanned: [PixelJob] = []
    /// True while a session is running that will take on the unplanned jobs when it knows the header.
    var hasPlanningSession = false
    /// Whether the planning session found a picture with one frame.
    var isStill = false
    /// The transfer, also while no decodable bytes have arrived.
    var download: Download?
    var opened: OpenedBytes?
    /// The priorities of all callers of all pixel jobs.
    var priorities = PriorityCounts() {
        didSet { highest.store((priorities.highest ?? .veryLow).rawValue, ordering: .relaxed) }
    }

    /// - Parameter other: a job of the same original with another key.
    init(key: BytesKey, request: ImageRequest, started: Duration, removals: RemovalNumbers, other: BytesJob? = nil) {
        self.key = key
        trace = TraceBook(started: started, apart: other.flatMap { key.difference(from: $0.key) })
        self.request = request
        self.started = started
        keeper = OriginalKeeper(key, removals: removals)
    }

    /// The unfinished job with the most steps of `request`'s chain applied. Nil if there is none, and for jobs that may
    /// end in two parts, as with policies that deliver the cached picture first.
    func basis(for request: ImageRequest, _ wanted: PixelKey) -> PixelJob? {
        guard isStill, !request.options.transformers.isEmpty, !key.policy.mayAnswerTwice else { return nil }
        let candidates = pixelJobs.filter { job in
            !job.isAbandoned && job.key.allowsPartial == wanted.allowsPartial
                && job.key.variantKey.isBeginning(of: wanted.variantKey)
        }
        return candidates.max { $0.stepCount < $1.stepCount }
    }

    /// Calls `begin`; until it returns, this thread may decode.
    func beginHere(_ begin: () -> Void) {
        beginner.store(CurrentThread.id, ordering: .relaxed)
        begin()
        beginner.store(0, ordering: .relaxed)
    }

    var isBegunHere: Bool { beginner.load(ordering: .relaxed) == CurrentThread.id }

    /// The highest priority of its callers; may be read without the lock.
    var priority: LoadPriority { LoadPriority(rawValue: highest.load(ordering: .relaxed)) ?? .veryLow }
}

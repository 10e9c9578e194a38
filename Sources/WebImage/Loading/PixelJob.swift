import Synchronization
import WebImageCore
import WebImageDownload
import WebImageSystem

/// Which bytes a load needs and how they are decoded: those that share a key share one transfer, and may share a decode.
struct BytesKey: Hashable, Sendable {
    let download: ResolvedRequest
    let originalKey: CacheKey
    // How they are decoded: rows of one kind, by one coder, within one set of limits serve all that wait.
    let coder: String?
    let formatHint: ImageFormat?
    let keepsBitDepth: Bool
    let page: Int
    let usesEmbeddedThumbnail: Bool
    let limits: DecodeLimits
    /// Without what concerns one of its pictures only.
    let caching: ImageRequest.Caching
    /// One who would be refused must not decide for one who would not.
    let retriesFailed: Bool
    /// What is loaded by other settings of the downloader may bring another answer.
    let settings: ConfigurationSnapshot

    /// - Throws: `invalidURL`, `unsupportedScheme`.
    init(_ request: ImageRequest, by settings: ConfigurationSnapshot) throws(WebImageError) {
        self.settings = settings
        download = try request.download.get()
        originalKey = request.originalKey
        coder = request.options.decoding.coder?.key
        formatHint = request.options.decoding.formatHint
        keepsBitDepth = request.options.decoding.keepsBitDepth
        page = request.options.decoding.page
        usesEmbeddedThumbnail = request.options.decoding.usesEmbeddedThumbnail
        limits = request.options.decoding.limits
        caching = request.options.caching.ofBytes
        retriesFailed = request.options.retriesFailed
    }

    var policy: CachePolicy { caching.policy }

    func hash(into hasher: inout Hasher) {
        // What else two keys may differ in is too rare to be worth hashing.
        hasher.combine(originalKey)
    }
}

/// Which pixels a load needs: those that share a key share one decode.
struct PixelKey: Hashable, Sendable {
    let bytes: BytesKey
    let variantKey: CacheKey
    /// Whole pictures are the same with and without it; those that wait for a cut one get other answers.
    let allowsPartial: Bool

    /// - Throws: as ``BytesKey``.
    init(_ request: ImageRequest, by settings: ConfigurationSnapshot) throws(WebImageError) {
        bytes = try BytesKey(request, by: settings)
        variantKey = request.variantKey
        allowsPartial = request.options.decoding.allowsPartial
    }

    func hash(into hasher: inout Hasher) { hasher.combine(variantKey) }
}

/// Pixels that someone waits for.
final class PixelJob: @unchecked Sendable {
    // Sendable: `tokens` and `basis` are guarded by the loader's lock; the flags are atomic; the rest is constant.
    let key: PixelKey
    let request: ImageRequest
    let bytes: BytesJob
    /// When the first caller asked.
    let started: Duration
    var tokens: [LoadToken] = []
    /// Its own place among those who wait for the job whose picture it is made of; nil: it is made of the bytes.
    var basis: LoadToken?
    private let abandoned = Atomic(false)
    /// Read without the lock, since most loads have no caller who looks at the way.
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
        if token.finishesWhenDrained { bytes.finishesWhenDrained.store(true, ordering: .relaxed) }
        if token.isWatching {
            watched.store(true, ordering: .relaxed)
            bytes.isWatched.store(true, ordering: .relaxed)
        }
    }

    func remove(_ token: LoadToken) {
        tokens.swapAt(token.index, tokens.count - 1)
        tokens[token.index].index = token.index
        tokens.removeLast()
        token.job = nil
        bytes.priorities.remove(token.currentPriority)
    }

    /// Takes away all callers.
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

    /// Whether somebody wants the original's bytes too, which memory does not have.
    var wantsData: Bool { tokens.contains(where: \.includesData) }

    /// Those of its callers who look at the way, not only at the end.
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

/// Bytes that pixel jobs wait for: one look into the disk cache, or one transfer, for all of them.
final class BytesJob: @unchecked Sendable {
    // Sendable: what changes is guarded by the loader's lock; the rest is constant.
    let key: BytesKey
    let request: ImageRequest
    let started: Duration
    let keeper: OriginalKeeper
    let trace: TraceBook
    /// Set when nobody waits any more.
    let isAbandoned = Atomic(false)
    /// Set once a caller looks at the way.
    let isWatched = Atomic(false)
    /// Set once a caller wants it finished when the manager is drained.
    let finishesWhenDrained = Atomic(false)
    /// The thread of the task that is just beginning it, where that may decode; 0 else.
    private let beginner = Atomic<UInt>(0)
    /// Set by the session that says how it went with the origin.
    let isSettled = Atomic(false)
    private let highest = Atomic(LoadPriority.veryLow.rawValue)

    /// Every pixel job that is not finished.
    var pixelJobs: [PixelJob] = []
    /// Those that no decode session has taken on.
    var unplanned: [PixelJob] = []
    /// True while a session runs that will take on what is unplanned once it knows the header.
    var hasPlanningSession = false
    /// Whether the session that planned found a picture of one frame.
    var isStill = false
    /// The transfer that is waited for, also while nothing has come that could be decoded.
    var download: Download?
    var opened: OpenedBytes?
    /// Of all callers of all pixel jobs.
    var priorities = PriorityCounts() {
        didSet { highest.store((priorities.highest ?? .veryLow).rawValue, ordering: .relaxed) }
    }

    /// - Parameter other: a job of the same original, which has another key.
    init(key: BytesKey, request: ImageRequest, started: Duration, removals: RemovalCounts, other: BytesJob? = nil) {
        self.key = key
        trace = TraceBook(started: started, apart: other.map { key.difference(from: $0.key) })
        self.request = request
        self.started = started
        keeper = OriginalKeeper(key, removals: removals)
    }

    /// The unfinished job whose picture begins the chain of steps that `request` wants: the one with the most steps. Nil where
    /// there is none, and where its end may come in two parts, as with policies that show what the caches have first.
    func basis(for request: ImageRequest, _ wanted: PixelKey) -> PixelJob? {
        guard isStill, !request.options.transformers.isEmpty, !key.policy.mayAnswerTwice else { return nil }
        let picture = PictureKey(request.recipe)
        let candidates = pixelJobs.filter { job in
            !job.isAbandoned && job.key.allowsPartial == wanted.allowsPartial
                && PictureKey(job.recipe).isBeginning(of: picture)
        }
        return candidates.max { $0.stepCount < $1.stepCount }
    }

    /// Calls `begin`, from which on this thread may decode until it returns.
    func beginHere(_ begin: () -> Void) {
        beginner.store(CurrentThread.id, ordering: .relaxed)
        begin()
        beginner.store(0, ordering: .relaxed)
    }

    var isBegunHere: Bool { beginner.load(ordering: .relaxed) == CurrentThread.id }

    /// That of the most urgent caller; may be read without the lock.
    var priority: LoadPriority { LoadPriority(rawValue: highest.load(ordering: .relaxed)) ?? .veryLow }
}

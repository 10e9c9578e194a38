public import Logging
public import ServerConfiguration
public import ServerGrammar
import Synchronization
import WebImage

/// Answers requests for pictures: from the results that are there, else by making them, each once, whoever asks.
public final class ImageService: Sendable {
    /// How a result came to be there.
    public enum Source: String, Hashable, Sendable {
        case memory, disk, stale, miss, collapsed
    }

    /// What a request gets.
    public struct Found: Sendable {
        public var result: StoredResult
        public var source: Source
        /// Of what was made for it.
        public var cost: PictureMaker.Cost?
    }

    private typealias Landing = Result<PictureMaker.Made, RequestRefusal>

    public let settings: ServerSettings
    public let maker: PictureMaker
    public let cache: ResultCache
    public let gate: MissGate
    private let limiter: RateLimiter?
    private let flights = Flights<Landing>()
    private let renewals = Flights<Bool>()
    private let now: @Sendable () -> Int
    private let logger: Logger

    public init(
        settings: ServerSettings, maker: PictureMaker, cache: ResultCache, threads: Int,
        now: @escaping @Sendable () -> Int, logger: Logger
    ) {
        self.settings = settings
        self.maker = maker
        self.cache = cache
        self.now = now
        self.logger = logger
        gate = MissGate(
            most: settings.queueSize.map { $0 + threads } ?? threads * 33, threads: threads,
            patience: settings.timeout)
        limiter = settings.rateLimit.map { RateLimiter(perSecond: $0.perSecond, burst: $0.burst) }
    }

    /// Names the result of a URL for a client.
    public static func key(_ url: URLGrammar.ParsedURL, _ choice: FormatChoice) -> String {
        let text = "1\n\(url.options.canonicalText)\n\(choice.key)\n\(url.source)"
        return Base64URL.encode(Digest.sha256(Array(text.utf8)))
    }

    /// How many requests wait for results that are being made.
    public var waitingCount: Int { flights.waiterCount }

    /// How many wait for results to be renewed behind the clients' backs: as many as are renewed.
    public var renewingCount: Int { renewals.waiterCount }

    /// The result when memory has it and it is fresh: nothing is waited for.
    public func cached(_ key: String) -> Found? {
        guard let result = cache.cachedResult(key), result.freshness.freshUntil > now() else { return nil }
        return Found(result: result, source: .memory)
    }

    /// Counts a request that is not answered from what is kept.
    ///
    /// - Parameter client: its address; nil: it is not known, and not limited.
    /// - Throws: 429 where the client asked for more than `WEBIMAGE_RATE_LIMIT` allows.
    public func admit(_ client: String?) throws(RequestRefusal) {
        guard let limiter, let client, let seconds = limiter.take(client) else { return }
        throw .overRate(client, retryAfter: max(1, Int(seconds.rounded(.up))))
    }

    public func find(
        _ url: URLGrammar.ParsedURL, _ choice: FormatChoice, client: String? = nil
    ) async throws(RequestRefusal) -> Found {
        let key = Self.key(url, choice)
        let known = await cache.result(key)
        if let (result, layer) = known {
            let late = now() - result.freshness.freshUntil
            if late < 0 { return Found(result: result, source: layer == .memory ? .memory : .disk) }
            if late < settings.staleWhileRevalidate, !result.freshness.mustRevalidate {
                renewLater(result, key, url, choice)
                return Found(result: result, source: .stale)
            }
        }
        try admit(client)
        do throws(RequestRefusal) {
            return try await make(url, choice, key)
        } catch {
            guard error.isSourceDown, let (result, _) = known, !result.freshness.mustRevalidate,
                now() - result.freshness.freshUntil < settings.staleIfError
            else { throw error }
            return Found(result: result, source: .stale)
        }
    }

    private func make(
        _ url: URLGrammar.ParsedURL, _ choice: FormatChoice, _ key: String
    ) async throws(RequestRefusal) -> Found {
        let (landing, joined) = await flights.value(key) { [self] in await fly(url, choice, key) }
        guard let landing else {
            throw .clientGone
        }
        let made = try landing.get()
        return Found(result: made.result, source: joined ? .collapsed : .miss, cost: joined ? nil : made.cost)
    }

    private func fly(_ url: URLGrammar.ParsedURL, _ choice: FormatChoice, _ key: String) async -> Landing {
        // Another flight may have landed since the caller looked.
        if let known = cached(key) { return .success(PictureMaker.Made(result: known.result)) }
        do throws(RequestRefusal) {
            return .success(
                try await inTurn(url.source) { place, left throws(RequestRefusal) in
                    var made = try await maker.make(
                        url, choice, timeout: left, priority: gate.isLate(place) ? .low : .normal)
                    made.cost.queue = place.waited.inSeconds
                    if !made.result.freshness.forbidsStoring { cache.keep(made.result, key) }
                    return (made, made.cost.work)
                })
        } catch {
            return .failure(error)
        }
    }

    /// Does work with a source when it is the turn of the source's host.
    ///
    /// - Parameter work: gets its place and the time that is left; returns how long a thread was busy with it, too.
    public func inTurn<Value: Sendable>(
        _ source: String,
        _ work: (MissGate.Place, _ left: Duration) async throws(RequestRefusal) -> (Value, busy: Double?)
    ) async throws(RequestRefusal) -> Value {
        let place = try await gate.enter(SourceHost.name(of: source) ?? "")
        do throws(RequestRefusal) {
            let (value, busy) = try await work(place, max(settings.timeout - place.waited, .milliseconds(1)))
            gate.leave(place, work: busy)
            return value
        } catch {
            gate.leave(place, work: nil)
            throw error
        }
    }

    /// Asks the origin behind the client's back, and makes the result anew where the source has changed.
    private func renewLater(
        _ result: StoredResult, _ key: String, _ url: URLGrammar.ParsedURL, _ choice: FormatChoice
    ) {
        // One renewal of a result runs at a time: without this every stale answer would wait beside it.
        guard !gate.isFull, renewals.waiters(key) == 0 else { return }
        Task { [self] in _ = await renewals.value(key) { [self] in await renew(result, key, url, choice) } }
    }

    private func renew(
        _ result: StoredResult, _ key: String, _ url: URLGrammar.ParsedURL, _ choice: FormatChoice
    ) async -> Bool {
        // Another renewal may have ended since the caller looked.
        if cached(key) != nil { return true }
        do throws(RequestRefusal) {
            let freshness = try await maker.askOrigin(url, timeout: settings.timeout)
            if freshness.isSameVersion(as: result.freshness) {
                var renewed = result
                renewed.freshness = freshness
                cache.renew(renewed, key)
            } else {
                _ = try await make(url, choice, key)
            }
            return true
        } catch {
            logger.debug("a result cannot be renewed: \(error.detail)")
            return false
        }
    }
}

import FleetCoordination
public import Logging
import RedisClient
public import ServerConfiguration
public import ServerGrammar
import Synchronization
import Tracing
import WebImage

/// Answers requests for pictures from cached results, or makes the results. Concurrent requests for the same result
/// share the work.
public final class ImageService: Sendable {
    /// How a result was obtained.
    public enum Source: String, Hashable, Sendable {
        case memory, disk, stale, miss, collapsed
        /// Another server of the fleet made it.
        case shared
        /// The storage that all servers share had it.
        case stored
    }

    /// The result for a request.
    public struct Found: Sendable {
        public var result: StoredResult
        public var source: Source
        /// The cost of making it, if it was made for this request.
        public var cost: PictureMaker.Cost?
    }

    /// What one piece of shared work for a result gives to all requests that wait for it.
    struct FlightResult: Sendable {
        var result: Result<PictureMaker.Made, RequestRefusal>
        /// Where the result was found; nil: it was made here.
        var source: Source?

        var isGood: Bool { if case .success = result { true } else { false } }
    }

    public let settings: ServerSettings
    public let maker: PictureMaker
    public let cache: ResultCache
    /// Used after ``cache``; nil: there is none.
    public let storage: SharedResults?
    public let gate: MissGate
    public let purging: Purging
    private let resultName: String
    private let limiter: RateLimiter?
    let flights = Flights<FlightResult>()
    let renewals = Flights<Result<Found, RequestRefusal>>()
    let now: @Sendable () -> Int
    let logger: Logger
    let onRenewal: @Sendable (Found) -> Void

    /// - Parameter onRenewal: called with each result that was made anew in the background.
    public init(
        settings: ServerSettings, maker: PictureMaker, cache: ResultCache, storage: SharedResults? = nil, threads: Int,
        now: @escaping @Sendable () -> Int, logger: Logger, onRenewal: @escaping @Sendable (Found) -> Void = { _ in }
    ) {
        self.onRenewal = onRenewal
        self.settings = settings
        resultName = settings.resultName
        self.maker = maker
        self.cache = cache
        self.storage = storage
        purging = maker.purging
        self.now = now
        self.logger = logger
        gate = MissGate(
            most: settings.queueSize.map { $0 + threads } ?? threads * 33, threads: threads,
            patience: settings.timeout)
        limiter = settings.rateLimit.map { RateLimiter(perSecond: $0.perSecond, burst: $0.burst) }
    }

    /// Returns the key of the result for a URL and a client; it includes the settings that change results.
    public func key(_ url: URLGrammar.ParsedURL, _ choice: FormatChoice) -> String {
        let mark = url.options.watermark.opacity > 0 ? maker.watermarkName : ""
        let text = "3\n\(resultName)\n\(mark)\n\(url.options.canonicalText)\n\(choice.key)\n\(sourceName(url))"
        return Base64URL.encode(Digest.sha256(Array(text.utf8)))
    }

    /// The source, with the settings that say from where it may be loaded.
    func sourceName(_ url: URLGrammar.ParsedURL) -> String {
        url.sourceName + SourceRequest.access(to: url.source, settings)
    }

    /// How many requests are waiting for results that are being made.
    public var waitingCount: Int { flights.waiterCount }

    /// How many results are being renewed in the background.
    public var renewingCount: Int { renewals.waiterCount }

    /// Returns the result if it is in memory, fresh and not purged. Does not wait.
    ///
    /// - Parameter source: the URL of the source.
    public func cached(_ key: String, source: String) -> Found? {
        guard let result = cache.cachedResult(key), serving(of: result, source) == .fresh else { return nil }
        return Found(result: result, source: .memory)
    }

    /// Counts a request that the caches cannot answer.
    ///
    /// - Parameter client: its address; nil: it is not known, and not limited by it.
    /// - Throws: 429 if `WEBIMAGE_RATE_LIMIT` is exceeded.
    public func admit(_ client: String?, _ url: URLGrammar.ParsedURL) async throws(RequestRefusal) {
        guard let limiter, let name = limitedName(client, url), let seconds = await wait(name, limiter) else { return }
        throw .overRate(name, retryAfter: max(1, Int(seconds.rounded(.up))))
    }

    /// The name under which a request counts for the rate limit; nil: it does not count.
    private func limitedName(_ client: String?, _ url: URLGrammar.ParsedURL) -> String? {
        switch settings.rateLimit?.subject {
        case .client?: client
        case .host?: SourceURL(url.source).flatMap { $0.host.isEmpty ? nil : "host \($0.host)" }
        case .key?: url.signer.map { "key \($0 + 1)" }
        case nil: nil
        }
    }

    /// - Returns: nil if the request is within the limit, else the seconds until the next one is.
    private func wait(_ client: String, _ limiter: RateLimiter) async -> Double? {
        guard let fleet = purging.fleet else { return limiter.take(client) }
        do throws(RedisError) {
            return try await fleet.count(client, interval: limiter.interval, tolerance: limiter.tolerance)
        } catch {
            // If Redis fails, each server allows its share of the rate.
            return limiter.take(client, among: fleet.servers)
        }
    }

    public func find(
        _ url: URLGrammar.ParsedURL, _ choice: FormatChoice, client: String? = nil
    ) async throws(RequestRefusal) -> Found {
        let deadline = ContinuousClock.now + settings.timeout
        let key = key(url, choice)
        var known = await cache.result(key)
        var mustConfirm = false
        if let (result, layer) = known {
            switch serving(of: result, url.source) {
            case .fresh: return Found(result: result, source: layer == .memory ? .memory : .disk)
            case .whileRenewed:
                renewLater(result, key, url, choice)
                return Found(result: result, source: .stale)
            case .onceConfirmed: mustConfirm = true
            case .never: known = nil
            case .expired: break
            }
        }
        do throws(RequestRefusal) {
            if mustConfirm, let (result, _) = known,
                let found = try await confirmed(result, key, url, choice, until: deadline)
            {
                return found
            }
            try await admit(client, url)
            return try await make(url, choice, key, until: deadline)
        } catch {
            guard error.isSourceDown, let (result, _) = known, mayServeStale(result, for: .failure) else { throw error }
            return Found(result: result, source: .stale)
        }
    }

    /// - Parameters:
    ///   - loaded: the source, if it was just loaded.
    ///   - deadline: when the time for the request ends.
    func make(
        _ url: URLGrammar.ParsedURL, _ choice: FormatChoice, _ key: String, from loaded: LoadedSource? = nil,
        until deadline: ContinuousClock.Instant
    ) async throws(RequestRefusal) -> Found {
        let job = Job(url: url, choice: choice, key: key, deadline: deadline)
        return try await flightResult(key, url.source) { [self] in await runFlight(job, loaded) }
    }

    /// A result to make.
    struct Job {
        var url: URLGrammar.ParsedURL
        var choice: FormatChoice
        var key: String
        /// When the time for the request that began the work ends.
        var deadline: ContinuousClock.Instant

        /// The time until ``deadline``; never 0, which would mean no limit.
        var left: Duration { max(deadline - .now, .milliseconds(1)) }
    }

    /// How often a result is made at most if it is purged each time before it is finished.
    private static let maxAttempts = 3

    /// Joins or starts the work for a key. If the result was purged while it was made, it is made again, up to
    /// ``maxAttempts`` times in all.
    func flightResult(
        _ key: String, _ source: String, _ work: @escaping @Sendable () async -> FlightResult
    ) async throws(RequestRefusal) -> Found {
        var attempts = 0
        while true {
            attempts += 1
            let (answer, joined) = await flights.value(key, work)
            guard let answer else { throw .clientGone }
            let made = try answer.result.get()
            if attempts < Self.maxAttempts, purging.verdict(made.result, source) == .purged { continue }
            let place = answer.source ?? (joined ? .collapsed : .miss)
            return Found(result: made.result, source: place, cost: place == .miss ? made.cost : nil)
        }
    }

    private func runFlight(_ job: Job, _ loaded: LoadedSource?) async -> FlightResult {
        let (url, key) = (job.url, job.key)
        // The result may have been stored since the caller looked.
        if let known = cached(key, source: url.source) {
            return FlightResult(result: .success(.init(result: known.result)))
        }
        guard let fleet = purging.fleet else { return await work(job, loaded, begun: purging.stamp) }
        let shared = Fleet.Job(
            result: key, source: url.source,
            sourceDigest: Base64URL.encode(Digest.sha256(Array(url.sourceName.utf8)).prefix(16)))
        let answer = await fleet.once(shared, patience: job.left) { outcome in
            take(outcome, key, url.source)
        } work: { begun in
            let answer = await work(job, loaded, begun: begun)
            // A result from the storage keeps its age, and all servers can read it already.
            let shared =
                answer.source == nil && Self.isForAll(url)
                ? SharedOutcome.shared(answer.result, source: url.source, most: settings.redisResultBytes, now: now())
                : SharedOutcome.unshared
            return (answer, shared)
        }
        guard let answer else {
            return FlightResult(result: .failure(.timedOut("another server has not made the picture in time")))
        }
        guard answer.source == .shared, case .failure(let refusal) = answer.result, refusal.isSourceDown, let storage,
            Self.isForAll(url)
        else { return answer }
        // The failure may be that of another result of the source, and the storage may have this one.
        return await Hedge<FlightResult>(patience: SharedResults.patience, isGood: { _ in true }).value {
            guard let result = await storage.result(key) else { return nil }
            return await self.stored(result, job, after: refusal)
        } orElse: {
            answer
        }
    }

    /// Uses the outcome of another server, which made the result or failed.
    private func take(_ outcome: FleetOutcome, _ key: String, _ source: String) -> FlightResult? {
        switch outcome.kind {
        case .result:
            guard var result = SharedOutcome.result(outcome.content) else { return nil }
            result.begun = outcome.begun
            guard purging.verdict(result, source) == .current else { return nil }
            cache.keep(result, key)
            return FlightResult(result: .success(.init(result: result)), source: .shared)
        case .failure:
            return SharedOutcome.refusal(outcome.content).map { FlightResult(result: .failure($0), source: .shared) }
        case .unshared: return nil
        }
    }

    /// Results that were made with a client's cookies stay on this server.
    static func isForAll(_ url: URLGrammar.ParsedURL) -> Bool { url.cookies == nil }

    /// Reads the result from the storage, or makes it.
    private func work(_ job: Job, _ loaded: LoadedSource?, begun: Int) async -> FlightResult {
        let url = job.url
        // A source that was purged after it was loaded is loaded again.
        let loaded = loaded.flatMap { purging.lastPurge(url.source, tags: $0.tags) < $0.begun ? $0 : nil }
        guard loaded == nil, let storage, Self.isForAll(url) else {
            return await produce(job, loaded, begun: begun)
        }
        return await Hedge<FlightResult>(patience: SharedResults.patience, isGood: \.isGood).value {
            guard let result = await storage.result(job.key) else { return nil }
            return await self.stored(result, job, begun: begun)
        } orElse: {
            await self.produce(job, nil, begun: begun)
        }
    }

    /// The result from the storage, if it may be served.
    ///
    /// - Parameter failure: why the source cannot be used, if another server has found that out.
    private func stored(
        _ result: StoredResult, _ job: Job, begun: Int = 0, after failure: RequestRefusal? = nil
    ) async -> FlightResult? {
        let (url, key) = (job.url, job.key)
        let serving = serving(of: result, url.source)
        switch serving {
        case .never: return nil
        case .fresh:
            cache.keep(result, key)
            return FlightResult(result: .success(.init(result: result)), source: .stored)
        case .whileRenewed:
            cache.keep(result, key)
            if failure == nil { renewLater(result, key, url, job.choice) }
            return FlightResult(result: .success(.init(result: result)), source: .stale)
        case .expired, .onceConfirmed:
            do throws(RequestRefusal) {
                if let failure { throw failure }
                let renewal = try await inTurn(
                    url.source, until: job.deadline,
                    { _, left throws(RequestRefusal) in
                        let certainly = serving == .onceConfirmed
                        return (try await ask(result, url, certainly: certainly, timeout: left), nil)
                    })
                switch renewal {
                case .same(let renewed):
                    cache.keep(renewed, key)
                    return FlightResult(result: .success(.init(result: renewed)), source: .stored)
                case .changed(let loaded): return await produce(job, loaded, begun: begun)
                }
            } catch {
                guard error.isSourceDown, mayServeStale(result, for: .failure) else { return nil }
                cache.keep(result, key)
                return FlightResult(result: .success(.init(result: result)), source: .stale)
            }
        }
    }

    /// Makes the picture here.
    private func produce(_ job: Job, _ loaded: LoadedSource?, begun: Int) async -> FlightResult {
        let (url, key) = (job.url, job.key)
        do throws(RequestRefusal) {
            let made = try await inTurn(url.source, until: job.deadline) { place, left throws(RequestRefusal) in
                var made = try await maker.make(
                    url, job.choice, begun: loaded?.begun ?? begun, timeout: left,
                    priority: gate.isLate(place) ? .low : .normal,
                    from: loaded?.original)
                made.cost.queue = place.waited.inSeconds
                if !made.result.freshness.forbidsStoring {
                    cache.keep(made.result, key)
                    if Self.isForAll(url) { storage?.keep(made.result, key) }
                }
                return (made, made.cost.spent)
            }
            return FlightResult(result: .success(made))
        } catch {
            return FlightResult(result: .failure(error))
        }
    }

    /// Runs work on a source when it is the turn of the source's host.
    ///
    /// - Parameters:
    ///   - deadline: when the time for the request ends.
    ///   - work: gets its place and the remaining time. It also returns the time that it took.
    func inTurn<Value: Sendable>(
        _ source: String, until deadline: ContinuousClock.Instant,
        _ work: (MissGate.Place, _ left: Duration) async throws(RequestRefusal) -> (Value, spent: MissGate.Spent?)
    ) async throws(RequestRefusal) -> Value {
        let place = try await enterGate(source, patience: max(deadline - .now, .zero))
        do throws(RequestRefusal) {
            let (value, spent) = try await work(place, max(deadline - .now, .milliseconds(1)))
            gate.leave(place, spent)
            return value
        } catch {
            gate.leave(place, nil, hasFailed: true)
            throw error
        }
    }

    private func enterGate(_ source: String, patience: Duration) async throws(RequestRefusal) -> MissGate.Place {
        let span = startSpan("webimage.queue")
        defer { span.end() }
        return try await gate.enter(SourceURL(source)?.host ?? "", patience: patience)
    }
}

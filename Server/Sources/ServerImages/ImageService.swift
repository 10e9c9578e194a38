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
            patience: settings.timeout.inSeconds)
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

    public func find(_ url: URLGrammar.ParsedURL, _ choice: FormatChoice) async throws(RequestRefusal) -> Found {
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
            throw RequestRefusal(status: 499, text: "Cancelled", kind: .timeout, detail: "the client has gone")
        }
        let made = try landing.get()
        return Found(result: made.result, source: joined ? .collapsed : .miss, cost: joined ? nil : made.cost)
    }

    private func fly(_ url: URLGrammar.ParsedURL, _ choice: FormatChoice, _ key: String) async -> Landing {
        // Another flight may have landed since the caller looked.
        if let known = cached(key) { return .success(PictureMaker.Made(result: known.result)) }
        do throws(RequestRefusal) {
            try gate.enter()
        } catch {
            return .failure(error)
        }
        do throws(RequestRefusal) {
            let made = try await maker.make(url, choice, timeout: settings.timeout)
            gate.leave(work: made.cost.work)
            if !made.result.freshness.forbidsStoring { cache.keep(made.result, key) }
            return .success(made)
        } catch {
            gate.leave(work: nil)
            return .failure(error)
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

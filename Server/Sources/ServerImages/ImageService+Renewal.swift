import FleetCoordination
import Logging
import ServerConfiguration
import ServerGrammar
import WebImage

/// Renewal of stale results: they are confirmed by the origin or made again.
extension ImageService {
    /// How many results are renewed at the same time. Further stale results are renewed by later requests.
    private static let maxRenewals = 64
    /// In seconds.
    private static let longFreshness = 3600

    /// Asks the origin in the background, and makes the result anew if the source has changed.
    func renewLater(
        _ result: StoredResult, _ key: String, _ url: URLGrammar.ParsedURL, _ choice: FormatChoice
    ) {
        renewLater(key) { [self] in
            let deadline = ContinuousClock.now + settings.timeout
            return await renew(result, key, url, choice, certainly: false, until: deadline)
        }
    }

    /// Renews the result of a key in the background.
    func renewLater(_ key: String, _ renew: @escaping @Sendable () async -> Result<Found, RequestRefusal>) {
        // Only one renewal of a result runs at a time. Without this check every stale answer would add a waiter to it.
        guard !gate.isFull, renewals.count < Self.maxRenewals, renewals.waiters(key) == 0 else { return }
        Task { [self] in _ = await renewals.value(key, renew) }
    }

    /// Asks the origin while the client waits, because purges may have been missed.
    ///
    /// - Returns: nil if it is still not known whether the result was purged.
    func confirmed(
        _ result: StoredResult, _ key: String, _ url: URLGrammar.ParsedURL, _ choice: FormatChoice,
        until deadline: ContinuousClock.Instant
    ) async throws(RequestRefusal) -> Found? {
        let (outcome, joined) = await renewals.value(key) { [self] in
            await renew(result, key, url, choice, certainly: true, until: deadline)
        }
        guard let outcome else { throw .clientGone }
        var found = try outcome.get()
        // The cost counts once, for the request that began the renewal.
        if joined { found = Found(result: found.result, source: found.source == .miss ? .collapsed : found.source) }
        // A renewal in the background may have begun before purges were missed.
        return purging.verdict(found.result, url.source) == .current ? found : nil
    }

    /// - Parameter certainly: whether the origin must be asked, because purges may have been missed.
    private func renew(
        _ result: StoredResult, _ key: String, _ url: URLGrammar.ParsedURL, _ choice: FormatChoice, certainly: Bool,
        until deadline: ContinuousClock.Instant
    ) async -> Result<Found, RequestRefusal> {
        // Another renewal may have ended since the caller looked.
        if let found = cached(key, source: url.source) { return .success(found) }
        do throws(RequestRefusal) {
            // No client waits for a renewal in the background, so it has a low priority. Clients that wait take turns with
            // those whose pictures are made.
            let renewal =
                certainly
                ? try await inTurn(url.source, until: deadline) { _, left throws(RequestRefusal) in
                    (try await ask(result, url, certainly: true, timeout: left), nil)
                } : try await ask(result, url, certainly: false, timeout: settings.timeout, priority: .low)
            switch renewal {
            case .same(let renewed):
                cache.renew(renewed, key)
                // A write to the storage is worthwhile if other servers can use it for long.
                if Self.isForAll(url), renewed.freshness.freshUntil - now() >= Self.longFreshness {
                    storage?.keep(renewed, key)
                }
                return .success(Found(result: renewed, source: .memory))
            case .changed(let loaded):
                let made = try await make(url, choice, key, from: loaded, until: deadline)
                if !certainly { onRenewal(made) }
                // A result that must not be stored does not replace the old one, which would then be served again.
                if made.result.freshness.forbidsStoring { retire(result, key, url) }
                return .success(made)
            }
        } catch {
            logger.debug("a result cannot be renewed: \(error.detail)")
            if error.endsResults { retire(result, key, url) }
            return .failure(error)
        }
    }

    /// Marks a result as one that is not served again unless its origin confirms it.
    func retire(_ result: StoredResult, _ key: String, _ url: URLGrammar.ParsedURL) {
        var last = result
        last.freshness.mustRevalidate = true
        last.freshness.freshUntil = min(last.freshness.freshUntil, now())
        cache.renew(last, key)
        if Self.isForAll(url) { storage?.keep(last, key) }
    }

    enum Renewal {
        /// The source is unchanged: the same result, with the freshness of the origin's answer.
        case same(StoredResult)
        /// The source has changed. The value is the new source; nil if the caches have it.
        case changed(LoadedSource?)
    }

    /// A source that was loaded for a renewal, with its bytes.
    struct LoadedSource {
        var original: OriginalResponse
        /// See ``StoredResult/begun``.
        var begun: Int

        var tags: [UInt64] { SourceTags.hashes(of: original.head) }
    }

    func ask(
        _ result: StoredResult, _ url: URLGrammar.ParsedURL, certainly: Bool, timeout: Duration,
        priority: LoadPriority = .normal
    ) async throws(RequestRefusal) -> Renewal {
        let begun = purging.stamp
        switch try await maker.askOrigin(of: result, url, timeout: timeout, priority: priority) {
        case .changed(let original): return .changed(original.map { LoadedSource(original: $0, begun: begun) })
        case .unchanged(let freshness):
            var renewed = result
            renewed.freshness = freshness
            if certainly { (renewed.begun, renewed.checkedAt) = (max(begun, result.begun), now()) }
            return .same(renewed)
        }
    }
}

import Logging
import ServerConfiguration
import ServerGrammar
import WebImage

/// Stale results, which are made or confirmed anew.
extension ImageService {
    /// How many results are renewed at the same time. Further stale results are renewed by later requests.
    private static let mostRenewals = 64
    /// In seconds.
    private static let longFreshness = 3600

    /// Asks the origin in the background, and makes the result anew if the source has changed.
    func renewLater(
        _ result: StoredResult, _ key: String, _ url: URLGrammar.ParsedURL, _ choice: FormatChoice
    ) {
        // Only one renewal of a result runs at a time. Without this check every stale answer would add a waiter to it.
        guard !gate.isFull, renewals.count < Self.mostRenewals, renewals.waiters(key) == 0 else { return }
        Task { [self] in
            _ = await renewals.value(key) { [self] in await renew(result, key, url, choice, certainly: false) }
        }
    }

    /// - Parameter certainly: whether the origin must be asked, because purges may have been missed.
    func renew(
        _ result: StoredResult, _ key: String, _ url: URLGrammar.ParsedURL, _ choice: FormatChoice, certainly: Bool
    ) async -> Bool {
        // Another renewal may have ended since the caller looked.
        if cached(key, source: url.source) != nil { return true }
        do throws(RequestRefusal) {
            // No client waits for a renewal in the background, so it has a low priority.
            if let renewed = try await renewed(
                result, url, certainly: certainly, timeout: settings.timeout, priority: certainly ? .normal : .low)
            {
                cache.renew(renewed, key)
                // A write to the storage is worthwhile if other servers can use it for long.
                if Self.isForAll(url), renewed.freshness.freshUntil - now() >= Self.longFreshness {
                    storage?.keep(renewed, key)
                }
            } else {
                _ = try await make(url, choice, key)
            }
            return true
        } catch {
            logger.debug("a result cannot be renewed: \(error.detail)")
            if error.fault == .gone {
                // If the source no longer exists, the result is not served again.
                var last = result
                last.freshness.mustRevalidate = true
                cache.renew(last, key)
            }
            return false
        }
    }

    /// - Returns: the result with the freshness of the origin's answer; nil if the source has changed.
    func renewed(
        _ result: StoredResult, _ url: URLGrammar.ParsedURL, certainly: Bool, timeout: Duration,
        priority: LoadPriority = .normal
    ) async throws(RequestRefusal) -> StoredResult? {
        let begun = purging.stamp
        guard
            let freshness = try await maker.askOrigin(
                of: result, url, certainly: certainly, timeout: timeout, priority: priority)
        else { return nil }
        var renewed = result
        renewed.freshness = freshness
        if certainly { (renewed.begun, renewed.checkedAt) = (max(begun, result.begun), now()) }
        return renewed
    }
}

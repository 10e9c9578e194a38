import WebImageCore
import WebImageDownload

/// Access to origins: transfers, failed URLs, and the rules of HTTP by which stored answers are used.
struct OriginAccess: Sendable {
    let downloader: ImageDownloader
    /// The downloader's settings. They are stored here, too, so that a hit in memory follows one reference less.
    let settings: SettingsCounter
    let failedURLs: FailedURLs
    let rules: HTTPCacheRules
    let clock: any LoadClock

    init(_ downloader: ImageDownloader, _ failedURLs: FailedURLs, _ rules: HTTPCacheRules, clock: any LoadClock) {
        self.downloader = downloader
        settings = downloader.settings
        self.failedURLs = failedURLs
        self.rules = rules
        self.clock = clock
    }

    /// The head to report for an answer from a cache.
    func head(of stored: StoredResponse) -> ResponseHead { stored.head(by: rules, now: clock.wallTime) }

    /// The decision of the policy and HTTP's rules for an entry, or for a miss.
    func decision(_ key: BytesKey, _ stored: StoredResponse?) -> CacheDecision {
        // Another request may have accepted an answer that this one refuses.
        let stored = stored.flatMap { key.settings.accepts($0, for: key.download) ? $0 : nil }
        return rules.decide(
            key.policy.mode, key.settings.cacheRequest(for: key.download), stored: stored, now: clock.wallTime)
    }
}

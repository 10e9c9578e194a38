import WebImageCore
import WebImageDownload

/// The way to origins: transfers, what failed lately, and the rules of HTTP by which what is stored stands in for an answer.
struct OriginAccess: Sendable {
    let downloader: ImageDownloader
    /// The downloader's, beside it so that a hit in memory asks one object less.
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

    /// What is told of an answer that a cache gave.
    func head(of stored: StoredResponse) -> ResponseHead { stored.head(by: rules, now: clock.wallTime) }

    /// What the policy and the rules of HTTP say of an entry, or of there being none.
    func decision(_ key: BytesKey, _ stored: StoredResponse?) -> CacheDecision {
        // Another request may have taken what this one would refuse.
        let stored = stored.flatMap { key.settings.accepts($0, for: key.download) ? $0 : nil }
        return rules.decide(
            key.policy.mode, key.settings.cacheRequest(for: key.download), stored: stored, now: clock.wallTime)
    }
}

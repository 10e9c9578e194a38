import Logging
import Metrics
import Synchronization
import WebImageCore
import WebImageSystem

/// The metrics and log lines of loads. It logs only what needs somebody's attention. An error of the disk cache is a
/// warning the first time, then the tenth time, the hundredth, and so on.
///
/// Metrics: `webimage.loads` (label `source`), `webimage.failures` (label `code`), `webimage.joins`,
/// `webimage.cache.failures`, `webimage.cache.skips`, and the timer `webimage.load.duration`.
final class LoadObserver: Sendable {
    private let logger: Logger
    private let loads: [ImageSource: Counter]
    private let joins = Counter(label: "webimage.joins")
    private let cacheFailures = Counter(label: "webimage.cache.failures")
    private let cacheSkips = Counter(label: "webimage.cache.skips")
    private let troubles = Guarded(TroubleCounts())
    private let duration = Metrics.Timer(label: "webimage.load.duration")

    /// - Parameter factory: makes the counters of loads.
    init(logger: Logger, factory: any MetricsFactory = MetricsSystem.factory) {
        self.logger = logger
        var loads: [ImageSource: Counter] = [:]
        for source in [ImageSource.memory, .disk, .tier, .network, .file, .given] {
            loads[source] = Counter(
                label: "webimage.loads", dimensions: [("source", source.rawValue)], factory: factory)
        }
        self.loads = loads
    }

    func answered(from source: ImageSource) { loads[source]?.increment() }

    func joined() { joins.increment() }

    /// A cancelled call is no failure of the cache.
    func cacheFailed(_ error: WebImageError) {
        guard error.code != .cancelled else { return }
        cacheFailures.increment()
        guard let times = troubles.withLock({ $0.note(error.code) }) else { return }
        logger.warning(
            "the disk cache failed, the load goes on", metadata: ["error": "\(error)", "times": "\(times)"])
    }

    /// A store did not happen because the cache's limit leaves no room for it.
    func cacheSkipped() {
        cacheSkips.increment()
        guard let times = troubles.withLock({ $0.note(.noSpace) }) else { return }
        logger.warning(
            "the disk cache has no room within its limit, a store was skipped", metadata: ["times": "\(times)"])
    }

    func finished(_ result: Result<ImageResponse, WebImageError>, waiters: Int) {
        switch result {
        case .success(let response):
            answered(from: response.source)
            if let total = response.timings.total { duration.record(duration: total) }
        case .failure(let error):
            Counter(label: "webimage.failures", dimensions: [("code", error.code.name)]).increment()
            logger.debug("a load failed", metadata: ["error": "\(error)", "waiters": "\(waiters)"])
        }
    }
}

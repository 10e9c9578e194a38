import Logging
import Metrics
import WebImageCore

/// What others see of the loads: counters, timers and log lines. Quiet unless something needs a person.
///
/// Metrics: `webimage.loads` (label `source`), `webimage.failures` (label `code`), `webimage.joins`,
/// `webimage.cache.failures`, and the timer `webimage.load.duration`.
final class LoadObserver: Sendable {
    private let logger: Logger
    private let loads: [ImageSource: Counter]
    private let joins = Counter(label: "webimage.joins")
    private let cacheFailures = Counter(label: "webimage.cache.failures")
    private let duration = Metrics.Timer(label: "webimage.load.duration")

    init(logger: Logger) {
        self.logger = logger
        var loads: [ImageSource: Counter] = [:]
        for source in [ImageSource.memory, .disk, .network, .file] {
            loads[source] = Counter(label: "webimage.loads", dimensions: [("source", source.rawValue)])
        }
        self.loads = loads
    }

    func answered(from source: ImageSource) { loads[source]?.increment() }

    func joined() { joins.increment() }

    func cacheFailed(_ error: WebImageError) {
        cacheFailures.increment()
        logger.warning("the disk cache failed, the load goes on", metadata: ["error": "\(error)"])
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

import Logging
import Metrics
import WebImageCodecs
import WebImageCore

/// Reports the events of decoders in separate processes, as metrics and warnings.
///
/// Metrics: `webimage.decoders.started`, `webimage.decoders.crashed` and `webimage.decoders.ended`.
enum DecoderWatch {
    static func notifying(_ logger: Logger) -> @Sendable (DecoderPool.Event) -> Void {
        let started = Counter(label: "webimage.decoders.started")
        let crashed = Counter(label: "webimage.decoders.crashed")
        let ended = Counter(label: "webimage.decoders.ended")
        return { event in
            switch event {
            case .started: started.increment()
            case .ended: ended.increment()
            case .crashed(let error):
                crashed.increment()
                logger.warning("a decoding process was lost", metadata: ["error": "\(error)"])
            case .isWeak(let reason):
                logger.warning("decoders cannot be confined as they should be", metadata: ["reason": "\(reason)"])
            }
        }
    }
}

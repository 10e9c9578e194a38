import Logging
import Synchronization
import WebImageCore
import WebImageSystem

/// A log that does not repeat the same problem for every picture.
struct TroubleLog: ~Copyable, Sendable {
    let logger: Logger
    private let counts = Guarded(TroubleCounts())

    init(_ logger: Logger) { self.logger = logger }

    /// Logs a problem the first time, the tenth, the hundredth, and so on.
    func note(_ code: WebImageError.Code, _ level: Logger.Level, _ text: @autoclosure () -> String) {
        guard let times = counts.withLock({ $0.note(code) }) else { return }
        logger.log(level: level, "\(text())", metadata: ["times": "\(times)"])
    }
}

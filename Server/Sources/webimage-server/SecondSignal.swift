import Foundation
import Logging
import UnixSignals

/// The first SIGTERM or SIGINT lets running requests finish; a second one ends the process at once.
enum SecondSignal {
    /// Call this once the server handles signals itself.
    static func endsTheProcess(_ logger: Logger) {
        Task {
            var count = 0
            for await signal in await UnixSignalsSequence(trapping: .sigterm, .sigint) {
                count += 1
                guard count > 1 else { continue }
                logger.warning("ends at once, without the running requests: a second signal came (\(signal))")
                LineLogHandler.flush()
                // The exit code of a process that the signal has ended.
                _exit(128 + signal.rawValue)
            }
        }
    }
}

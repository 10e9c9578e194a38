public import Logging
import Synchronization

/// Logs problems that repeat, such as a full disk that affects every picture, only the 1st, 10th, 100th time and so on,
/// as the library does. Any thread may use it.
public final class RepeatedWarnings: Sendable {
    private let logger: Logger
    private let counts = Mutex<[String: Int]>([:])
    /// Further kinds are counted as one.
    private static let maxKinds = 200

    public init(_ logger: Logger) { self.logger = logger }

    /// - Parameter kind: identifies the problem whose repetitions are counted.
    public func warn(_ kind: String, _ text: @autoclosure () -> Logger.Message, metadata: Logger.Metadata = [:]) {
        let count = counts.withLock { counts in
            let kind = counts[kind] != nil || counts.count < Self.maxKinds ? kind : ""
            counts[kind, default: 0] += 1
            return counts[kind] ?? 1
        }
        var step = count
        while step % 10 == 0 { step /= 10 }
        guard step == 1 else { return }
        logger.warning(text(), metadata: metadata.merging(["times": "\(count)"]) { $1 })
    }
}

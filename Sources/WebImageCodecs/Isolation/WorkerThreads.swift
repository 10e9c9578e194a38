import WebImageCore
import WebImageSystem

/// Threads of a worker that help with a picture while threads of its host are idle.
enum WorkerThreads {
    /// Libraries allocate memory for each thread.
    static let most = 3

    private static let pools = (1...most).map { ThreadPool(name: "decode-help", width: $0) }

    /// As many threads as were idle in the host when it sent the picture; nil for none. The host's threads do not wait
    /// for them, so others may need the processor earlier, which is then shared.
    static func helpers(_ count: Int) -> (any IdleThreads)? { count > 0 ? pools[min(count, most) - 1] : nil }
}

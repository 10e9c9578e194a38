import WebImageCore
import WebImageSystem

/// Threads of a worker's own, which help with a picture while threads of its host have nothing to do.
enum WorkerThreads {
    /// Libraries take memory for each.
    static let most = 3

    private static let pools = (1...most).map { ThreadPool(name: "decode-help", width: $0) }

    /// As many as threads of the host were idle when it sent the picture; nil for none. The host's own do nothing for it, so that
    /// others may want the processor before it ends: they then share it.
    static func helpers(_ count: Int) -> (any IdleThreads)? { count > 0 ? pools[min(count, most) - 1] : nil }
}

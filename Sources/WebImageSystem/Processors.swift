import CShimSystem

/// The processors that this process may use.
public enum Processors {
    /// How many threads can run at once: the process's affinity mask, as `nproc` counts. At least 1.
    public static let count = Int(wi_processor_count())

    /// Which one this thread runs on just now, from 0 on. It may be another one a moment later.
    package static var current: Int { Int(wi_current_processor()) }
}

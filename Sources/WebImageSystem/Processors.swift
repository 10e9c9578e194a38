import CShimSystem

/// The processors that this process may use.
public enum Processors {
    /// How many threads can run at once: on Linux the process's affinity mask, as `nproc` counts. At least 1.
    public static let count = Int(wi_processor_count())

    /// Which one this thread runs on just now, from 0 on. It may be another one a moment later. Where the system does not
    /// tell, a number that differs from thread to thread.
    package static var current: Int { Int(wi_current_processor()) }
}

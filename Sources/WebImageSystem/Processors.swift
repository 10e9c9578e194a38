import CShimSystem

/// The processors that this process may use.
public enum Processors {
    /// How many threads can run at once: on Linux the process's affinity mask, as `nproc` counts. At least 1.
    public static let count = Int(wi_processor_count())

    /// The number, from 0, of the processor that runs this thread. It may change at any moment. If the system does not
    /// report it, a number that differs between threads.
    package static var current: Int { Int(wi_current_processor()) }
}

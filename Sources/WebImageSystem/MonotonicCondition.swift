import CShimSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A condition variable whose waits use the monotonic clock, because setting back the wall clock would prolong them.
/// The owner of the value must destroy it.
struct MonotonicCondition {
    private let condition: OpaquePointer

    init() {
        guard let condition = wi_make_condition() else { fatalError("no memory for a condition variable") }
        self.condition = condition
    }

    func destroy() { wi_destroy_condition(condition) }

    /// Wakes one waiting thread.
    func signal() { wi_signal(condition) }

    /// Wakes all waiting threads.
    func signalAll() { wi_signal_all(condition) }

    /// Unlocks the mutex and waits for a signal, but not longer than `delay`; it may also wake without one.
    /// - Returns: false if the time has passed.
    @discardableResult
    func wait(_ mutex: UnsafeMutablePointer<pthread_mutex_t>, atMost delay: Duration) -> Bool {
        let (seconds, attoseconds) = min(delay, Self.longestDelay).components
        return wi_wait_for(condition, mutex, seconds * 1_000_000_000 + attoseconds / 1_000_000_000) == 0
    }

    /// Thirty years: nanoseconds in 64 bits overflow at ten times that.
    static let longestDelay = Duration.seconds(1_000_000_000)
}

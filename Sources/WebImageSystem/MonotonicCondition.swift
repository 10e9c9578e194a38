import CShimSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A condition variable whose waits the monotonic clock measures; a wall clock that is put back would prolong them.
/// Whoever makes one destroys it.
struct MonotonicCondition {
    private let condition: OpaquePointer

    init() {
        guard let condition = wi_make_condition() else { fatalError("no memory for a condition variable") }
        self.condition = condition
    }

    func destroy() { wi_destroy_condition(condition) }

    /// Wakes one thread that waits.
    func signal() { wi_signal(condition) }

    /// Wakes all threads that wait.
    func signalAll() { wi_signal_all(condition) }

    /// Waits for a signal with the mutex unlocked, for so long at most; it may also wake without one.
    /// - Returns: false when the time has passed.
    @discardableResult
    func wait(_ mutex: UnsafeMutablePointer<pthread_mutex_t>, atMost delay: Duration) -> Bool {
        let (seconds, attoseconds) = min(delay, Self.longestDelay).components
        return wi_wait_for(condition, mutex, seconds * 1_000_000_000 + attoseconds / 1_000_000_000) == 0
    }

    /// Thirty years: nanoseconds in 64 bits end at ten times that.
    private static let longestDelay = Duration.seconds(1_000_000_000)
}

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A value behind a lock, whose changes other threads can wait for. Waiting blocks the thread.
package final class Monitor<Value>: @unchecked Sendable {
    // Sendable: the value is only reached under the lock; a condition variable needs a pthread mutex.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = MonotonicCondition()
    // Unchecked for the reason told in ThreadPool.
    @exclusivity(unchecked) private var value: Value

    package init(_ value: sending Value) {
        self.value = value
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        changed.destroy()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Reads or changes the value, and wakes those who wait.
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer {
            changed.signalAll()
            pthread_mutex_unlock(mutex)
        }
        return try body(&value)
    }

    /// Asks `body` now, and again whenever the value has changed, until it gives a result.
    ///
    /// - Parameter delay: how long it waits at most.
    /// - Returns: nil when the time has passed.
    package func wait<Result>(atMost delay: Duration, for body: (inout Value) -> Result?) -> Result? {
        let end = ContinuousClock.now + delay
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = body(&value) {
                changed.signalAll()
                return result
            }
            let rest = end - .now
            guard rest > .zero else { return nil }
            changed.wait(mutex, atMost: rest)
        }
    }
}

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A value with a lock; other threads can wait for its changes. Waiting blocks the thread.
package final class Monitor<Value>: @unchecked Sendable {
    // Sendable: the value is only used under the lock; a condition variable needs a pthread mutex.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = MonotonicCondition()
    // Unchecked for the reason given in ThreadPool.
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

    /// Reads or changes the value, and wakes waiting threads.
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

    /// Calls `body` now, and again after each change of the value, until it returns a result.
    ///
    /// - Parameter delay: how long to wait at most.
    /// - Returns: nil if the time has passed.
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

    /// Like ``wait(atMost:for:)``, without a time limit.
    package func wait<Result>(for body: (inout Value) -> Result?) -> Result {
        while true {
            if let result = wait(atMost: MonotonicCondition.longestDelay, for: body) { return result }
        }
    }
}

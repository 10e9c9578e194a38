#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// An answer for one thread, which blocks until it is given. Only the first answer counts.
package final class BlockingAnswer<Value: Sendable>: @unchecked Sendable {
    // Sendable: the answer is guarded by `mutex`; a condition variable needs a pthread mutex.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let given = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    // Unchecked for the reason given in ThreadPool.
    @exclusivity(unchecked) private var answer: Value?

    package init() {
        mutex.initialize(to: pthread_mutex_t())
        given.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(given, nil)
    }

    deinit {
        pthread_cond_destroy(given)
        pthread_mutex_destroy(mutex)
        given.deallocate()
        mutex.deallocate()
    }

    package func give(_ answer: Value) {
        pthread_mutex_lock(mutex)
        if self.answer == nil { self.answer = answer }
        pthread_cond_signal(given)
        pthread_mutex_unlock(mutex)
    }

    /// Waits for the answer; blocks. Only one thread may call it, once.
    package func value() -> Value {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let answer { return answer }
            pthread_cond_wait(given, mutex)
        }
    }
}

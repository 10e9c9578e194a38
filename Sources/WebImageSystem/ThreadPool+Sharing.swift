import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension ThreadPool: IdleThreads {
    package func share(_ count: Int, _ part: @escaping @Sendable (Int) -> Void) {
        let parts = SharedParts(count, part)
        for _ in 0..<max(min(idleCount, count - 1), 0) {
            run(.low) { [weak self] in
                // Other waiting work is more urgent than helping with these parts.
                while self?.waitingCount == 0, parts.runNext() {}
            }
        }
        while parts.runNext() {}
        parts.waitForOthers()
    }

    package func share(_ work: () -> Void, with help: @escaping @Sendable (_ goesOn: @escaping () -> Bool) -> Void) {
        guard idleCount > 0 else { return work() }
        let parts = SharedParts(1) { [weak self] _ in help { self?.waitingCount == 0 } }
        run(.low) { _ = parts.runNext() }
        work()
        parts.beginNoMore()
        parts.waitForOthers()
    }
}

/// The parts of a piece of work, and how many threads are working on them.
private final class SharedParts: @unchecked Sendable {
    // Sendable: everything mutable is guarded by `mutex`; a condition variable needs a pthread mutex.
    private let count: Int
    private let part: @Sendable (Int) -> Void
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let ended = MonotonicCondition()
    private var next = 0
    private var running = 0

    init(_ count: Int, _ part: @escaping @Sendable (Int) -> Void) {
        self.count = count
        self.part = part
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        ended.destroy()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// - Returns: false if every part has been begun.
    func runNext() -> Bool {
        guard let number = take() else { return false }
        part(number)
        pthread_mutex_lock(mutex)
        running -= 1
        if running == 0 { ended.signalAll() }
        pthread_mutex_unlock(mutex)
        return true
    }

    private func take() -> Int? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        guard next < count else { return nil }
        defer { next += 1 }
        running += 1
        return next
    }

    func beginNoMore() {
        pthread_mutex_lock(mutex)
        next = count
        pthread_mutex_unlock(mutex)
    }

    /// Waits until no part is running. Every part must have been begun.
    func waitForOthers() {
        pthread_mutex_lock(mutex)
        while running > 0 { ended.wait(mutex, atMost: .seconds(10)) }
        pthread_mutex_unlock(mutex)
    }
}

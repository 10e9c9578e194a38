import CShimSystem
package import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A bounded set of threads for work that burns or blocks: threads start when there is work for them and end after ten
/// idle seconds. In which order work begins, ``WorkQueue`` says.
package final class ThreadPool: WorkExecutor, @unchecked Sendable {
    // Sendable: everything mutable is guarded by `mutex`; a condition variable needs a pthread mutex.
    private struct Queues {
        var waiting = WorkQueue()
        var threads = 0
        /// Threads that wait and were not told of work.
        var idle = 0
        /// Threads that were told and have not woken yet.
        var woken = 0
    }

    package let width: Int
    private let name: String
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let workArrived = MonotonicCondition()
    private let startThread: ThreadStarter
    // Unchecked: the optimiser loses the end of an access across the unlocking, and the check then reports a conflict
    // that is none. The mutex is what makes accesses exclusive.
    @exclusivity(unchecked) private var queues = Queues()

    /// - Parameters:
    ///   - name: what the threads are called in tools; at most 15 bytes.
    ///   - startThread: starts a thread, or says that the system has none left.
    package init(name: String, width: Int, startThread: @escaping ThreadStarter = startThread(named:_:)) {
        precondition(width > 0 && name.utf8.count <= 15)
        self.name = name
        self.width = width
        self.startThread = startThread
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        workArrived.destroy()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Pieces of work that no thread has begun.
    package var waitingCount: Int {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return queues.waiting.count
    }

    /// Threads that would begin at once with what is added; 0 while any work waits.
    package var idleCount: Int {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return queues.waiting.isEmpty ? width - queues.threads + queues.idle : 0
    }

    package func run(_ priority: LoadPriority, _ work: @escaping @Sendable () -> Void) {
        add(priority, owner: nil, completes: false, work)
    }

    package func run(_ priority: LoadPriority, for owner: AnyObject, _ work: @escaping @Sendable () -> Void) {
        add(priority, owner: ObjectIdentifier(owner), completes: false, work)
    }

    package func complete(_ priority: LoadPriority, _ work: @escaping @Sendable () -> Void) {
        add(priority, owner: nil, completes: true, work)
    }

    package func setPriority(_ priority: LoadPriority, of owner: AnyObject) {
        pthread_mutex_lock(mutex)
        queues.waiting.setPriority(priority, of: ObjectIdentifier(owner))
        pthread_mutex_unlock(mutex)
    }

    private func add(
        _ priority: LoadPriority, owner: ObjectIdentifier?, completes: Bool, _ work: @escaping @Sendable () -> Void
    ) {
        pthread_mutex_lock(mutex)
        queues.waiting.append(priority, owner: owner, completes: completes, work)
        let wake = queues.idle > 0
        let start = !wake && queues.threads < width
        if wake {
            queues.idle -= 1
            queues.woken += 1
        }
        if start { queues.threads += 1 }
        pthread_mutex_unlock(mutex)
        // Not before: the thread would wake only to wait for the mutex.
        if wake { workArrived.signal() }
        if start, !startThread(name, { self.serve() }) { workWithoutThread() }
    }

    /// The system has no thread left. Those that there are do the work; where there are none the caller does it, which is
    /// better than an answer that never comes.
    private func workWithoutThread() {
        pthread_mutex_lock(mutex)
        queues.threads -= 1
        pthread_mutex_unlock(mutex)
        while let work = nextWithoutThread() { work() }
    }

    private func nextWithoutThread() -> (@Sendable () -> Void)? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return queues.threads == 0 ? queues.waiting.next() : nil
    }

    /// One thread's life. What a piece of work holds is let go of outside the lock: that may add work in its turn.
    private func serve() {
        while let work = nextOrWait() { work() }
    }

    /// Waits for work; nil when there was none for long, and the thread ends. `idle` counts the threads that wait and were
    /// not told of work: `add` takes one off when it signals, so that a burst wakes as many threads as there is work.
    private func nextOrWait() -> (@Sendable () -> Void)? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let work = queues.waiting.next() { return work }
            queues.idle += 1
            let hasTimedOut = !workArrived.wait(mutex, atMost: .seconds(10))
            // Also a thread that wakes by itself, or too late, leaves the counts as true as they were.
            if queues.woken > 0 { queues.woken -= 1 } else { queues.idle -= 1 }
            if hasTimedOut, queues.waiting.isEmpty {
                queues.threads -= 1
                return nil
            }
        }
    }
}

/// A queue whose ends both cost O(1).
package struct FIFO<Element> {
    private var elements: [Element?] = []
    private var head = 0

    package init() {}

    package var count: Int { elements.count - head }
    package var first: Element? { head < elements.count ? elements[head] : nil }

    package mutating func append(_ element: Element) { elements.append(element) }

    package mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        let first = elements[head]
        elements[head] = nil
        head += 1
        if head == elements.count {
            elements.removeAll(keepingCapacity: elements.count <= 1024)
            head = 0
        } else if head >= 64, head * 2 > elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return first
    }
}

/// Starts a thread of that name; false when the system has none left.
package typealias ThreadStarter = @Sendable (_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool

/// Starts a detached thread.
///
/// - Returns: false when the system has no thread left, or no memory for its stack: then `body` is not called.
@discardableResult
package func startThread(named name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
    final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void
        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }
    let start = Unmanaged.passRetained(Start(name: name, body: body))
    let hasStarted = wi_start_on_stack(
        0,
        { context in
            guard let context else { return nil }
            let start = Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
            wi_name_thread(start.name)
            start.body()
            return nil
        }, start.toOpaque())
    if hasStarted != 0 { start.release() }
    return hasStarted == 0
}

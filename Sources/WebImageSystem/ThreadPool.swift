import CShimSystem
package import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A bounded set of threads for work that computes or blocks: threads start when there is work for them and end after
/// ten idle seconds. ``WorkQueue`` determines the order of work.
package final class ThreadPool: WorkExecutor, @unchecked Sendable {
    // Sendable: everything mutable is guarded by `mutex`; a condition variable needs a pthread mutex.
    private struct Queues {
        var waiting = WorkQueue()
        var threads = 0
        /// Waiting threads that were not signalled.
        var idle = 0
        /// Signalled threads that have not woken yet.
        var woken = 0
    }

    package let width: Int
    private let name: String
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let workArrived = MonotonicCondition()
    private let startThread: ThreadStarter
    // Unchecked: the optimiser loses the end of an access across the unlocking, and the check then reports a false
    // conflict. The mutex makes accesses exclusive.
    @exclusivity(unchecked) private var queues = Queues()

    /// - Parameters:
    ///   - name: the threads' name in tools; at most 15 bytes.
    ///   - startThread: starts a thread; returns false if the system has none left.
    package init(name: String, width: Int, startThread: @escaping ThreadStarter = startThread(named:_:)) {
        precondition(width > 0 && name.utf8.count <= 15)
        self.name = name
        self.width = width
        self.startThread = startThread
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    /// Makes a pool for long computations, such as decoding. Its threads give way to threads that have little to do at
    /// a time, such as those of the network. Under overload, answers then wait for less long.
    package static func computing(name: String, width: Int) -> ThreadPool {
        ThreadPool(name: name, width: width, startThread: startComputingThread(named:_:))
    }

    deinit {
        workArrived.destroy()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// The number of pieces of work that have not begun.
    package var waitingCount: Int {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return queues.waiting.count
    }

    /// How many threads would begin added work at once; 0 while any work waits.
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
        // Signalled after the unlocking: otherwise the thread would wake only to wait for the mutex.
        if wake { workArrived.signal() }
        if start, !startThread(name, { self.serve() }) { workWithoutThread() }
    }

    /// Called if the system has no thread left. The existing threads do the work; if there are none, the caller does
    /// it, because otherwise its result would never come.
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

    /// The main loop of a thread. Work is released without the lock held, because that may add more work.
    private func serve() {
        while let work = nextOrWait() { work() }
    }

    /// Waits for work; returns nil after the idle time, and the thread ends. `idle` counts the waiting threads that
    /// were not signalled: `add` decrements it when it signals, so that a burst wakes as many threads as there is work.
    private func nextOrWait() -> (@Sendable () -> Void)? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let work = queues.waiting.next() { return work }
            queues.idle += 1
            let hasTimedOut = !workArrived.wait(mutex, atMost: .seconds(10))
            // The counts stay correct also if a thread wakes spuriously, or too late.
            if queues.woken > 0 { queues.woken -= 1 } else { queues.idle -= 1 }
            if hasTimedOut, queues.waiting.isEmpty {
                queues.threads -= 1
                return nil
            }
        }
    }
}

/// A queue with O(1) operations at both ends.
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

/// Starts a thread with a name; returns false if the system has none left.
package typealias ThreadStarter = @Sendable (_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool

/// Like ``startThread(named:_:)``, but the thread, and all that it starts, gives way to threads that have little to do
/// at a time.
@discardableResult
package func startComputingThread(named name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
    startThread(named: name) {
        wi_compute_in_long_turns()
        body()
    }
}

/// Starts a detached thread.
///
/// - Returns: false if the system has no thread left, or no memory for its stack; `body` is then not called.
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

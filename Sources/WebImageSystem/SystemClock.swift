package import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The machine's monotonic clock. One thread, started with the first action, waits for the earliest action.
package final class SystemClock: LoadClock, @unchecked Sendable {
    // Sendable: everything mutable is guarded by `mutex`; a condition variable needs a pthread mutex.
    package static let shared = SystemClock()

    private final class Entry: @unchecked Sendable {
        // Sendable: `action` is only used under the clock's mutex.
        let time: Duration
        var action: (@Sendable () -> Void)?

        init(time: Duration, action: @escaping @Sendable () -> Void) {
            self.time = time
            self.action = action
        }
    }

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let earlier = MonotonicCondition()
    // Unchecked for the reason given in ThreadPool.
    @exclusivity(unchecked) private var heap = TimeHeap<Entry>()
    @exclusivity(unchecked) private var cancelled = 0
    @exclusivity(unchecked) private var isRunning = false

    package init() {
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        earlier.destroy()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    package var now: Duration {
        // Read several times for each download, so this is only one multiplication.
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .nanoseconds(Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    package var wallTime: Int64 { Int64(time(nil)) }

    package func schedule(at time: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledAction {
        let entry = Entry(time: time, action: action)
        pthread_mutex_lock(mutex)
        let isEarliest = heap.earliest.map { time < $0 } ?? true
        heap.insert(entry, at: time)
        let start = !isRunning
        isRunning = true
        if isEarliest { earlier.signal() }
        pthread_mutex_unlock(mutex)
        // If the system has no thread left, the next action tries again.
        if start, !startThread(named: "wi-clock", { self.serve() }) {
            pthread_mutex_lock(mutex)
            isRunning = false
            pthread_mutex_unlock(mutex)
        }
        return ScheduledAction { self.cancel(entry) }
    }

    private func cancel(_ entry: Entry) {
        pthread_mutex_lock(mutex)
        // Releasing the action may run code that uses the clock, so it is never done under the lock.
        let action = entry.action
        if action != nil {
            entry.action = nil
            cancelled += 1
            if cancelled > 64, cancelled * 2 > heap.count {
                heap.removeAll { $0.action == nil }
                cancelled = 0
            }
        }
        pthread_mutex_unlock(mutex)
        withExtendedLifetime(action) {}
    }

    private func serve() {
        while let action = nextAction() { action() }
    }

    /// Waits for the next due action; nil if there are none left. The caller gets the only reference to it.
    private func nextAction() -> (@Sendable () -> Void)? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while let next = heap.earliest {
            let wait = next - now
            if wait > .zero {
                earlier.wait(mutex, atMost: wait)
                continue
            }
            guard let entry = heap.removeEarliest() else { continue }
            guard let action = entry.action else {
                cancelled = max(cancelled - 1, 0)
                continue
            }
            entry.action = nil
            return action
        }
        isRunning = false
        return nil
    }
}

/// A binary heap of elements by time; the earliest is first.
package struct TimeHeap<Element> {
    private var nodes: [(time: Duration, element: Element)] = []

    package init() {}

    package var count: Int { nodes.count }
    package var earliest: Duration? { nodes.first?.time }
    package var first: Element? { nodes.first?.element }

    package mutating func insert(_ element: Element, at time: Duration) {
        nodes.append((time, element))
        var child = nodes.count - 1
        while child > 0, nodes[child].time < nodes[(child - 1) / 2].time {
            nodes.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    package mutating func removeEarliest() -> Element? {
        guard let first = nodes.first else { return nil }
        let last = nodes.removeLast()
        if !nodes.isEmpty {
            nodes[0] = last
            sink(0)
        }
        return first.element
    }

    package mutating func removeAll(where shouldRemove: (Element) -> Bool) {
        nodes.removeAll { shouldRemove($0.element) }
        for parent in stride(from: nodes.count / 2, through: 0, by: -1) where parent < nodes.count { sink(parent) }
    }

    private mutating func sink(_ start: Int) {
        var parent = start
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < nodes.count {
                if nodes[child].time < nodes[least].time { least = child }
            }
            if least == parent { return }
            nodes.swapAt(parent, least)
            parent = least
        }
    }
}

extension TimeHeap: Sendable where Element: Sendable {}

/// The priority of a piece of work.
public enum LoadPriority: Int, Hashable, Sendable, Codable, Comparable, CaseIterable {
    /// Work for which nobody waits yet, such as prefetching. Its downloads take no slot from those of higher
    /// priorities.
    case veryLow = 0
    case low = 1
    case normal = 2
    case high = 3

    public static func < (left: LoadPriority, right: LoadPriority) -> Bool { left.rawValue < right.rawValue }
}

/// Threads that work may block or burn, in place of Swift's cooperative pool.
package protocol WorkExecutor: Sendable {
    /// Runs `work` soon, the more urgent first, in order among equals.
    func run(_ priority: LoadPriority, _ work: @escaping @Sendable () -> Void)
    /// The same for work that ``setPriority(_:of:)`` may rank anew while it waits.
    func run(_ priority: LoadPriority, for owner: AnyObject, _ work: @escaping @Sendable () -> Void)
    /// Runs work that completes something, such as an encode: before equally urgent work that begins something.
    func complete(_ priority: LoadPriority, _ work: @escaping @Sendable () -> Void)
    /// Makes the waiting work of `owner` more or less urgent.
    func setPriority(_ priority: LoadPriority, of owner: AnyObject)
}

/// For executors that keep no ranks.
extension WorkExecutor {
    package func run(_ priority: LoadPriority, for owner: AnyObject, _ work: @escaping @Sendable () -> Void) {
        run(priority, work)
    }

    package func complete(_ priority: LoadPriority, _ work: @escaping @Sendable () -> Void) { run(priority, work) }

    package func setPriority(_ priority: LoadPriority, of owner: AnyObject) {}
}

/// The time, and something to happen later; tests put a clock of their own here.
package protocol LoadClock: AnyObject, Sendable {
    /// The time since a fixed moment; never goes back.
    var now: Duration { get }
    /// Seconds since 1970, for what must outlive the process.
    var wallTime: Int64 { get }
    /// Runs `action` on a thread of the clock's once `now` has reached `time`; the action must not block.
    func schedule(at time: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledAction
}

/// Something that will happen unless it is cancelled.
package struct ScheduledAction: Sendable {
    private let onCancel: @Sendable () -> Void

    package init(onCancel: @escaping @Sendable () -> Void) { self.onCancel = onCancel }

    package func cancel() { onCancel() }
}

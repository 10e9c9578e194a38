/// The priority of a piece of work.
public enum LoadPriority: Int, Hashable, Sendable, Codable, Comparable, CaseIterable {
    /// Work for which no caller waits yet, such as prefetching. Its downloads take no slot from those of higher
    /// priorities.
    case veryLow = 0
    case low = 1
    case normal = 2
    case high = 3

    public static func < (left: LoadPriority, right: LoadPriority) -> Bool { left.rawValue < right.rawValue }
}

/// Threads for work that blocks or computes for long, instead of Swift's cooperative pool.
package protocol WorkExecutor: Sendable {
    /// Runs `work` soon: more urgent work first, and work of equal priority in order.
    func run(_ priority: LoadPriority, _ work: @escaping @Sendable () -> Void)
    /// Runs `work` as above, and lets ``setPriority(_:of:)`` change its priority while it waits.
    func run(_ priority: LoadPriority, for owner: AnyObject, _ work: @escaping @Sendable () -> Void)
    /// Runs work that completes something, such as an encode. It comes before equally urgent work that begins
    /// something.
    func complete(_ priority: LoadPriority, _ work: @escaping @Sendable () -> Void)
    /// Changes the priority of the waiting work of `owner`.
    func setPriority(_ priority: LoadPriority, of owner: AnyObject)
}

/// Defaults for executors without priorities.
extension WorkExecutor {
    package func run(_ priority: LoadPriority, for owner: AnyObject, _ work: @escaping @Sendable () -> Void) {
        run(priority, work)
    }

    package func complete(_ priority: LoadPriority, _ work: @escaping @Sendable () -> Void) { run(priority, work) }

    package func setPriority(_ priority: LoadPriority, of owner: AnyObject) {}
}

/// The time and its timers. Tests use a clock of their own.
package protocol LoadClock: AnyObject, Sendable {
    /// The time since a fixed moment; never goes back.
    var now: Duration { get }
    /// Seconds since 1970, for times that outlive the process.
    var wallTime: Int64 { get }
    /// Runs `action` on a thread of the clock once `now` has reached `time`. The action must not block.
    func schedule(at time: Duration, _ action: @escaping @Sendable () -> Void) -> ScheduledAction
}

/// Something that will happen unless it is cancelled.
package struct ScheduledAction: Sendable {
    private let onCancel: @Sendable () -> Void

    package init(onCancel: @escaping @Sendable () -> Void) { self.onCancel = onCancel }

    package func cancel() { onCancel() }
}

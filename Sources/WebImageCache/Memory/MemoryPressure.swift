import WebImageCore

/// How short memory is.
public enum MemoryPressureLevel: Int, Comparable, Sendable, CaseIterable {
    /// There is enough.
    case none
    /// Nine tenths of the memory that the process may use are taken, or work begins to wait for memory. Caches release
    /// a quarter.
    case low
    /// The kernel reclaims memory, or work often waits for it. Caches release half.
    case medium
    /// The process is about to be killed. Caches release everything.
    case critical

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The kernel's memory figures at one moment. A figure is nil if it is not available.
package struct MemoryPressureReading: Hashable, Sendable {
    /// For the nearest control group with a limit: its memory without droppable pages, and its lowest limit, in bytes.
    package var used: Int?
    package var limit: Int?
    /// How often the group was throttled at `memory.high`, was held at its limit, and ran out of memory since it was
    /// made.
    package var high: Int?
    package var max: Int?
    package var outOfMemory: Int?
    /// The percentage of the last ten seconds in which some or all work waited for memory.
    package var someStalled: Double?
    package var allStalled: Double?
    /// The available and the total memory of the machine, in bytes.
    package var available: Int?
    package var total: Int?

    package init() {}
}

/// The source of readings: the kernel, or a test.
package protocol MemoryPressureSource: Sendable {
    func read() -> MemoryPressureReading
    /// An alarm that wakes when memory may have become short; nil if the kernel has none, so that a timer is used.
    func makeAlarm() -> (any MemoryPressureAlarm)?
}

/// Wakes one thread when memory may have become short.
package protocol MemoryPressureAlarm: Sendable {
    /// Blocks the calling thread until memory should be checked; returns false after ``stop()``.
    func wait() -> Bool
    /// Ends ``wait()`` permanently; may be called on any thread.
    func stop()
}

/// Turns readings into levels. Counters count from the first reading on.
package struct MemoryPressureGauge: Sendable {
    private var last: MemoryPressureReading?

    package init() {}

    /// The current level. An increase of a counter is reported once.
    package mutating func level(of reading: MemoryPressureReading) -> MemoryPressureLevel {
        defer { last = reading }
        return max(fill(of: reading), max(stall(of: reading), events(of: reading)))
    }

    /// A group's limit takes precedence over the machine's memory if it is lower: the memory of other processes then
    /// does not matter.
    private func fill(of reading: MemoryPressureReading) -> MemoryPressureLevel {
        if let used = reading.used, let limit = reading.limit, limit > 0, limit < reading.total ?? .max {
            return level(used, of: limit)
        }
        return reading.available.flatMap { left in reading.total.map { level($0 - left, of: $0) } } ?? .none
    }

    private func level(_ used: Int, of limit: Int) -> MemoryPressureLevel {
        guard limit > 0 else { return .none }
        switch Double(used) / Double(limit) {
        case 0.98...: return .critical
        case 0.95...: return .medium
        case 0.90...: return .low
        default: return .none
        }
    }

    private func stall(of reading: MemoryPressureReading) -> MemoryPressureLevel {
        let (some, all) = (reading.someStalled ?? 0, reading.allStalled ?? 0)
        if all >= 20 { return .critical }
        if all >= 5 || some >= 20 { return .medium }
        return some >= 5 ? .low : .none
    }

    private func events(of reading: MemoryPressureReading) -> MemoryPressureLevel {
        guard let last else { return .none }
        func grew(_ counter: KeyPath<MemoryPressureReading, Int?>) -> Bool {
            guard let now = reading[keyPath: counter], let before = last[keyPath: counter] else { return false }
            return now > before
        }
        if grew(\.outOfMemory) { return .critical }
        guard grew(\.max) || grew(\.high) else { return .none }
        // The kernel also counts when it replaces pages of files, which harms no one.
        return isShort(reading) ? .medium : .none
    }

    /// Whether work waits for memory or, if the kernel does not report that, there is hardly any left.
    private func isShort(_ reading: MemoryPressureReading) -> Bool {
        reading.someStalled.map { $0 >= Self.minStall } ?? (fill(of: reading) > .none)
    }

    /// In percent of the time.
    private static let minStall = 1.0
}

extension MemoryCache {
    /// Evicts pictures: a quarter of what the cache holds, half of it, or all, depending on the level. A picture that
    /// somebody still holds can still be found.
    public func trim(for level: MemoryPressureLevel) {
        switch level {
        case .none: return
        case .low: trim(toCost: ByteCount(cost.bytes / 4 * 3))
        case .medium: trim(toCost: ByteCount(cost.bytes / 2))
        case .critical: trim(toCost: .zero)
        }
    }
}

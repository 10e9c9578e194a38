import WebImageCache
import WebImageCore

/// The reads of a tier: how many are running, and which wait for others to end. A pure value.
struct TierReads: Sendable {
    /// A read for one load.
    struct Read: Sendable {
        let key: CacheKey
        let reader: any TierReader
        /// When the load goes on without the tier.
        let deadline: Duration
        let then: @Sendable (FoundOriginal?) -> Void
        let work: @Sendable (any BytesTier) async throws(WebImageError) -> FoundOriginal?
    }

    /// The most reads that wait for others.
    private static let maxWaiting = 1024

    let maxRunning: Int
    var running = 0
    /// In the order of their deadlines.
    private var waiting: [Read] = []

    init(maxRunning: Int) { self.maxRunning = maxRunning }

    var hasRoom: Bool { running < maxRunning }
    /// The earliest deadline of the reads that wait; nil if none waits.
    var firstDeadline: Duration? { waiting.first?.deadline }

    /// - Returns: false if too many reads wait already.
    mutating func wait(_ read: Read) -> Bool {
        guard waiting.count < Self.maxWaiting else { return false }
        waiting.append(read)
        return true
    }

    /// Returns the most urgent read that waits, and counts it as running; nil if none waits or too many run.
    mutating func takeNext() -> Read? {
        guard hasRoom,
            let index = waiting.indices.max(by: { waiting[$0].reader.priority < waiting[$1].reader.priority })
        else { return nil }
        running += 1
        return waiting.remove(at: index)
    }

    /// Returns the waiting reads whose deadline has passed.
    mutating func takeLate(at now: Duration) -> [Read] {
        let late = waiting.prefix { $0.deadline <= now }
        waiting.removeFirst(late.count)
        return Array(late)
    }
}

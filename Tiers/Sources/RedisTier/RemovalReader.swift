/// Determines which removals of other programs are new. A pure value: it is given what was read from Redis.
struct RemovalReader {
    /// What the caller must do.
    struct Step: Hashable {
        /// The fields of the new removals, in order.
        var removals: [[[UInt8]]] = []
        /// Whether removals may have been missed: the list was lost, a replica without its end took over, or there were
        /// too many.
        var missedSome = false
        var hasMore = false
    }

    /// The last known removal; nil before the first reading, which ignores earlier removals.
    private(set) var last: String?
    /// Whether a reading failed before the first one that did not.
    private var isLate = false

    /// Called when Redis did not answer. Removals before the first reading are then not only those of before the start.
    mutating func noteFailure() {
        if last == nil { isLate = true }
    }

    mutating func take(_ news: RedisStore.News) -> Step {
        var step = Step()
        guard var place = last else {
            last = news.last
            step.missedSome = isLate
            return step
        }
        for item in news.items {
            if item.previous != place { step.missedSome = true }
            step.removals.append(item.fields)
            place = item.id
        }
        step.hasMore = news.items.count >= RedisStore.maxRead
        // Everything was read, but the latest removal is not the last one that was read.
        if !step.hasMore, place != news.last {
            step.missedSome = true
            place = news.last
        }
        last = place
        return step
    }
}

/// Keeps in step with the removals of other programs. A pure value: it is told what Redis says.
struct RemovalReader {
    /// What there is to do.
    struct Step: Hashable {
        /// The fields of what was removed, in order.
        var removals: [[[UInt8]]] = []
        /// Removals may have been lost: with the list, by a replica that took over without them, or because there were too many.
        var missedSome = false
        var readsOn = false
    }

    /// The last removal that is known; nil before the first reading, which tells nothing of the past.
    private(set) var last: String?

    mutating func take(_ news: RedisStore.News) -> Step {
        var step = Step()
        guard var place = last else {
            last = news.last
            return step
        }
        for item in news.items {
            if item.previous != place { step.missedSome = true }
            step.removals.append(item.fields)
            place = item.id
        }
        step.readsOn = news.items.count >= RedisStore.mostRead
        // The list ends elsewhere than what was read of it.
        if !step.readsOn, place != news.last {
            step.missedSome = true
            place = news.last
        }
        last = place
        return step
    }
}

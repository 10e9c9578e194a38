import RedisClient
public import TierEntries
public import WebImage

/// News about removals of other programs.
public enum RemovalNews: Hashable, Sendable {
    case removed(CacheKey)
    /// Removals may have been missed, because Redis was emptied or restored to an older state, could not be read at
    /// first, or this program was cut off for too long. Any entry from before may have been removed.
    case missedSome
}

/// Follows the removals of other programs until ``stop()`` is called, or until it is released.
public final class RemovalFollowing: Sendable {
    private let task: Task<Void, Never>
    private let subscription: RedisSubscription

    init(_ task: Task<Void, Never>, _ subscription: RedisSubscription) {
        (self.task, self.subscription) = (task, subscription)
    }

    deinit { stop() }

    public func stop() {
        task.cancel()
        subscription.end()
    }
}

extension RedisTier {
    /// Removes originals from a manager's memory and disk when other programs remove them from this tier.
    ///
    /// A removal arrives within some milliseconds, or after a lost connection has been restored. Removals while this
    /// program is not running are not received.
    ///
    /// - Parameters:
    ///   - manager: a manager with its own caches, or with an ``WebImage/ImageCache``.
    ///   - clearsWhenSomeWereMissed: whether memory and disk are cleared when removals may have been missed
    ///     (``RemovalNews/missedSome``), which is rare. Default true, since an empty cache is never wrong.
    /// - Returns: the handle that keeps following removals; keep it for as long as you need that.
    /// - Throws: ``TierEntries/TierSetupError`` for a manager with another kind of cache; use ``follow(_:)`` then.
    public func follow(
        removalsInto manager: ImageManager, clearsWhenSomeWereMissed: Bool = true
    ) throws(TierSetupError) -> RemovalFollowing {
        guard let cache = manager.cache as? ImageCache else {
            throw TierSetupError("removals can be followed into an ImageCache, and the manager has another kind")
        }
        return follow { [weak cache] news in
            guard let cache else { return }
            switch news {
            case .removed(let key): try? await cache.removeHere(original: key)
            case .missedSome: if clearsWhenSomeWereMissed { try? await cache.clear(.all) }
            }
        }
    }

    /// Reports the removals of other programs from this tier, in order, one after the other.
    ///
    /// - Parameter handler: called with each piece of news; the next one waits until it returns.
    /// - Returns: the handle that keeps following removals; keep it for as long as you need that.
    public func follow(_ handler: @escaping @Sendable (RemovalNews) async -> Void) -> RemovalFollowing {
        let (nudges, nudge) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let subscription = store.client.subscribe(to: store.channel) { event in
            if event != .lost { nudge.yield() }
        }
        // The first reading does not wait for the subscription: if Redis cannot be reached, the reader must know.
        nudge.yield()
        let task = Task { [weak self] in
            var reader = RemovalReader()
            for await _ in nudges {
                while !Task.isCancelled {
                    guard let isDone = await self?.readOn(&reader, handler) else { return }
                    if isDone { break }
                }
            }
        }
        return RemovalFollowing(task, subscription)
    }

    /// - Returns: whether everything was read. If Redis does not answer, waits a second and returns false.
    private func readOn(
        _ reader: inout RemovalReader, _ handler: @Sendable (RemovalNews) async -> Void
    ) async -> Bool {
        guard let news = try? await store.removals(after: reader.last) else {
            reader.noteFailure()
            try? await Task.sleep(for: .seconds(1))
            return false
        }
        let step = reader.take(news)
        if step.missedSome { await handler(.missedSome) }
        for fields in step.removals {
            guard let removal = Removal(fields, seal), removal.sender != name else { continue }
            countRemovals(1)
            await handler(.removed(removal.key))
        }
        return !step.hasMore
    }
}

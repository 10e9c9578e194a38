import RedisClient
public import TierEntries
public import WebImage

/// What a program is told of removals of others.
public enum RemovalNews: Hashable, Sendable {
    case removed(CacheKey)
    /// Removals may have been lost: Redis was emptied or went back in time, or this program was cut off for too long. Whatever
    /// was kept before may be among them.
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
    /// Removes from a manager's memory and disk what other programs remove from this tier.
    ///
    /// A removal is heard within some milliseconds; after the connection was lost, when it is back. What was removed while this
    /// program was not running, it does not hear.
    ///
    /// - Parameters:
    ///   - manager: one whose cache is its own, or an ``WebImage/ImageCache``.
    ///   - clearsWhenSomeWereMissed: whether memory and disk are cleared when removals may have been lost, which is rare:
    ///     ``RemovalNews/missedSome``. Default true: a cache that is empty is never wrong.
    /// - Returns: what follows them: keep it for as long as that is wanted.
    /// - Throws: ``TierEntries/TierSetupError`` for a manager with another kind of cache: see ``follow(_:)``.
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

    /// Tells what other programs remove from this tier, in order, one after the other.
    ///
    /// - Parameter handler: the next news wait for it.
    /// - Returns: what follows them: keep it for as long as that is wanted.
    public func follow(_ handler: @escaping @Sendable (RemovalNews) async -> Void) -> RemovalFollowing {
        let (nudges, nudge) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let subscription = store.client.subscribe(to: store.channel) { event in
            if event != .lost { nudge.yield() }
        }
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

    /// - Returns: whether everything was read. Where Redis does not answer, this takes a second.
    private func readOn(
        _ reader: inout RemovalReader, _ handler: @Sendable (RemovalNews) async -> Void
    ) async -> Bool {
        guard let news = try? await store.removals(after: reader.last) else {
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
        return !step.readsOn
    }
}

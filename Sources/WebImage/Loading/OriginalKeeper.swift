import Synchronization
import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem

/// The keeping of one load's original: once, however many sessions and readers find out that it is a picture. What was
/// removed since the load began is not kept.
final class OriginalKeeper: Sendable {
    let key: BytesKey
    /// How many removals there were in its caches when the load began.
    let removals: RemovalCounts
    private let isTaken = Atomic(false)
    private let stored = Guarded<Result<Duration, WebImageError>?>(nil)

    init(_ key: BytesKey, removals: RemovalCounts) {
        self.key = key
        self.removals = removals
    }

    /// How long the original was written, or why it was not; nil before it is on disk.
    var outcome: Result<Duration, WebImageError>? { stored.withLock { $0 } }

    /// - Returns: false when somebody keeps it already.
    func take() -> Bool { !isTaken.exchange(true, ordering: .relaxed) }

    /// It is not kept after all: somebody else may.
    func giveUp() { isTaken.store(false, ordering: .relaxed) }

    func wasStored(_ outcome: Result<Duration, WebImageError>) { stored.withLock { $0 = outcome } }
}

extension Loader {
    /// Keeps an original that nobody decodes if all of it is there and its header says that it is a picture. Whoever waits for
    /// the stores from when this returns on finds it on disk.
    ///
    /// Where a serializer decides what is kept, only a decoded picture is: it has to be shown one.
    ///
    /// - Parameter log: with the body in the end, which has ended.
    func keepUndecoded(_ log: ByteLog, of bytes: OpenedBytes, _ keeper: OriginalKeeper, _ request: ImageRequest) {
        let isEntry = bytes.copied != nil
        guard case .complete? = log.end, bytes.source == .network || isEntry, keeper.key.policy.mode.stores,
            keeper.key.caching.storesOriginal, !caches.tiers(keeper.key.caching).isEmpty,
            isEntry || caches.serializer(for: request) == nil
        else { return }
        let promise = originals.announce()
        let recipe = request.recipe
        originals.beginDeciding(keeper.key.originalKey)
        decoding.executor.run(.low) { [self] in
            defer { originals.endDeciding(keeper.key.originalKey) }
            let bytes = bytes.following(log)
            let plan = bytes.storePlan
            if plan?.removesStored == true { forget(keeper.key) }
            guard isEntry || plan?.storing != nil, let header = decoding.header(of: log, recipe),
                let announced = announceOriginal(of: keeper, bytes, plan, log, header)
            else { return promise.withdraw() }
            announced.store(log) { outcome in
                keeper.wasStored(outcome)
                // Not before: whoever waits for the stores waits for those that were promised when it began to.
                promise.withdraw()
            }
        }
    }
}

import Synchronization
import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem

/// Makes sure that the original of a load is stored only once, however many sessions and readers find out that it is a
/// picture. An original that was removed since the load began is not stored.
final class OriginalKeeper: Sendable {
    let key: BytesKey
    /// The last removals from its caches before the load began.
    let removals: RemovalNumbers
    /// Set when a caller waits until the original is stored.
    let isAwaited = Atomic(false)
    private let isTaken = Atomic(false)
    private let stored = Guarded<Result<Duration, WebImageError>?>(nil)

    init(_ key: BytesKey, removals: RemovalNumbers) {
        self.key = key
        self.removals = removals
    }

    /// How long writing the original took, or why it failed; nil before that.
    var outcome: Result<Duration, WebImageError>? { stored.withLock { $0 } }

    /// - Returns: false if another session or reader stores it already.
    func take() -> Bool { !isTaken.exchange(true, ordering: .relaxed) }

    /// The original is not stored after all; another session or reader may store it.
    func giveUp() { isTaken.store(false, ordering: .relaxed) }

    func wasStored(_ outcome: Result<Duration, WebImageError>) { stored.withLock { $0 = outcome } }
}

extension Loader {
    /// Pictures in memory of a body that the origin may just have replaced are no longer served.
    private func judgeMemory(by response: StoredResponse, _ keeper: OriginalKeeper) {
        let key = keeper.key
        let answers = answers(key)
        guard let known = answers.known(key.originalKey), !answers.hasReplaced(response, of: key.originalKey) else {
            return
        }
        switch key.policy.mode {
        case .revalidate, .refresh, .reload, .reloadFromOrigin:
            // Without a strong tag, nothing shows that the body is the same. At worst, a picture is decoded again.
            let isSame = response.hasStrongTag && response["etag"] == known["etag"]
            if !isSame { answers.outdate(key.originalKey) }
        case .httpRules, .cacheFirst, .cacheOnly, .noStore: _ = record(of: response, key)
        }
    }

    /// Stores an original that is not decoded, if all of it has arrived and its header is that of a picture. Callers
    /// that wait for the stores after this has returned find it on disk.
    ///
    /// If a serializer decides what is stored, the original must be decoded, because the serializer needs the picture.
    ///
    /// - Parameter log: the ended log with the body.
    func keepUndecoded(_ log: ByteLog, of bytes: OpenedBytes, _ keeper: OriginalKeeper, _ request: ImageRequest) {
        let isEntry = bytes.copied != nil
        guard case .complete? = log.end, bytes.source == .network || isEntry, keeper.key.policy.mode.stores,
            keeper.key.caching.storesOriginal, !caches.tiers(keeper.key.caching).isEmpty,
            isEntry || caches.serializer(for: request) == nil
        else { return }
        let promise = originals.announce(for: keeper.key.originalKey)
        let recipe = request.recipe
        originals.decide(keeper) { [self] in
            let bytes = bytes.following(log)
            let plan = bytes.storePlan
            if plan?.removesStored == true { forget(keeper.key) }
            guard isEntry || plan?.storing != nil, let header = decoding.header(of: log, recipe),
                let announced = announceOriginal(of: keeper, bytes, plan, log, header)
            else { return promise.withdraw() }
            // Only now that look-ups find the new original.
            if !isEntry, let response = plan?.storing { judgeMemory(by: response, keeper) }
            announced.store(log, isAwaited: keeper.isAwaited.load(ordering: .relaxed)) { outcome in
                keeper.wasStored(outcome)
                // Not earlier: waiting for the stores includes only those that were promised when the wait began.
                promise.withdraw()
            }
        }
    }
}

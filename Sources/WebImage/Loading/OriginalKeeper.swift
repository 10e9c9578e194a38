import Synchronization
import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem

/// Makes sure that the original of a load is stored only once, however many sessions, readers and loads that share its
/// transfer find out that it is a picture. An original that was removed since the load began is not stored.
final class OriginalKeeper: Sendable {
    let key: BytesKey
    /// The last removals from its caches before the load began.
    let removals: RemovalNumbers
    private let awaited = Atomic(false)
    private let claim = Guarded<OriginalClaim?>(nil)

    init(_ key: BytesKey, removals: RemovalNumbers) {
        self.key = key
        self.removals = removals
    }

    /// A caller waits until the original is stored.
    func noteAwaited() { awaited.store(true, ordering: .relaxed) }

    /// Whether a caller of this load, or of another one that shares the store, waits until the original is stored.
    var isAwaited: Bool {
        awaited.load(ordering: .relaxed) || claim.withLock { $0 }?.isAwaited.load(ordering: .relaxed) ?? false
    }

    /// How long writing the original took, or why it failed; nil before that.
    var outcome: Result<Duration, WebImageError>? { claim.withLock { $0 }?.outcome }

    /// - Parameter log: the bytes, if they are stored as they are; nil if a serializer makes others, which belong to
    ///   this load alone.
    /// - Returns: false if another session, reader or load stores it already.
    func take(_ log: ByteLog?) -> Bool {
        claim.withLock { claim in
            if let claim, claim.isTaken { return false }
            let wanted = log.map { OriginalClaim.of($0, key) } ?? OriginalClaim(key)
            claim = wanted
            if awaited.load(ordering: .relaxed) { wanted.isAwaited.store(true, ordering: .relaxed) }
            return wanted.take()
        }
    }

    /// The original is not stored after all; another session, reader or load may store it.
    func giveUp() { claim.withLock { $0 }?.giveUp() }

    func wasStored(_ outcome: Result<Duration, WebImageError>) { claim.withLock { $0 }?.wasStored(outcome) }
}

/// The one store of a transfer's bytes under a key in a cache, shared by the keepers of all loads that want it.
private final class OriginalClaim: Sendable {
    private let key: BytesKey
    /// Set when a caller of any of these loads waits for the store.
    let isAwaited = Atomic(false)
    private let taken = Atomic(false)
    private let stored = Guarded<Result<Duration, WebImageError>?>(nil)

    init(_ key: BytesKey) { self.key = key }

    /// The claim of the loads that store the bytes of `log` where `key` says.
    static func of(_ log: ByteLog, _ key: BytesKey) -> OriginalClaim {
        log.companion(where: { $0.key.storesOriginal(like: key) }, or: { OriginalClaim(key) })
    }

    var isTaken: Bool { taken.load(ordering: .relaxed) }
    var outcome: Result<Duration, WebImageError>? { stored.withLock { $0 } }

    func take() -> Bool { !taken.exchange(true, ordering: .relaxed) }
    func giveUp() { taken.store(false, ordering: .relaxed) }
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
            announced.store(log, isAwaited: keeper.isAwaited) { outcome in
                keeper.wasStored(outcome)
                // Not earlier: waiting for the stores includes only those that were promised when the wait began.
                promise.withdraw()
            }
        }
    }
}

import Synchronization
import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem

// MARK: - Stores after the answers

extension OpenedBytes {
    /// What may be stored once the bytes turn out to be a picture, and in which tiers: an answer of the origin in all
    /// of them, the entry of a further tier in those before it. Nil if policy or answer do not allow storing.
    ///
    /// - Parameters:
    ///   - plan: ``storePlan``, which takes some microseconds to compute.
    ///   - all: every tier.
    func kept(
        by key: BytesKey, _ plan: StorePlan?, in all: [any OriginalTier], _ header: ImageHeader?
    ) -> KeptOriginal? {
        guard key.caching.storesOriginal, key.policy.mode.stores, !all.isEmpty else { return nil }
        if let copied { return copied }
        guard let response = plan?.storing else { return nil }
        var metadata = DiskMetadata()
        metadata.url = key.download.originalURL
        metadata.format = header?.format
        metadata.set(response)
        return KeptOriginal(metadata: metadata, tiers: all)
    }
}

extension Loader {
    /// Announces the store of a complete picture's bytes; nil if policy or answer do not allow it, another session or load
    /// does it, or the picture was removed since its load began. The bytes can be found from now on; they are written when
    /// the caller confirms the announcement.
    ///
    /// - Parameter log: the bytes; nil if a serializer will make others.
    func announceOriginal(
        of keeper: OriginalKeeper, _ bytes: OpenedBytes, _ plan: StorePlan?, _ log: ByteLog?, _ header: ImageHeader?
    ) -> OriginalStore.Announcement? {
        guard let kept = bytes.kept(by: keeper.key, plan, in: caches.tiers(keeper.key.caching), header),
            keeper.take(log)
        else { return nil }
        let original = PendingOriginal(kept, log: log, key: keeper.key.originalKey)
        // Checked after the place in the order of writes was taken: a removal either came before and is seen here, or
        // comes later and cancels the write.
        return caches.wasOriginalRemoved(keeper) ? nil : originals.announce(original)
    }

    /// Stores the bytes that a serializer makes from the complete bytes of a log.
    ///
    /// - Parameter plain: the picture in its original's own size without transformers, and its request.
    func store(
        _ announced: OriginalStore.Announcement, _ log: ByteLog, of job: BytesJob,
        plain: (image: Image, request: ImageRequest), by serializer: CacheSerializer
    ) {
        let (keeper, image) = (job.keeper, plain.image)
        guard let lease = unencoded.lease(for: image, isAwaited: keeper.isAwaited) else {
            observer.cacheFailed(UnencodedPictures.tooMany)
            keeper.wasStored(.failure(UnencodedPictures.tooMany))
            return announced.withdraw()
        }
        decoding.executor.run(.low) { [self] in
            defer { withExtendedLifetime(lease) {} }
            do throws(WebImageError) {
                guard let bytes = try serializer.bytes(image, try log.collect(), plain.request) else {
                    return announced.withdraw()
                }
                let format = bytes.withUnsafeBytes { ImageFormat(sniffing: $0) }
                announced.store(
                    ByteLog(bytes: bytes), format: format, isAwaited: keeper.isAwaited,
                    told: keeper.wasStored)
            } catch {
                observer.cacheFailed(error)
                keeper.wasStored(.failure(error))
                announced.withdraw()
            }
        }
    }

    /// Stores a finished picture in the layers that the request names.
    func keep(_ image: Image, _ request: ImageRequest, _ record: AnswerRecord?, of job: BytesJob) {
        if caches.foreign(request.options.caching) != nil {
            return storeFinished(image, request, record, of: job)
        }
        // A later load may have stored a newer picture, which must stay.
        if request.options.caching.store.contains(.memory), !caches.wasRemoved(job.keeper) {
            let memory = caches.memory(request.options.caching)
            memory.keep(image, for: request.variantKey, lifetime: nil, variant: request.variant(of: image))
            // Checked after storing: a removal either came before and is seen here, or finds the picture.
            if caches.wasRemoved(job.keeper) { memory.remove(request.variantKey) }
        }
        if request.options.caching.keepsOnDisk { storeFinished(image, request, record, of: job) }
    }

    /// Encodes a finished picture and writes it in the background. If too many pictures wait for that already, it is
    /// not stored, unless a caller waits for its store.
    func storeFinished(_ image: Image, _ request: ImageRequest, _ record: AnswerRecord?, of job: BytesJob) {
        let foreign = caches.foreign(request.options.caching)
        let isAwaited = job.keeper.isAwaited
        if foreign == nil, request.isPlain || record == nil { return }
        guard let lease = unencoded.lease(for: image, isAwaited: isAwaited) else {
            return observer.cacheFailed(UnencodedPictures.tooMany)
        }
        if let foreign { return store(image, request, record, in: foreign, lease, of: job) }
        guard let record, let cache = caches.front(request.options.caching),
            let number = cache.beginStore(request, since: job.keeper.removals.pictures)
        else { return }
        var options = CacheStoreOptions(serializer: request.options.caching.serializer)
        options.metadata.set(record.response)
        let announced = originals.announce(for: job.key.originalKey)
        Task { [options] in
            do throws(WebImageError) {
                // Behind the decodes that somebody waits for.
                try await cache.write(
                    image, nil, for: request, options, as: number, encoding: isAwaited ? .normal : .low)
            } catch {
                observer.cacheFailed(error)
            }
            withExtendedLifetime(lease) { announced.withdraw() }
        }
    }

    /// Stores a finished picture in a cache that is not an ``ImageCache``. Nobody waits for that cache for longer than
    /// its deadline.
    private func store(
        _ image: Image, _ request: ImageRequest, _ record: AnswerRecord?, in foreign: ForeignCache,
        _ lease: AdmissionLease, of job: BytesJob
    ) {
        let announced = originals.announce(for: job.key.originalKey)
        let serializer = caches.serializer(for: request)
        let race = DeadlineRace()
        let alarm = clock.schedule(at: clock.now + ForeignCache.storeDeadline) { [self] in
            guard race.expire() else { return }
            // Not on the clock's thread, because callers' closures may follow.
            ioExecutor.complete(.low) { [self] in
                observer.cacheFailed(ForeignCache.isLate)
                announced.withdraw()
            }
        }
        race.begin(
            Task {
                var failure: WebImageError?
                do throws(WebImageError) {
                    try await foreign.store(image, for: request, record?.response, by: serializer)
                } catch {
                    failure = error
                }
                guard withExtendedLifetime(lease, { race.end() }) else { return }
                alarm.cancel()
                if let failure { observer.cacheFailed(failure) }
                announced.withdraw()
            })
    }
}

/// The memory of finished pictures that wait to be encoded for a store. A pool that decodes faster than it encodes would
/// otherwise gather bitmaps without limit.
struct UnencodedPictures: Sendable {
    static let tooMany = WebImageError(.cacheIO, "too many pictures wait to be encoded: one was not stored on disk")

    let admission = Admission(budget: 128 << 20)

    /// Takes memory for a picture until the result is released.
    ///
    /// - Parameter isAwaited: whether a caller waits until it is stored. Such callers limit themselves.
    /// - Returns: nil if there is no room. A picture larger than all the room is stored if no other waits.
    func lease(for image: Image, isAwaited: Bool) -> AdmissionLease? {
        let amount = image.byteCount.bytes
        if isAwaited {
            admission.charge(amount)
        } else if !admission.take(amount, .low) {
            return nil
        }
        return AdmissionLease(admission, amount)
    }
}

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
    /// Announces the store of a complete picture's bytes; nil if policy or answer do not allow it, another session does
    /// it, or the picture was removed since its load began. The bytes can be found from now on; they are written when
    /// the caller confirms the announcement.
    ///
    /// - Parameter log: the bytes; nil if a serializer will make others.
    func announceOriginal(
        of keeper: OriginalKeeper, _ bytes: OpenedBytes, _ plan: StorePlan?, _ log: ByteLog?, _ header: ImageHeader?
    ) -> OriginalStore.Announcement? {
        guard let kept = bytes.kept(by: keeper.key, plan, in: caches.tiers(keeper.key.caching), header), keeper.take()
        else {
            return nil
        }
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
        decoding.executor.run(.low) { [self] in
            do throws(WebImageError) {
                guard let bytes = try serializer.bytes(plain.image, try log.collect(), plain.request) else {
                    return announced.withdraw()
                }
                let format = bytes.withUnsafeBytes { ImageFormat(sniffing: $0) }
                announced.store(
                    ByteLog(bytes: bytes), format: format, isAwaited: job.keeper.isAwaited.load(ordering: .relaxed),
                    told: job.keeper.wasStored)
            } catch {
                observer.cacheFailed(error)
                job.keeper.wasStored(.failure(error))
                announced.withdraw()
            }
        }
    }

    /// Stores a finished picture in the layers that the request names.
    func keep(_ image: Image, _ request: ImageRequest, _ record: AnswerRecord?, of job: BytesJob) {
        if caches.foreign(request.options.caching) != nil {
            return storeFinished(image, request, record, of: job)
        }
        if request.options.caching.store.contains(.memory) {
            let memory = caches.memory(request.options.caching)
            memory.keep(image, for: request.variantKey, lifetime: nil, variant: request.variant(of: image))
            // Checked after storing: a removal either came before and is seen here, or finds the picture.
            if caches.wasRemoved(job.keeper) { memory.remove(request.variantKey) }
        }
        if request.options.caching.keepsOnDisk { storeFinished(image, request, record, of: job) }
    }

    /// Encodes a finished picture and writes it.
    func storeFinished(_ image: Image, _ request: ImageRequest, _ record: AnswerRecord?, of job: BytesJob) {
        if let foreign = caches.foreign(request.options.caching) {
            let announced = originals.announce()
            let serializer = caches.serializer(for: request)
            Task {
                do throws(WebImageError) {
                    try await foreign.store(image, for: request, record?.response, by: serializer)
                } catch {
                    observer.cacheFailed(error)
                }
                announced.withdraw()
            }
            return
        }
        guard !request.isPlain, let record, let cache = caches.front(request.options.caching),
            let number = cache.beginStore(request, since: job.keeper.removals.pictures)
        else { return }
        var options = CacheStoreOptions(serializer: request.options.caching.serializer)
        options.metadata.set(record.response)
        let announced = originals.announce()
        Task { [options] in
            do throws(WebImageError) {
                try await cache.write(image, nil, for: request, options, as: number)
            } catch {
                observer.cacheFailed(error)
            }
            announced.withdraw()
        }
    }
}

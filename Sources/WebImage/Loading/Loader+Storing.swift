import Synchronization
import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem

// MARK: - What is stored behind the answers

extension OpenedBytes {
    /// What of them may be stored, once they turn out to be a picture, and in which tiers: an answer of the origin in all of
    /// them, the entry of a further tier in those before it. Nil where policy or answer do not allow it.
    ///
    /// - Parameters:
    ///   - plan: ``storePlan``, which takes some microseconds to work out.
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
    /// Where the bytes of a picture that turns out to be whole are to be kept; nil where policy or answer do not allow it,
    /// another session does it, or the picture was removed since its load began. They are found from now on; the store
    /// waits for what the caller then says.
    ///
    /// - Parameter log: nil where a serializer will make others.
    func announceOriginal(
        of keeper: OriginalKeeper, _ bytes: OpenedBytes, _ plan: StorePlan?, _ log: ByteLog?, _ header: ImageHeader?
    ) -> OriginalStore.Announcement? {
        guard let kept = bytes.kept(by: keeper.key, plan, in: caches.tiers(keeper.key.caching), header), keeper.take()
        else {
            return nil
        }
        let original = PendingOriginal(kept, log: log, key: keeper.key.originalKey)
        // After the place in the order was taken: a remove comes either before, and is seen here, or beats the write.
        return caches.wasOriginalRemoved(keeper) ? nil : originals.announce(original)
    }

    /// Stores what a serializer makes of the complete bytes of a log.
    ///
    /// - Parameter plain: the picture as its original has it, and the request for it.
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
                announced.store(ByteLog(bytes: bytes), format: format, told: job.keeper.wasStored)
            } catch {
                observer.cacheFailed(error)
                job.keeper.wasStored(.failure(error))
                announced.withdraw()
            }
        }
    }

    /// Keeps a finished picture where the request wants it.
    func keep(_ image: Image, _ request: ImageRequest, _ record: AnswerRecord?, of job: BytesJob) {
        if caches.foreign(request.options.caching) != nil {
            return storeFinished(image, request, record, of: job)
        }
        if request.options.caching.store.contains(.memory) {
            let memory = caches.memory(request.options.caching)
            memory.keep(image, for: request.variantKey, lifetime: nil, variant: request.variant(of: image))
            // After it was put there: a remove comes either before, and is seen here, or finds it.
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

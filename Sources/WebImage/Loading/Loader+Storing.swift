import Synchronization
import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem

// MARK: - Which caches

extension Loader {
    func memory(_ use: CacheUse) -> MemoryCache { use.cache?.memoryCache ?? memory }

    /// Where originals are; nil where there is no disk.
    func disk(_ use: CacheUse) -> DiskCache? {
        guard let own = use.originalCache ?? use.cache else { return disk }
        return own.diskCache
    }

    /// Where pictures are removed from.
    func cache(_ use: CacheUse) -> ImageCache? { use.cache ?? ownFront.withLock { $0.cache } }

    /// Where their originals are removed from.
    private func originalCache(_ use: CacheUse) -> ImageCache? { use.originalCache ?? cache(use) }

    func removals(_ use: CacheUse) -> RemovalCounts {
        func count(_ cache: ImageCache?) -> Int { cache?.pending.withLock { $0.removals.count } ?? 0 }
        return RemovalCounts(pictures: count(cache(use)), originals: count(originalCache(use)))
    }

    /// Whether the pictures of a load were removed from memory while it ran.
    func wasRemoved(_ keeper: OriginalKeeper) -> Bool {
        hasRemoved(keeper.key, from: cache(keeper.key.caching), .memory, since: keeper.removals.pictures)
    }

    /// Whether their original was removed from disk.
    private func wasOriginalRemoved(_ keeper: OriginalKeeper) -> Bool {
        hasRemoved(keeper.key, from: originalCache(keeper.key.caching), .disk, since: keeper.removals.originals)
    }

    private func hasRemoved(_ key: BytesKey, from cache: ImageCache?, _ layers: CacheLayers, since begin: Int) -> Bool {
        cache?.pending.withLock { $0.removals.hasRemoved(key.originalKey, from: layers, since: begin) } ?? false
    }

    /// What decides which bytes of a request's original go to disk; nil: those that came. It holds also when the manager
    /// is gone and its last loads come to their end.
    func serializer(for request: ImageRequest) -> CacheSerializer? {
        if let own = request.cacheSerializer { return own }
        if let cache = request.caching.cache { return cache.diskCache == nil ? nil : cache.serializer }
        return disk == nil ? nil : serializer
    }

    /// Through which finished pictures are read from disk and written.
    func front(_ use: CacheUse) -> ImageCache? {
        let cache = cache(use)
        return cache?.diskCache == nil ? nil : cache
    }
}

// MARK: - What is written to disk behind the answers

extension Loader {
    /// Where the bytes of a picture that turns out to be whole are to be kept; nil where policy or answer do not allow it,
    /// another session does it, or the picture was removed since its load began. They are found from now on; the store
    /// waits for what the caller then says.
    func announceOriginal(
        of keeper: OriginalKeeper, _ plan: StorePlan?, _ log: ByteLog, _ header: ImageHeader?,
        by serializer: CacheSerializer? = nil
    ) -> OriginalStore.Announcement? {
        let key = keeper.key
        guard let response = plan?.storing, key.caching.storesOriginal, let disk = disk(key.caching), keeper.take()
        else { return nil }
        var metadata = DiskMetadata()
        metadata.url = key.download.originalURL
        metadata.format = header?.format
        metadata.set(response)
        let original = PendingOriginal(
            log: serializer == nil ? log : nil, metadata: metadata, disk: disk, key: key.originalKey)
        // After the place in the order was taken: a remove comes either before, and is seen here, or beats the write.
        return wasOriginalRemoved(keeper) ? nil : originals.announce(original)
    }

    /// Stores the complete bytes of a log, or what a serializer makes of them.
    ///
    /// - Parameter plain: the picture as its original has it, and the request for it, where somebody wanted it so.
    func store(
        _ announced: OriginalStore.Announcement, _ log: ByteLog, of job: BytesJob,
        plain: (image: Image, request: ImageRequest)?
    ) {
        guard let plain, let serializer = serializer(for: plain.request) else {
            return announced.store(log, told: job.keeper.wasStored)
        }
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

    /// Encodes a finished picture and writes it.
    func storeFinished(_ image: Image, _ request: ImageRequest, _ record: AnswerRecord?, of job: BytesJob) {
        guard !request.isPlain, let record, let cache = front(request.caching),
            let number = cache.beginStore(request, since: job.keeper.removals.pictures)
        else { return }
        var options = CacheStoreOptions(serializer: request.cacheSerializer)
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

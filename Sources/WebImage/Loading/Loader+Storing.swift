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

    /// Through which finished pictures are read from disk and written.
    func front(_ use: CacheUse) -> ImageCache? {
        let cache = use.cache ?? ownFront.withLock { $0.cache }
        return cache?.diskCache == nil ? nil : cache
    }
}

// MARK: - What is written to disk behind the answers

extension Loader {
    /// Stores the complete bytes of `log`, or what a serializer makes of them.
    ///
    /// - Parameter plain: the picture as its original has it, and the request for it, where somebody wanted it so.
    func store(
        _ announced: OriginalStore.Announcement, _ log: ByteLog, of job: BytesJob, _ metadata: DiskMetadata,
        plain: (image: Image, request: ImageRequest)?
    ) {
        guard let disk = disk(job.key.caching) else { return announced.withdraw() }
        guard let plain, let serializer = plain.request.cacheSerializer ?? front(job.key.caching)?.serializer else {
            return announced.store(log, in: disk, job.key.originalKey, metadata, told: job.wasStored)
        }
        decodeExecutor.run(.low) { [self] in
            do throws(WebImageError) {
                guard let bytes = try serializer.bytes(plain.image, try log.collect(), plain.request) else {
                    return announced.withdraw()
                }
                var metadata = metadata
                metadata.format = bytes.withUnsafeBytes { ImageFormat(sniffing: $0) } ?? metadata.format
                announced.store(
                    ByteLog(bytes: bytes), in: disk, job.key.originalKey, metadata, told: job.wasStored)
            } catch {
                observer.cacheFailed(error)
                announced.withdraw()
            }
        }
    }

    /// Encodes a finished picture and writes it.
    func storeFinished(_ image: Image, _ request: ImageRequest, _ record: AnswerRecord?) {
        guard !request.isPlain, let record, let cache = front(request.caching) else { return }
        var options = CacheStoreOptions(serializer: request.cacheSerializer)
        options.metadata.set(record.response)
        let announced = originals.announce()
        Task { [options] in
            do throws(WebImageError) {
                try await cache.store(image, data: nil, for: request, in: .disk, options)
            } catch {
                observer.cacheFailed(error)
            }
            announced.withdraw()
        }
    }
}

extension BytesJob {
    fileprivate func wasStored(in time: Duration) { storeTime.withLock { $0 = time } }
}

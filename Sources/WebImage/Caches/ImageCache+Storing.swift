import Synchronization
import WebImageCache
public import WebImageCore
import WebImageSystem

extension ImageCache {
    /// See ``ImageCaching/store(_:data:for:in:_:)``. The picture is in memory before this first suspends. A picture
    /// with missing parts is not stored.
    @discardableResult
    public func store(
        _ image: Image, data: [UInt8]?, for request: ImageRequest, in layers: CacheLayers, _ options: CacheStoreOptions
    ) async throws(WebImageError) -> Bool {
        guard !image.info.isPartial else { return false }
        let goesToDisk = layers.contains(.disk) && diskCache != nil
        let (number, isInMemory) = pending.withLock { pending in
            reads?.forget(request.originalKey)
            let isInMemory = !layers.contains(.memory) || keep(image, request, options)
            return (goesToDisk ? pending.begin(request.diskKey) : 0, isInMemory)
        }
        guard goesToDisk else { return layers == .memory && isInMemory }
        let isOnDisk = try await write(image, data, for: request, options, as: number)
        return isOnDisk && isInMemory
    }

    /// Begins to store a loaded picture on disk.
    ///
    /// - Parameter begin: the last removal before the load began.
    /// - Returns: the store's number; nil when the picture was removed since.
    func beginStore(_ request: ImageRequest, since begin: Int) -> Int? {
        pending.withLock { pending in
            if pending.removals.hasRemoved(request.originalKey, from: .disk, since: begin) { return nil }
            return pending.begin(request.diskKey)
        }
    }

    /// Encodes and writes a picture, as the store of that number.
    ///
    /// - Parameter priority: how urgent it is to encode the picture; nil: as the request says.
    @discardableResult
    func write(
        _ image: Image, _ data: [UInt8]?, for request: ImageRequest, _ options: CacheStoreOptions, as number: Int,
        encoding priority: LoadPriority? = nil
    ) async throws(WebImageError) -> Bool {
        defer { pending.withLock { $0.end(number, request.diskKey) } }
        let urgency = priority ?? request.options.priority
        guard let bytes = try await bytes(of: image, data, request, options, urgency) else { return false }
        var metadata = options.metadata.completed(bytes, request)
        if !request.isPlain {
            metadata.original = image.info.header.map { .init(size: $0.displaySize, isVector: $0.isVector) }
        }
        return try await stage(bytes, as: number, request.diskKey, metadata)
    }

    /// See ``ImageCaching/storeOriginal(_:for:_:)``. Pictures in memory that were made from an older original stay. The
    /// original is stored in the further tiers after this has returned.
    @discardableResult
    public func storeOriginal(
        _ data: [UInt8], for request: ImageRequest, _ options: CacheStoreOptions
    ) async throws(WebImageError) -> Bool {
        let key = request.originalKey
        let number = pending.withLock { pending in
            reads?.forget(key)
            return pending.begin(key)
        }
        defer { pending.withLock { $0.end(number, key) } }
        let metadata = options.metadata.completed(data, request)
        for tier in furtherTiers { tier.put(data, metadata, for: key) }
        return try await stage(data, as: number, key, metadata)
    }

    /// - Returns: false when there is no room for it.
    private func keep(_ image: Image, _ request: ImageRequest, _ options: CacheStoreOptions) -> Bool {
        let lifetime = options.metadata.expiresAt.map { end -> Duration in
            .seconds(max(end.subtractingReportingOverflow(decoding.clock.wallTime).partialValue, 0))
        }
        return memoryCache.keep(
            image, for: request.variantKey, lifetime: lifetime, variant: request.variant(of: image))
    }

    /// The bytes to store on disk; nil: none.
    private func bytes(
        of image: Image, _ data: [UInt8]?, _ request: ImageRequest, _ options: CacheStoreOptions,
        _ priority: LoadPriority
    ) async throws(WebImageError) -> [UInt8]? {
        let serializer = options.serializer ?? serializer
        if let data, serializer == nil { return data }
        let (encoding, coders) = (encoding, decoding.coders)
        return try await decoding.executor.answer(priority) { () throws(WebImageError) -> [UInt8]? in
            if let serializer { return try serializer.bytes(image, data, request) }
            let choice = encoding.choice(for: image, coders)
            return try coders.encode(image, as: choice.format, choice.options)
        }
    }

    /// Hands bytes over to the disk cache, which finds them from then on, and waits until they are written.
    private func stage(
        _ bytes: [UInt8], as number: Int, _ key: CacheKey, _ metadata: DiskMetadata
    ) async throws(WebImageError) -> Bool {
        guard let disk = diskCache else { return false }
        let written = CancellableAnswer<Bool>()
        while true {
            // Under the lock, so that a removal either came before and is seen here, or comes later and sees this
            // store.
            let (isWanted, tellReplaced) = pending.withLock { pending -> (Bool, (@Sendable () -> Void)?) in
                guard pending.wants(number, key) else { return (false, nil) }
                return (true, disk.stageUnderLock(key, bytes, metadata) { written.give($0) })
            }
            guard isWanted else { return false }
            if let tellReplaced {
                tellReplaced()
                return try await written.value()
            }
            // Too many bytes wait to be written; callers are told whether their stores succeed.
            try await disk.finishStaging()
        }
    }

    /// See ``ImageCaching/remove(_:from:)``. All sizes of the picture are removed from memory before this first
    /// suspends. From disk it removes the request's own picture, the original, and the beginning of the original that
    /// an interrupted transfer has left. If `layers` contains the disk, the original is also removed from the further
    /// tiers. If the removal fails in one place, the other places are still tried. The first failure is then thrown,
    /// and the picture may come back from the place that failed.
    ///
    /// - Complexity: O(n) in the pictures in memory.
    public func remove(_ request: ImageRequest, from layers: CacheLayers) async throws(WebImageError) {
        pending.withLock { pending in
            pending.removals.note(request.originalKey, from: layers)
            if layers.contains(.memory) {
                reads?.forget(request.originalKey)
                memoryCache.removeVariants(of: request.originalKey)
            }
            if layers.contains(.disk) {
                pending.cancel(request.originalKey)
                pending.cancel(request.variantKey)
            }
        }
        guard layers.contains(.disk) else { return }
        var failure: WebImageError?
        if let disk = diskCache {
            do throws(WebImageError) {
                try await onFileThread(request.options.priority) { () throws(WebImageError) in
                    var failure: WebImageError?
                    do throws(WebImageError) { try self.partials?.remove(request.originalKey) } catch {
                        failure = error
                    }
                    for key in request.isPlain ? [request.originalKey] : [request.variantKey, request.originalKey] {
                        do throws(WebImageError) { try disk.remove(key) } catch { failure = failure ?? error }
                    }
                    if let failure { throw failure }
                }
            } catch {
                failure = error
            }
        }
        for tier in furtherTiers {
            do throws(WebImageError) {
                try await tier.remove(request.originalKey)
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    /// Removes an original and all pictures made from it from memory and disk, but not from the further tiers. Call it
    /// when another program has removed the original from a tier that both use. Stores of this original in further tiers
    /// that have not ended, or have ended within the last two seconds, are undone. Of the finished pictures on disk
    /// (``ImageRequest/Caching/store``), only those stored under the key of the original are removed.
    ///
    /// - Parameter key: the key of the original, see ``ImageRequest/originalKey``.
    /// - Complexity: O(n) in the pictures in memory.
    public func removeHere(original key: CacheKey) async throws(WebImageError) {
        pending.withLock { pending in
            pending.removals.note(key, from: .all)
            reads?.forget(key)
            memoryCache.removeVariants(of: key)
            pending.cancel(key)
        }
        for tier in furtherTiers { tier.undoStores(of: key) }
        guard let disk = diskCache else { return }
        try await onFileThread(.normal) { () throws(WebImageError) in
            var failure: WebImageError?
            do throws(WebImageError) { try self.partials?.remove(key) } catch { failure = error }
            try disk.remove(key)
            if let failure { throw failure }
        }
    }

    /// Removes the beginnings of an original that interrupted transfers have left on disk, also those of other users.
    ///
    /// - Returns: how many were removed, and the error of the first one that could not be removed.
    package func removeBeginnings(of original: CacheKey) async -> (count: Int, failure: WebImageError?) {
        guard let partials else { return (0, nil) }
        do throws(WebImageError) {
            return try await onFileThread(.normal) { () throws(WebImageError) in partials.removeAll(of: original) }
        } catch {
            return (0, error)
        }
    }

    /// See ``ImageCaching/clear(_:)``. Further tiers are not cleared, because others may use them, too.
    public func clear(_ layers: CacheLayers) async throws(WebImageError) {
        pending.withLock { pending in
            pending.removals.note(nil, from: layers)
            if layers.contains(.memory) {
                reads?.forget()
                memoryCache.removeAll()
            }
            if layers.contains(.disk) { pending.cancelAll() }
        }
        guard layers.contains(.disk), let disk = diskCache else { return }
        var failure: WebImageError?
        do throws(WebImageError) {
            try await onFileThread(.normal) { () throws(WebImageError) in try self.partials?.removeAll() }
        } catch {
            failure = error
        }
        // Tried even so. An error of the entries is told rather than one of the beginnings.
        try await disk.removeAll()
        if let failure { throw failure }
    }

    public func removeExpired() async throws(WebImageError) {
        memoryCache.removeExpired()
        try await diskCache?.removeExpired()
    }
}

extension DiskMetadata {
    /// Fills in the format and the URL from the bytes and the request, if they are not set.
    fileprivate func completed(_ bytes: [UInt8], _ request: ImageRequest) -> DiskMetadata {
        var metadata = self
        metadata.format = metadata.format ?? bytes.withUnsafeBytes { ImageFormat(sniffing: $0) }
        if metadata.url == nil, request.options.caching.policy != .cacheOnly || request.options.caching.key == nil {
            metadata.url = try? request.download.get().originalURL
        }
        return metadata
    }
}

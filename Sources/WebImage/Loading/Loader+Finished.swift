import Synchronization
import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem

/// Finished pictures on disk, for requests that store them there (``ImageRequest/Caching/store``).
extension Loader {
    /// Looks up the finished picture on disk before anything else. If there is none, the token joins a job.
    ///
    /// - Returns: false if there is nothing to look up; the caller of this function then goes on.
    func startLookForFinished(
        _ token: LoadToken, _ request: ImageRequest, _ delivery: LoadToken.Delivery
    ) -> Bool {
        if let foreign = caches.foreign(request.options.caching) {
            return startLook(in: foreign, token, request, delivery)
        }
        guard request.options.caching.looksOnDisk, mayLookForFinished(request), !request.isPlain,
            !request.options.includesData,
            let cache = caches.front(request.options.caching), let key = try? BytesKey(request, by: token.settings)
        else { return false }
        return beginPreliminary(token, delivery) { [self] in
            if let response = await finished(cache, request, key, token) {
                return answer(token, response, delivery, madeFrom: key.originalKey)
            }
            join(token, continuingWith: request, delivery)
        }
    }

    /// Whether the policy allows a finished picture of the disk.
    private func mayLookForFinished(_ request: ImageRequest) -> Bool {
        let caching = request.options.caching
        if caching.policy.trustsMemory { return true }
        // A picture that is in memory, but was not served from there, is no longer fresh, and neither is its copy on
        // disk. Memory keeps it for the case that the origin confirms it.
        return caching.policy == .protocol && !caches.memory(caching).contains(request.variantKey)
    }

    private func startLook(
        in foreign: ForeignCache, _ token: LoadToken, _ request: ImageRequest, _ delivery: LoadToken.Delivery
    ) -> Bool {
        // The bytes of a finished picture are not the original's.
        guard request.trustsMemory, !request.options.caching.query.isEmpty, !request.isLocal,
            request.isPlain || !request.options.includesData,
            let key = try? BytesKey(request, by: token.settings)
        else { return false }
        return beginPreliminary(token, delivery) { [self] in
            if let response = await found(in: foreign, request, key) {
                return answer(token, response, delivery, madeFrom: key.originalKey)
            }
            join(token, continuingWith: request, delivery)
        }
    }

    private func found(
        in foreign: ForeignCache, _ request: ImageRequest, _ key: BytesKey
    ) async -> ImageResponse? {
        do throws(WebImageError) {
            guard let found = try await foreign.image(for: request) else { return nil }
            if request.options.includesData, found.data == nil { return nil }
            var response = ImageResponse(image: found.image, source: found.source)
            response.data = found.data
            if found.image.storage.origin == nil, let metadata = found.metadata, metadata.status != nil {
                guard case .serve(let stored) = origin.decision(key, metadata.storedResponse) else { return nil }
                response.head = origin.head(of: stored)
            } else if !isFor(request, found.image, by: key.settings) {
                return nil
            }
            return response
        } catch {
            observer.cacheFailed(error)
            return nil
        }
    }

    /// Passes on the priority that the caller of a look-up sets, if it is higher than before.
    private func follow(_ token: LoadToken, _ raise: @escaping @Sendable (LoadPriority) -> Void) {
        let priority = table.withLock { _ in
            token.raisesLookUp = raise
            return token.currentPriority
        }
        raise(priority)
    }

    private func finished(
        _ cache: ImageCache, _ request: ImageRequest, _ key: BytesKey, _ token: LoadToken
    ) async -> ImageResponse? {
        defer { table.withLock { _ in token.raisesLookUp = nil } }
        do throws(WebImageError) {
            // For a picture in memory only the policies that trust memory do not ask whether it is fresh.
            let asksMemory = request.asksMemory && request.options.caching.policy.trustsMemory
            guard let found = try await cache.finished(request, asksMemory: asksMemory, begun: { follow(token, $0) })
            else { return nil }
            if found.source == .memory {
                guard isFor(request, found.image, by: key.settings) else { return nil }
                return ImageResponse(image: found.image, source: .memory)
            }
            guard let metadata = found.metadata else { return nil }
            guard case .serve = origin.decision(key, metadata.storedResponse) else {
                cache.memoryCache.remove(request.variantKey)
                return nil
            }
            // A picture of a body that the original no longer has counts as missing.
            let original = try await (request.options.caching.originalCache ?? cache).diskCache?.readMetadata(
                key.originalKey, priority: request.options.priority)
            if let original, !original.storedResponse.hasSameBody(as: metadata.storedResponse) {
                // The look-up has just put the picture into memory.
                cache.memoryCache.remove(request.variantKey)
                return nil
            }
            var response = ImageResponse(image: found.image, source: .disk)
            if metadata.status != nil { response.head = origin.head(of: metadata.storedResponse) }
            return response
        } catch {
            observer.cacheFailed(error)
            return nil
        }
    }
}

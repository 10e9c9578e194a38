import Synchronization
import WebImageCache
import WebImageCore
import WebImageDownload
import WebImageSystem

/// The cache through which finished pictures are read and written; it holds the loader, not the other way round.
struct WeakCache {
    weak var cache: ImageCache?
}

/// Finished pictures on disk, for requests that want them there (``CacheUse/store``).
extension Loader {
    /// Looks for the finished picture on disk before anything else. The token joins a job when there is none.
    ///
    /// - Returns: false when there is nothing to look at: the caller goes on.
    func lookForFinished(_ token: LoadToken, _ request: ImageRequest, _ delivery: LoadToken.Delivery) -> Bool {
        guard request.cachePolicy.trustsMemory, !request.isPlain, !request.includesData,
            let cache = front(request.caching), let key = try? BytesKey(request, by: token.settings)
        else { return false }
        let isWelcome = table.withLock { table in
            if token.hasEnded || !table.beginLook() { return false }
            token.isAdmitted = true
            token.delivery = delivery
            return true
        }
        guard isWelcome else { return false }
        let look = Task {
            let response = await self.finished(cache, request, key)
            self.found(response, token, request, delivery)
        }
        let isLate = table.withLock { _ in
            if token.hasEnded { return true }
            // It may have gone on already.
            if token.job == nil, token.delivery != nil { token.look = look }
            return false
        }
        if isLate { look.cancel() }
        return true
    }

    private func found(
        _ response: ImageResponse?, _ token: LoadToken, _ request: ImageRequest, _ delivery: LoadToken.Delivery
    ) {
        defer { endLook() }
        guard let response else { return goOn(token, request, delivery) }
        answer(token, response, delivery)
    }

    private func finished(_ cache: ImageCache, _ request: ImageRequest, _ key: BytesKey) async -> ImageResponse? {
        do throws(WebImageError) {
            guard let found = try await cache.finished(request) else { return nil }
            if found.source == .memory {
                guard isFor(request, found.image, by: key.settings) else { return nil }
                return ImageResponse(image: found.image, source: .memory)
            }
            guard let metadata = found.metadata else { return nil }
            guard case .serve = decision(key, metadata.storedResponse) else { return nil }
            // Made of a body that the original no longer has: as good as not there.
            let original = try await disk(request.caching)?.readMetadata(key.originalKey, priority: request.priority)
            if let original, !original.storedResponse.hasSameBody(as: metadata.storedResponse) { return nil }
            var response = ImageResponse(image: found.image, source: .disk)
            if metadata.status != nil { response.head = head(of: metadata.storedResponse) }
            return response
        } catch {
            if error.code != .cancelled { observer.cacheFailed(error) }
            return nil
        }
    }
}

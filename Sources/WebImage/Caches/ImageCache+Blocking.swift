public import WebImageCore
import WebImageCache
import WebImageSystem

// The disk without `await`. Each of these blocks the calling thread for as long as files and codecs take. They are for
// programs without async code: never call one where a user waits for the thread, on a thread of Swift's pool that others
// need, or from a transformer, coder or serializer.
extension ImageCache {
    /// Like ``ImageCaching/image(for:in:promotes:)``, but **blocks** while it reads a file and decodes it. The work is
    /// not shared with other callers.
    public func imageBlocking(
        for request: ImageRequest, in layers: CacheLayers = .all, promotes: Bool = true
    ) throws(WebImageError) -> CachedImage? {
        if layers.contains(.memory), let image = cachedImage(for: request) {
            let data = request.options.includesData && layers.contains(.disk) ? try dataBlocking(for: request) : nil
            return CachedImage(image: image, source: .memory, data: data)
        }
        guard layers.contains(.disk), let reads else { return nil }
        return try reads.imageBlocking(for: request, promotes: promotes)
    }

    /// Like ``ImageCaching/data(for:)``, but **blocks** while it reads a file.
    public func dataBlocking(for request: ImageRequest) throws(WebImageError) -> [UInt8]? {
        try diskCache?.entry(for: request)?.entry.body
    }

    /// Like ``ImageCaching/contains(_:in:)``, but **blocks** while it looks in a directory.
    public func containsBlocking(
        _ request: ImageRequest, in layers: CacheLayers = .all
    ) throws(WebImageError) -> CacheLayers {
        var found: CacheLayers = []
        if layers.contains(.memory), memoryCache.contains(request.variantKey) { found.insert(.memory) }
        guard layers.contains(.disk), let disk = diskCache else { return found }
        for key in Set([request.diskKey, request.originalKey]) where try disk.contains(key) { found.insert(.disk) }
        return found
    }
}

import WebImageCore

/// Pictures that left the cache while somebody still held them: found again as long as that lasts.
///
/// They cost nothing but their records; those of pictures that are gone are swept out as new ones come, so that there are
/// at most twice as many as pictures that are held, and 16.
struct HeldImages: ~Copyable {
    private struct Held {
        weak var storage: Image.Storage?
        let expires: Duration?
        let variant: ImageVariant?
    }

    private var images: [CacheKey: Held] = [:]
    private var sweepAt = 16

    var count: Int { images.count }

    mutating func insert(_ entry: MemoryTable.Entry) {
        if images.count >= sweepAt {
            images = images.filter { $0.value.storage != nil }
            sweepAt = max(16, images.count * 2)
        }
        images[entry.key] = Held(storage: entry.storage, expires: entry.expires, variant: entry.variant)
    }

    func image(for key: CacheKey, clock: any LoadClock) -> Image? {
        guard !images.isEmpty, let held = images[key], let storage = held.storage else { return nil }
        if let expires = held.expires, expires <= clock.now { return nil }
        return Image(storage)
    }

    /// The entry that a picture was; nil when it is no longer the one that is remembered.
    func entry(of image: Image, for key: CacheKey) -> MemoryTable.Entry? {
        guard let held = images[key], held.storage === image.storage else { return nil }
        return MemoryTable.Entry(
            key: key, storage: image.storage, cost: 0, expires: held.expires, variant: held.variant)
    }

    mutating func remove(_ key: CacheKey) {
        if !images.isEmpty { images[key] = nil }
    }

    mutating func removeAll(where isUnwanted: (CacheKey) -> Bool) {
        if !images.isEmpty { images = images.filter { !isUnwanted($0.key) } }
    }

    mutating func removeAll() { images = [:] }
}

import WebImageCore

/// Pictures that left the cache while a caller still held them; the cache finds them again as long as they are held.
///
/// They cost only their records; records of released pictures are removed as new ones are added, so that there are at
/// most twice as many as held pictures, plus 16.
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

    /// The entry of a picture; nil if it is no longer the recorded one.
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

    mutating func removeAll() { (images, sweepAt) = ([:], 16) }
}

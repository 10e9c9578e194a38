import Synchronization
import WebImageCache
import WebImageCore
import WebImageDownload

/// The decode of one entry, for the callers of a read.
struct EntryDecode: DecodeClient, PictureOrder, PictureDelivery {
    let reads: CacheReads
    let read: CacheReads.Read
    let entry: DiskEntry
    let isFinished: Bool
    let recipe: PictureRecipe
    let place: String

    /// - Parameter isFinished: whether the entry has the finished picture.
    init(reads: CacheReads, read: CacheReads.Read, entry: DiskEntry, isFinished: Bool, by service: DecodeService) {
        self.reads = reads
        self.read = read
        self.entry = entry
        self.isFinished = isFinished
        var recipe = read.request.recipe
        if isFinished { recipe = recipe.ofFinished(entry.body.withUnsafeBytes { ImageFormat(sniffing: $0) }) }
        recipe.decoding.ownLimits = recipe.decoding.ownLimits ?? service.limits
        self.recipe = recipe
        place = read.request.options.caching.key ?? read.request.redactedURL
    }

    var owner: AnyObject { read }
    var priority: LoadPriority { reads.priority(of: read) }
    var isAbandoned: Bool { read.isAbandoned.load(ordering: .relaxed) }
    var isWatched: Bool { false }
    var showsPreviews: Bool { false }

    func takeOrders(_ header: ImageHeader?) -> [EntryDecode] { [self] }
    func tell(_ progress: LoadProgress, to orders: [EntryDecode]?) {}
    func showPreview(_ image: Image, of order: EntryDecode) {}
    func standsIn(for error: WebImageError, _ orders: () -> [EntryDecode]) -> Bool { false }
    func refuse(_ orders: [EntryDecode], _ error: WebImageError) { reads.end(read, .failure(error)) }
    func fail(_ orders: [EntryDecode], _ error: WebImageError, _ span: DecodeSpan?) { refuse(orders, error) }
    func deliver(_ log: ByteLog, _ header: ImageHeader?, failure: WebImageError?) -> EntryDecode { self }

    func finish(_ order: EntryDecode, _ result: Result<DecodedPicture, WebImageError>) {
        let original = isFinished ? entry.metadata.original : nil
        // Entries of pictures that were drawn, and of earlier versions, do not tell.
        read.isOfUnknownSize = isFinished && original == nil
        reads.end(
            read,
            result.map { picture in
                // Nil for an entry that did not come by HTTP.
                let record =
                    entry.metadata.status == nil
                    ? nil : reads.answers.record(of: read.key.original, entry.metadata.storedResponse)
                let image = original.map { picture.image.asMade(from: $0) } ?? picture.image
                return CachedImage(
                    image: image.with(origin: record), source: .disk,
                    data: read.key.includesData ? entry.body : nil, metadata: entry.metadata)
            })
    }

    func end(isWhole: Bool) {}
}

extension Image {
    /// A finished picture whose header tells the original's size, and not its own, by which larger sizes would seem to be
    /// equal to it.
    fileprivate func asMade(from original: DiskMetadata.Original) -> Image {
        with { info in
            info.header?.size = original.size
            info.header?.orientation = .up
            info.header?.isVector = original.isVector
        }
    }
}

public import WebImageCache
public import WebImageCore

/// A picture that was found in a cache.
public struct CachedImage: Sendable {
    public var image: Image
    /// ``ImageSource/memory`` or ``ImageSource/disk``.
    public var source: ImageSource
    /// The bytes on disk, when ``ImageRequest/Options/includesData`` asked for them and there are some.
    public var data: [UInt8]?
    /// The metadata of the entry on disk; nil when the entry was not read.
    public var metadata: DiskMetadata?

    public init(image: Image, source: ImageSource, data: [UInt8]? = nil, metadata: DiskMetadata? = nil) {
        self.image = image
        self.source = source
        self.data = data
        self.metadata = metadata
    }
}

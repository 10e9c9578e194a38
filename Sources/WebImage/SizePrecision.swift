import WebImageCache
import WebImageCore
import WebImageProcessing

/// How closely the size of a picture must match the requested size.
public enum SizePrecision: String, Hashable, Sendable, Codable {
    /// The picture is made in the requested size.
    case exact
    /// For views that scale their pictures: a picture in memory is used if it was made from the same part of the same
    /// original in the same way, covers the size within a pixel, and is at most twice as large on each side (Coil's
    /// rule). If there is none in memory, the picture is made in the requested size. Requests with transformers or a
    /// ``ImageRequest/Decoding/bitmapLimit`` are exact.
    case inexact
}

extension ImageRequest {
    private var fit: ImageFit { options.size?.fit ?? .contain }

    /// The key that all sizes of the picture share; nil if pictures of this request are not comparable by size.
    private var variantGroup: CacheKey? {
        let decoding = options.decoding
        guard options.transformers.isEmpty, decoding.bitmapLimit == nil, decoding.appliesOrientation else { return nil }
        if options.size == nil { return variantKey }
        return originalKey.variant(PictureKey(recipe, tellsSize: false).text)
    }

    /// The description of the picture for the memory cache, by which requests for other sizes find it.
    func variant(of image: Image) -> ImageVariant? {
        guard let header = image.info.header, !header.isVector, let group = variantGroup else { return nil }
        return ImageVariant(
            group: group, size: image.size, fit: fit, originalSize: header.orientation.displaySize(of: header.size))
    }

    /// A picture of another size in memory that this request accepts.
    func variant(in memory: MemoryCache) -> Image? {
        guard options.caching.sizePrecision == .inexact, let group = variantGroup else { return nil }
        return memory.variant(in: group, fit: fit, atLeast: .covering) { original in
            ResizePlan(stored: original, target: options.size).outputStored
        }?.image
    }
}

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

    /// What all sizes of the picture have in common; nil where a size says too little.
    private var variantGroup: CacheKey? {
        let decoding = options.decoding
        guard options.transformers.isEmpty, decoding.bitmapLimit == nil, decoding.appliesOrientation else { return nil }
        if options.size == nil { return variantKey }
        return originalKey.variant(PictureKey(recipe, tellsSize: false).text)
    }

    /// What memory is to know of the picture that was made for this request.
    func variant(of image: Image) -> ImageVariant? {
        guard let header = image.info.header, !header.isVector, let group = variantGroup else { return nil }
        return ImageVariant(
            group: group, size: image.size, fit: fit, originalSize: header.orientation.displaySize(of: header.size))
    }

    /// A picture of another size in memory that will do.
    func variant(in memory: MemoryCache) -> Image? {
        guard options.caching.sizePrecision == .inexact, let group = variantGroup else { return nil }
        return memory.variant(in: group, fit: fit, atLeast: .covering) { original in
            ResizePlan(stored: original, target: options.size).outputStored
        }?.image
    }
}

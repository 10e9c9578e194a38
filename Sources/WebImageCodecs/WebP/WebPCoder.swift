import CSysWebP
package import WebImageCore
import WebImageProcessing

/// WebP through libwebp: lossy and lossless, with and without alpha, stills and animations.
///
/// Stills, and the first frame of an animation alone, can be decoded to a smaller size: libwebp then skips the
/// deblocking filter and the fine chroma. Its scaler does not weight colours by alpha, so pictures with alpha are
/// scaled here.
package struct WebPCoder: ImageCoder {
    /// The longest side of a VP8 or VP8L picture (14 bits).
    private static let longestSide = Int(WEBP_MAX_DIMENSION)

    package init() {}

    package var decodableFormats: Set<ImageFormat> { [.webp] }
    package var timeDependsOnlyOnPixels: Bool { true }
    package var encodableFormats: Set<ImageFormat> { [.webp] }
    package var losslessFormats: Set<ImageFormat> { encodableFormats }

    package func scaleDenominators(for header: ImageHeader) -> [Int] {
        header.frameCount != 1 ? [1] : WebPScaling.denominators
    }

    package func makeDecoder(
        _ options: DecodeOptions, plan: @escaping DecodePlanner
    ) throws(WebImageError) -> any ImageDecoder {
        WebPDecoder(options, plan: plan)
    }

    package func makeAnimationDecoder(
        _ format: ImageFormat, _ options: DecodeOptions
    ) throws(WebImageError) -> (any AnimationDecoder)? {
        CanvasAnimationDecoder(WebPPatchReader(options))
    }

    /// Encodes a WebP, lossy and of quality 80 unless `options` says otherwise. Alpha is kept without loss, the colour
    /// of fully transparent pixels only if ``EncodeOptions/isLossless`` is set. An orientation other than upright is
    /// written as EXIF.
    ///
    /// - Throws: `cannotEncode` for another format, a side above 16 383, or lossless encoding of 16 bits a channel;
    ///   `limitExceeded` without memory.
    /// - Complexity: memory for the output and 1.5 to 2.5 bytes a pixel; as much again as the picture if it has 16 bits
    ///   or is premultiplied.
    package func encode(
        _ image: Image, as format: ImageFormat, _ options: EncodeOptions
    ) throws(WebImageError) -> [UInt8] {
        try check(format, image.size)
        let pixels = try image.straightBytes(for: options)
        let picture = try WebPEncoder(options).encode(pixels, isOpaque: image.alpha == .opaque)
        let metadata = EmbeddedMetadata(image, options)
        guard !metadata.isEmpty else { return picture }
        return try WebPContainer.wrap(picture, metadata)
    }

    /// An animated WebP, lossy and of quality 80 unless `options` says otherwise, on a transparent background. The
    /// colour of fully transparent pixels is not kept. Equal consecutive frames become one.
    ///
    /// - Throws: as ``encode(_:as:_:)``.
    /// - Complexity: memory for the output, twice at the end, and for four canvases.
    package func makeAnimationEncoder(
        _ format: ImageFormat, _ animation: AnimationDescription, _ options: EncodeOptions
    ) throws(WebImageError) -> (any AnimationEncoder)? {
        try check(format, animation.size)
        return try WebPAnimationEncoder(animation, options)
    }

    private func check(_ format: ImageFormat, _ size: PixelSize) throws(WebImageError) {
        guard format == .webp else {
            throw WebImageError(.cannotEncode, "the WebP coder does not write \(format.rawValue)", format: format)
        }
        guard max(size.width, size.height) <= Self.longestSide else {
            throw WebImageError(
                .cannotEncode, "a WebP's sides are at most \(Self.longestSide) pixels, this picture is \(size)",
                format: .webp)
        }
    }
}

extension Image {
    /// The pixels with 8 bits a channel and straight alpha.
    ///
    /// - Throws: `cannotEncode` if this loses something that must be kept.
    func straightBytes(for options: EncodeOptions) throws(WebImageError) -> PixelBuffer {
        guard layout != .rgba8 || alpha == .premultiplied else { return pixels }
        try options.checkDepth(of: self, .webp)
        let bytes = try layout == .rgba8 ? pixels.copied() : pixels.narrowed()
        if alpha == .premultiplied { bytes.unpremultiply() }
        return bytes
    }
}

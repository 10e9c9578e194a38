import CShimPNG
package import WebImageCore
import WebImageProcessing

/// PNG through libpng: every colour type, depth and interlacing; of an animation (APNG) the still picture, and all
/// frames by a separate decoder.
///
/// Colour information is kept for conversion by others: the first of `cICP`, `iCCP`, `sRGB`, `gAMA` with `cHRM` (PNG,
/// third edition, 4.3).
package struct PNGCoder: ImageCoder {
    /// The rows of larger pictures are compressed in pieces by zlib, which takes longer but hardly any memory.
    private static let maxAtOnce = ByteCount.mebibytes(256)

    private let usesZlib: Bool
    private let minPixelsForHelp: Int

    package init() { self.init(usesZlib: false) }

    /// For tests.
    ///
    /// - Parameters:
    ///   - usesZlib: whether zlib compresses, even if a faster library is available.
    ///   - minPixelsForHelp: the size from which an idle thread helps. Measured on two cores, photographs of 1 to 22
    ///     megapixels then take 0.57 to 0.71 of the time and 1.02 to 1.05 of the processor time; pictures that compress
    ///     well (palettes, much transparency) take 0.69 to 0.98 of the time, and up to 1.14 of the processor time.
    package init(usesZlib: Bool = false, minPixelsForHelp: Int = 500_000) {
        self.usesZlib = usesZlib
        self.minPixelsForHelp = minPixelsForHelp
    }

    package var decodableFormats: Set<ImageFormat> { [.png, .apng] }
    package var timeDependsOnlyOnPixels: Bool { true }
    package var encodableFormats: Set<ImageFormat> { [.png, .apng] }
    package var losslessFormats: Set<ImageFormat> { encodableFormats }

    package func makeDecoder(
        _ options: DecodeOptions, plan: @escaping DecodePlanner
    ) throws(WebImageError) -> any ImageDecoder {
        try PNGDecoder(options, usesZlib: usesZlib, minPixelsForHelp: minPixelsForHelp, plan: plan)
    }

    package func makeAnimationDecoder(
        _ format: ImageFormat, _ options: DecodeOptions
    ) throws(WebImageError) -> (any AnimationDecoder)? {
        CanvasAnimationDecoder(PNGPatchReader(options))
    }

    /// An encoder that keeps every pixel, with 8 bits a channel. Each frame holds only what changed. Without a loop
    /// count the file is written to play once, because every APNG states one.
    package func makeAnimationEncoder(
        _ format: ImageFormat, _ animation: AnimationDescription, _ options: EncodeOptions
    ) throws(WebImageError) -> (any AnimationEncoder)? {
        guard format == .apng else { return nil }
        return APNGEncoder(animation, options)
    }

    /// A PNG with the same pixels: RGB for opaque pictures, else RGBA, and gray instead of RGB if a picture was stored
    /// gray and has no colour; 16 bits if the picture has them. Premultiplied pictures are written with straight alpha,
    /// as PNG demands. An orientation other than upright is written as `eXIf`. As an APNG: an animation of one frame.
    ///
    /// - Throws: `cannotEncode` for another format, `limitExceeded` without memory.
    package func encode(
        _ image: Image, as format: ImageFormat, _ options: EncodeOptions
    ) throws(WebImageError) -> [UInt8] {
        if format == .apng { return try APNGEncoder.encode(image, options) }
        guard format == .png else {
            throw WebImageError(.cannotEncode, "the PNG coder does not write \(format.rawValue)", format: format)
        }
        guard max(image.size.width, image.size.height) <= Int(Int32.max)
        else { throw WebImageError(.cannotEncode, "a PNG cannot hold a picture of \(image.size)", format: .png) }
        guard let palette = try palette(of: image, options) else { return try encode(image, nil, options) }
        let small = try encode(image, palette, options)
        guard palette.isExact, palette.bits == 8, image.alpha == .opaque, image.isWrittenGray(options) else {
            return small
        }
        // The indices of a palette are not filtered, and so can take more bytes than the gray values themselves.
        let narrow = image.layout == .rgba8 ? image : Image(pixels: try image.pixels.narrowed(), info: image.info)
        let gray = try encode(narrow, nil, options)
        return gray.count < small.count ? gray : small
    }

    private func encode(
        _ image: Image, _ palette: PNGPalette?, _ options: EncodeOptions
    ) throws(WebImageError) -> [UInt8] {
        let metadata = EmbeddedMetadata(image, options, formatTells: .density, writesGray: palette == nil)
        let density = metadata.density
        var picture = wi_png_picture()
        (picture.width, picture.height) = (UInt32(image.size.width), UInt32(image.size.height))
        picture.is_interlaced = options.progressive ? 1 : 0
        picture.level = Int32(min(max(options.compressionLevel, 0), 9))
        picture.most_at_once = usesZlib ? 0 : Self.maxAtOnce.bytes
        (picture.has_cicp, picture.cicp) = (metadata.color == nil ? 0 : 1, cicp(metadata.color))
        (picture.density_x, picture.density_y) = (dots(density?.horizontal), dots(density?.vertical))
        var output = wi_png_output()
        let result = metadata.profile.withUnsafeBufferPointer { profile in
            metadata.exif.withUnsafeBufferPointer { exif in
                metadata.xmp.withUnsafeBufferPointer { xmp in
                    (picture.icc, picture.icc_count) = (profile.baseAddress, profile.count)
                    (picture.exif, picture.exif_count) = (exif.baseAddress, exif.count)
                    (picture.xmp, picture.xmp_count) = (xmp.baseAddress, xmp.count)
                    if let palette { return write(palette, &picture, &output) }
                    return image.withPixels { pixels in
                        picture.pixels = pixels.bindMemory(to: UInt8.self).baseAddress
                        picture.stride = image.pixels.bytesPerRow
                        picture.is_16_bit = image.layout == .rgba16 ? 1 : 0
                        picture.alpha = Int32(image.alpha.rawValue)
                        picture.is_gray = metadata.isGray ? 1 : 0
                        return wi_png_encode(&picture, &output)
                    }
                }
            }
        }
        defer { wi_png_free(&output) }
        guard Int(result) == WI_PNG_OK, let bytes = output.bytes else {
            let isMemory = Int(result) == WI_PNG_NO_MEMORY
            throw WebImageError(
                isMemory ? .limitExceeded : .cannotEncode,
                isMemory ? "there is no memory to write the PNG" : "libpng: \(text(of: output.message))", format: .png)
        }
        return [UInt8](UnsafeBufferPointer(start: bytes, count: output.count))
    }

    /// - Returns: nil if no palette is requested, or the picture must keep more colours than a palette holds.
    private func palette(of image: Image, _ options: EncodeOptions) throws(WebImageError) -> PNGPalette? {
        guard let limit = options.paletteColors, !(options.isLossless && image.layout != .rgba8) else { return nil }
        let full = try image.withFullAlpha()
        var pixels = full.pixels
        if full.layout != .rgba8 {
            pixels = try pixels.narrowed()
        } else if full.alpha == .premultiplied {
            pixels = try pixels.copied()
        }
        if full.alpha == .premultiplied { pixels.unpremultiply() }
        return PNGPalette(of: pixels, atMost: limit, isExact: options.isLossless, dithers: options.dithers)
    }

    private func write(
        _ palette: PNGPalette, _ picture: inout wi_png_picture, _ output: inout wi_png_output
    ) -> Int32 {
        let colors = palette.colors.flatMap { color in
            stride(from: 0, to: 32, by: 8).map { UInt8(truncatingIfNeeded: color >> $0) }
        }
        return colors.withUnsafeBufferPointer { colors in
            palette.indices.withUnsafeBufferPointer { indices in
                (picture.palette, picture.palette_count) = (colors.baseAddress, palette.colors.count)
                picture.palette_bits = Int32(palette.bits)
                (picture.pixels, picture.stride) = (indices.baseAddress, Int(picture.width))
                return wi_png_encode(&picture, &output)
            }
        }
    }

    /// A `cICP` chunk; its matrix is RGB, the only one in PNG.
    private func cicp(_ color: ColorDescription?) -> (UInt8, UInt8, UInt8, UInt8) {
        (color?.primaries ?? 2, color?.transfer ?? 2, 0, 1)
    }

    /// Pixels a metre.
    private func dots(_ density: Double?) -> UInt32 { density.map { UInt32(($0 / 0.0254).rounded()) } ?? 0 }
}

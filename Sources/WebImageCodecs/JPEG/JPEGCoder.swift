import CShimJPEG
package import WebImageCore
import WebImageProcessing

/// JPEG through libjpeg-turbo: baseline, progressive, arithmetic-coded, grey, RGB and CMYK, 8 bits. Files with Huffman
/// codes are decoded to a half, a quarter and an eighth of their size by our own readers. Inks are converted to sRGB by
/// the ICC profile, if there is a usable one.
package struct JPEGCoder: ImageCoder {
    /// The longest side that libjpeg takes.
    private static let longestSide = 65_500
    /// From this quality on the colour channels keep their full resolution.
    private static let fullChromaQuality = 90
    /// What fits into 255 `APP2` markers (ICC.1:2010, annex B.4).
    private static let longestProfile = 255 * 65_519

    /// Makes the converter to sRGB from the profile of a CMYK picture; nil for a profile that cannot be used.
    var makeInkConverter: MakeInkConverter = { (profile) throws(WebImageError) in InkConverter(iccProfile: profile) }

    typealias MakeInkConverter = @Sendable (_ iccProfile: [UInt8]) throws(WebImageError) -> InkConverter?

    package init() {}

    package var decodableFormats: Set<ImageFormat> { [.jpeg] }
    package var timeDependsOnlyOnPixels: Bool { true }
    package var encodableFormats: Set<ImageFormat> { [.jpeg] }

    package func scaleDenominators(for header: ImageHeader) -> [Int] { JPEGDecoder.denominators }

    /// Measured as ``/WebImageProcessing/ResizePlan/qualityMargin``, with sixteen pictures: the worst has 50.2 dB with
    /// 2 at a half and 49.3 with 2.5 at a quarter. libjpeg's means have 50.8 and 49.3 with 3. At an eighth there is no
    /// difference.
    package func scalingMargin(for header: ImageHeader, denominator: Int) -> Double {
        guard header.isDividedByFrequencies else { return ResizePlan.qualityMargin }
        return [2: 2, 4: 2.5][denominator] ?? ResizePlan.qualityMargin
    }

    package func makeDecoder(
        _ options: DecodeOptions, plan: @escaping DecodePlanner
    ) throws(WebImageError) -> any ImageDecoder {
        try JPEGDecoder(options, makeInkConverter, plan: plan)
    }

    /// A JPEG with optimised Huffman tables; by default 4:2:0 below quality 90 and 4:4:4 from there on. A picture that
    /// was stored gray and has no colour is written with one channel. Transparent pixels are composited over
    /// `options.background`; an orientation other than upright is written as EXIF.
    ///
    /// - Throws: `cannotEncode` for another format, a side above 65 500, an ICC profile above 16 MiB, EXIF above 64 KiB
    ///   or XMP above that in an unusual form; `limitExceeded` without memory.
    /// - Complexity: memory for the output and, for progressive encoding, two bytes a sample.
    package func encode(
        _ image: Image, as format: ImageFormat, _ options: EncodeOptions
    ) throws(WebImageError) -> [UInt8] {
        guard format == .jpeg else {
            throw WebImageError(.cannotEncode, "the JPEG coder does not write \(format.rawValue)", format: format)
        }
        guard max(image.size.width, image.size.height) <= Self.longestSide else {
            throw WebImageError(
                .cannotEncode, "a JPEG's sides are at most \(Self.longestSide) pixels, this picture is \(image.size)",
                format: .jpeg)
        }
        let quality = min(max(options.quality ?? 80, 1), 100)
        let shared = sharedPixels(options.chroma, quality)
        var metadata = EmbeddedMetadata(
            image, options, formatTells: .density, writesGray: image.alpha == .opaque || options.background.isGray)
        if options.embedsThumbnail { metadata.addThumbnail(try thumbnail(of: image, options)) }
        let extended = metadata.xmp.count > Int(WI_JPEG_LONGEST_XMP) ? ExtendedXMP.naming(metadata.xmp) : nil
        let packet = extended?.packet ?? metadata.xmp
        let named = extended.map { $0.name + metadata.xmp } ?? []
        let photoshop = metadata.iptc.isEmpty ? [] : PhotoshopResources.holding(iptc: metadata.iptc)
        try check(metadata, packet, photoshop)
        let density = metadata.density
        var output = wi_jpeg_output()
        let result = image.withPixels { pixels in
            withBytes(metadata.profile, metadata.exif, packet, named, photoshop) {
                profile, exif, xmp, extended, photoshop in
                guard let base = pixels.bindMemory(to: UInt8.self).baseAddress else { return Int32(0) }
                var picture = wi_jpeg_picture(
                    pixels: base, stride: image.pixels.bytesPerRow, width: UInt32(image.size.width),
                    height: UInt32(image.size.height), is_16_bit: image.layout == .rgba16 ? 1 : 0,
                    alpha: Int32(image.alpha.rawValue),
                    background: (options.background.red, options.background.green, options.background.blue),
                    is_gray: metadata.isGray ? 1 : 0,
                    quality: Int32(quality), chroma_columns: shared.columns, chroma_rows: shared.rows,
                    progressive: options.progressive ? 1 : 0,
                    usual_codes: options.optimizesCoding ? 0 : 1, icc: profile.baseAddress, icc_count: profile.count,
                    exif: exif.baseAddress, exif_count: exif.count, xmp: xmp.baseAddress, xmp_count: xmp.count,
                    extended_xmp: extended.baseAddress, extended_xmp_count: extended.count,
                    photoshop: photoshop.baseAddress, photoshop_count: photoshop.count,
                    density_x: dots(density?.horizontal), density_y: dots(density?.vertical))
                return wi_jpeg_encode(&picture, &output)
            }
        }
        defer { wi_jpeg_free(&output) }
        guard Int(result) == WI_JPEG_READY, let bytes = output.bytes else {
            let isMemory = Int(result) == WI_JPEG_NO_MEMORY
            throw WebImageError(
                isMemory ? .limitExceeded : .cannotEncode,
                isMemory ? "there is no memory to write the JPEG" : "libjpeg: \(text(of: output.message))",
                format: .jpeg)
        }
        return [UInt8](UnsafeBufferPointer(start: bytes, count: output.count))
    }

    /// How many pixels share a sample of colour.
    private func sharedPixels(_ chroma: ChromaSubsampling, _ quality: Int) -> (columns: Int32, rows: Int32) {
        switch chroma {
        case .automatic: quality >= Self.fullChromaQuality ? (1, 1) : (2, 2)
        case .yuv444: (1, 1)
        case .yuv422: (2, 1)
        case .yuv420: (2, 2)
        }
    }

    /// A thumbnail that is stored rotated like the picture, so that one orientation tag is right for both.
    private func thumbnail(of image: Image, _ options: EncodeOptions) throws(WebImageError) -> [UInt8] {
        let side = EncodeOptions.thumbnailSide
        let stored = Image(pixels: image.pixels, info: Image.Info(alpha: image.alpha))
        let small = try stored.resized(to: TargetSize(PixelSize(width: side, height: side)))
        return try encode(small, as: .jpeg, EncodeOptions(background: options.background))
    }

    /// Metadata that does not fit into its markers is refused rather than silently dropped.
    private func check(_ metadata: EmbeddedMetadata, _ packet: [UInt8], _ photoshop: [UInt8]) throws(WebImageError) {
        let pieces = [
            ("ICC profile", metadata.profile.count, Self.longestProfile),
            ("EXIF block", metadata.exif.count, Int(WI_JPEG_LONGEST_EXIF)),
            ("XMP packet", packet.count, Int(WI_JPEG_LONGEST_XMP)),
            ("IPTC block", photoshop.count, Int(WI_JPEG_LONGEST_PHOTOSHOP)),
        ]
        guard let (name, _, _) = pieces.first(where: { $0.1 > $0.2 }) else { return }
        throw WebImageError(.cannotEncode, "the \(name) is too long for a JPEG; leave it out", format: .jpeg)
    }

    private typealias Bytes = UnsafeBufferPointer<UInt8>

    private func withBytes(
        _ first: [UInt8], _ second: [UInt8], _ third: [UInt8], _ fourth: [UInt8], _ fifth: [UInt8],
        _ body: (Bytes, Bytes, Bytes, Bytes, Bytes) -> Int32
    ) -> Int32 {
        first.withUnsafeBufferPointer { first in
            second.withUnsafeBufferPointer { second in
                third.withUnsafeBufferPointer { third in
                    fourth.withUnsafeBufferPointer { fourth in
                        fifth.withUnsafeBufferPointer { fifth in body(first, second, third, fourth, fifth) }
                    }
                }
            }
        }
    }

    private func dots(_ density: Double?) -> UInt16 { density.map { UInt16(min($0.rounded(), 65_535)) } ?? 0 }
}

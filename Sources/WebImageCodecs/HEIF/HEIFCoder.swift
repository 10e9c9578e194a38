#if HEIF
    package import WebImageCore

    /// HEIC and HEIF through libheif: the primary picture, tiled or not; 8, 10 and 12 bits, with and without alpha.
    ///
    /// We parse the boxes ourselves: libheif and libde265 get one HEVC picture at a time, in a file that we write,
    /// after its sizes were checked against the limits. The rows of a tiled picture are decoded tile row by tile row,
    /// also while its bytes arrive. The `clap`, `irot` and `imir` properties are applied: `clap` crops
    /// (``/WebImageCore/ImageHeader/storedSize`` is the size before), the others become the orientation. An EXIF
    /// orientation is ignored, as HEIF demands, but kept with the rest of EXIF and with XMP. Pictures that lie over
    /// each other on a canvas (`iovl`) are drawn with 8 bits, when all have arrived. Items other than HEVC are refused
    /// with `unsupportedFeature`.
    ///
    /// Opaque pictures that are neither cropped nor drawn over each other can be decoded to a half, a quarter and an
    /// eighth of their size: the filters that smooth the edges of blocks are left out, and the planes are made smaller
    /// before they are converted to RGB.
    package struct HEIFCoder: ImageCoder {
        package init() {}

        package var decodableFormats: Set<ImageFormat> { [.heic, .heif] }
        /// Empty when the installed libheif has no HEVC encoder.
        package var encodableFormats: Set<ImageFormat> { HEIFEncoder.isAvailable ? [.heic] : [] }

        package var decodesInOneCall: Bool { true }

        package func scaleDenominators(for header: ImageHeader) -> [Int] {
            [1, 2, 4, 8].filter { $0 <= header.tileDivisor }
        }

        /// Measured as ``/WebImageProcessing/ResizePlan/qualityMargin`` with the filter of the reduction: with 1.5 the
        /// worst photograph has 48 dB, with 2 it has 54 dB.
        package func scalingMargin(for header: ImageHeader, denominator: Int) -> Double { 2 }

        package func makeDecoder(
            _ options: DecodeOptions, plan: @escaping DecodePlanner
        ) throws(WebImageError) -> any ImageDecoder {
            HEIFDecoder(options, plan: plan)
        }

        /// A HEIC still: 8 bits, 10 for 16-bit pictures, colour at half resolution. Quality 60 by default; lossless
        /// encoding is not supported. Premultiplied pictures are written with straight alpha, rotated ones upright.
        /// EXIF and XMP are kept on request.
        ///
        /// - Throws: `cannotEncode` for another format, a picture with a side over 16 384 pixels, or without an
        ///   encoder.
        package func encode(
            _ image: Image, as format: ImageFormat, _ options: EncodeOptions
        ) throws(WebImageError) -> [UInt8] {
            guard format == .heic else {
                throw WebImageError(.cannotEncode, "the HEIF coder does not write \(format.rawValue)", format: format)
            }
            return try HEIFEncoder.encode(image, options)
        }
    }
#endif

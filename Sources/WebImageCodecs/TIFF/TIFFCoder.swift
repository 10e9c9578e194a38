#if TIFF
    package import WebImageCore

    /// TIFF and BigTIFF through libtiff: the page that is asked for, the first by default.
    ///
    /// Grey, RGB and CMYK of 1 to 32 bits, also signed (from their least value on) and with a point (from 0 to 1), in
    /// strips or tiles, side by side or in planes; palettes, YCbCr, LogLuv, and CIE L\*a\*b\* of 8 or 16 bits. Inks become
    /// sRGB as the ICC profile says, if there is one that does. The bytes are collected and decoded once they are all
    /// there, since a TIFF's parts may lie in any order.
    package struct TIFFCoder: ImageCoder {
        package init() {}

        package var decodableFormats: Set<ImageFormat> { [.tiff, .bigTIFF] }
        package var encodableFormats: Set<ImageFormat> { [.tiff, .bigTIFF] }

        package var losslessFormats: Set<ImageFormat> { encodableFormats }

        package var readsPages: Bool { true }
        package var needsWholeFile: Bool { true }

        package func makeDecoder(
            _ options: DecodeOptions, plan: @escaping DecodePlanner
        ) throws(WebImageError) -> any ImageDecoder {
            TIFFDecoder(options, plan: plan)
        }

        /// A TIFF of one page with the same pixels, in strips: RGB for opaque pictures, else RGBA with straight alpha, and
        /// gray in place of RGB where a picture was stored so and has no colour; 16 bits where the picture has them. Deflated with horizontal differences, or as they are with
        /// ``EncodeOptions/compressionLevel`` 0. The orientation stands in its tag, XMP and density in theirs on request;
        /// a block of EXIF, which is a TIFF of its own, is taken apart into tags, and put together again when it is read.
        ///
        /// - Throws: `cannotEncode` for another format and for what is longer than 4 GiB as ``/WebImageCore/ImageFormat/tiff``;
        ///   `limitExceeded` without memory.
        package func encode(
            _ image: Image, as format: ImageFormat, _ options: EncodeOptions
        ) throws(WebImageError) -> [UInt8] {
            guard encodableFormats.contains(format) else {
                throw WebImageError(.cannotEncode, "the TIFF coder does not write \(format.rawValue)", format: format)
            }
            return try TIFFEncoder.encode(image, as: format, options)
        }

        /// Writes the frames of an animation as pages, since a TIFF knows neither time nor loops.
        package func makeAnimationEncoder(
            _ format: ImageFormat, _ animation: AnimationDescription, _ options: EncodeOptions
        ) throws(WebImageError) -> (any AnimationEncoder)? {
            guard encodableFormats.contains(format) else { return nil }
            return TIFFAnimationEncoder(format, animation, options)
        }

        package func makePageEncoder(
            _ format: ImageFormat, _ options: EncodeOptions
        ) throws(WebImageError) -> (any PageEncoder)? {
            encodableFormats.contains(format) ? TIFFPageEncoder(format, options) : nil
        }
    }
#endif

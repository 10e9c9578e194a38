#if TIFF
    package import WebImageCore

    /// TIFF and BigTIFF through libtiff: the requested page, by default the first.
    ///
    /// Reads grey, RGB and CMYK of 1 to 32 bits, also signed (counted from their least value) and floating-point (from
    /// 0 to 1), in strips or tiles, side by side or in planes; palettes, YCbCr, LogLuv, and CIE L\*a\*b\* of 8 or 16
    /// bits. Inks are converted to sRGB by the ICC profile, if there is a usable one. The picture is decoded when all
    /// bytes have arrived, because a TIFF's parts may be in any order.
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

        /// A TIFF of one page with the same pixels, in strips: RGB for opaque pictures, else RGBA with straight alpha,
        /// and gray instead of RGB if a picture was stored gray and has no colour; 16 bits if the picture has them.
        /// Strips are compressed by Deflate with horizontal differences, or stored unchanged if
        /// ``EncodeOptions/compressionLevel`` is 0. The orientation is written to its tag, XMP and density to theirs on
        /// request. An EXIF block, which is a small TIFF, is split into tags, and assembled again when it is read.
        ///
        /// - Throws: `cannotEncode` for another format, and for a ``/WebImageCore/ImageFormat/tiff`` longer than 4 GiB;
        ///   `limitExceeded` without memory.
        package func encode(
            _ image: Image, as format: ImageFormat, _ options: EncodeOptions
        ) throws(WebImageError) -> [UInt8] {
            guard encodableFormats.contains(format) else {
                throw WebImageError(.cannotEncode, "the TIFF coder does not write \(format.rawValue)", format: format)
            }
            return try TIFFEncoder.encode(image, as: format, options)
        }

        /// Writes the frames of an animation as pages. A TIFF stores neither delays nor a loop count.
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

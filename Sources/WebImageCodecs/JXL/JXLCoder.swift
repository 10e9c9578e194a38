#if JXL
    import CSysJXL
    package import WebImageCore

    /// JPEG XL through libjxl: bare codestreams and boxed files, stills and animations.
    ///
    /// For an animation ``/WebImageCore/ImageHeader/frameCount`` is nil until the decoder has seen its end. The decoder
    /// accepts bytes after the first frame, and after the header if only that is requested, at little cost.
    package struct JXLCoder: ImageCoder {
        package init() {}

        package var decodableFormats: Set<ImageFormat> { [.jxl] }
        package var encodableFormats: Set<ImageFormat> { [.jxl] }
        package var losslessFormats: Set<ImageFormat> { encodableFormats }

        package func makeDecoder(
            _ options: DecodeOptions, plan: @escaping DecodePlanner
        ) throws(WebImageError) -> any ImageDecoder {
            try JXLDecoder(options, plan: plan)
        }

        package func makeAnimationDecoder(
            _ format: ImageFormat, _ options: DecodeOptions
        ) throws(WebImageError) -> (any AnimationDecoder)? {
            try JXLAnimationDecoder(options)
        }

        /// A JPEG XL with the picture's orientation and, on request, its profile. Quality 80 by default; 100, like
        /// `isLossless`, keeps every pixel. Alpha is always kept exactly.
        ///
        /// - Throws: `cannotEncode` for another format or when libjxl refuses the picture, `limitExceeded` without
        ///   memory.
        /// - Complexity: the picture once more as RGB when it is opaque, and libjxl's own memory, several times that.
        package func encode(
            _ image: Image, as format: ImageFormat, _ options: EncodeOptions
        ) throws(WebImageError) -> [UInt8] {
            guard format == .jxl else {
                throw WebImageError(
                    .cannotEncode, "the JPEG XL coder does not write \(format.rawValue)", format: format)
            }
            let metadata = EmbeddedMetadata(image, options, formatTells: .orientation)
            let writer = try JXLWriter(
                JXLWriter.Description(
                    size: image.size, bitDepth: image.layout.bitDepth, hasAlpha: image.alpha != .opaque,
                    orientation: image.info.orientation, profile: metadata.profile, color: metadata.color,
                    exif: metadata.exif, xmp: metadata.xmp), options)
            try writer.add(image)
            return writer.takeBytes()
        }

        /// An animated JPEG XL with alpha, delays rounded to milliseconds and, except the last, at least one.
        /// Orientation, depth (8 or 16 bits), colours and metadata are the first frame's.
        package func makeAnimationEncoder(
            _ format: ImageFormat, _ animation: AnimationDescription, _ options: EncodeOptions
        ) throws(WebImageError) -> (any AnimationEncoder)? {
            format == .jxl ? JXLAnimationEncoder(animation, options) : nil
        }
    }
#endif

#if AVIF
    package import WebImageCore

    /// AVIF through libavif: stills, grids and image sequences; 8, 10 and 12 bits, with and without alpha.
    ///
    /// The `clap`, `irot` and `imir` properties are applied: `clap` crops, the others become the orientation. The
    /// colour properties in `nclx` are kept for conversion by others.
    package struct AVIFCoder: ImageCoder {
        package init() {}

        package var decodableFormats: Set<ImageFormat> { [.avif, .avifSequence] }

        package var decodesInOneCall: Bool { true }
        /// Empty when the installed libavif has no encoder.
        package var encodableFormats: Set<ImageFormat> { AVIFEncoder.isAvailable ? [.avif] : [] }
        package var losslessFormats: Set<ImageFormat> { encodableFormats }

        package func makeDecoder(
            _ options: DecodeOptions, plan: @escaping DecodePlanner
        ) throws(WebImageError) -> any ImageDecoder {
            try AVIFDecoder(options, plan: plan)
        }

        package func makeAnimationDecoder(
            _ format: ImageFormat, _ options: DecodeOptions
        ) throws(WebImageError) -> (any AnimationDecoder)? {
            format == .avifSequence ? try AVIFAnimationDecoder(options) : nil
        }

        /// An AVIF still: 8 bits, 10 for 16-bit pictures, 12 if their file has 11 or 12; colour at half resolution
        /// below quality 90. Quality 60 and speed 6 of 10 by default. Premultiplied pictures are written with straight
        /// alpha, the orientation as `irot` and `imir`.
        ///
        /// - Throws: `cannotEncode` for another format, a picture with a side over 65 536 pixels, lossless encoding of
        ///   more than 12 bits, or without an encoder.
        package func encode(
            _ image: Image, as format: ImageFormat, _ options: EncodeOptions
        ) throws(WebImageError) -> [UInt8] {
            guard format == .avif || format == .avifSequence else {
                throw WebImageError(.cannotEncode, "the AVIF coder does not write \(format.rawValue)", format: format)
            }
            let encoder = try AVIFEncoder(options)
            try encoder.add(image, hasAlpha: image.alpha != .opaque)
            return try encoder.finish()
        }

        /// An AVIF image sequence with alpha, a keyframe in 32, delays rounded to milliseconds and at least one, and
        /// the first frame's 8, 10 or 12 bits. The loop count is an edit list in its tracks; nil means once.
        package func makeAnimationEncoder(
            _ format: ImageFormat, _ animation: AnimationDescription, _ options: EncodeOptions
        ) throws(WebImageError) -> (any AnimationEncoder)? {
            guard format == .avifSequence || format == .avif else { return nil }
            return try AVIFAnimationEncoder(animation, options)
        }
    }
#endif

#if HEIF
    package import WebImageCore

    /// HEIC image sequences: libde265 decodes their HEVC pictures, which may depend on each other, and libheif converts
    /// their colours as those of stills; 8, 10 and 12 bits, with and without alpha.
    ///
    /// We parse the boxes ourselves. `clap` crops, and a matrix that turns by quarters becomes the orientation; other
    /// edits of a track are ignored, except how often it is repeated.
    package struct HEICSequenceCoder: ImageCoder {
        package init() {}

        package var decodableFormats: Set<ImageFormat> { [.heicSequence] }

        /// Empty when the installed libheif has no HEVC encoder.
        package var encodableFormats: Set<ImageFormat> { HEIFEncoder.isAvailable ? [.heicSequence] : [] }

        package var decodesInOneCall: Bool { true }

        /// Decodes the first frame.
        package func makeDecoder(
            _ options: DecodeOptions, plan: @escaping DecodePlanner
        ) throws(WebImageError) -> any ImageDecoder {
            HEICSequenceDecoder(options, plan: plan)
        }

        package func makeAnimationDecoder(
            _ format: ImageFormat, _ options: DecodeOptions
        ) throws(WebImageError) -> (any AnimationDecoder)? {
            HEICAnimationDecoder(options)
        }

        /// A sequence of one frame, which is shown for 100 milliseconds; otherwise as
        /// ``HEIFCoder/encode(_:as:_:)`` writes a still.
        ///
        /// - Throws: as for a still.
        package func encode(
            _ image: Image, as format: ImageFormat, _ options: EncodeOptions
        ) throws(WebImageError) -> [UInt8] {
            guard format == .heicSequence else {
                throw WebImageError(
                    .cannotEncode, "the coder of HEIC sequences does not write \(format.rawValue)", format: format)
            }
            let description = AnimationDescription(size: image.displaySize, loopCount: nil)
            let encoder = HEICAnimationEncoder(description, options)
            try encoder.add(image, delay: .milliseconds(100))
            return try encoder.finish()
        }

        /// A HEIC sequence: each frame is a HEVC picture by itself, encoded as ``HEIFCoder`` does a still, so that the
        /// file has the length of as many stills: 8 bits, 10 if the first frame has 16; colour at half resolution,
        /// quality 60 by default. The first frame is also the file's still picture, with the metadata that is kept and
        /// the thumbnail. Delays are rounded to milliseconds and at least one. Alpha is a track of its own, which is
        /// left out if all frames are opaque. The loop count is an edit list in the tracks; nil means once.
        ///
        /// Adding a frame throws `cannotEncode` as for a still, and if the frame has other colours than the first, or
        /// the file would have 4 GiB or more.
        package func makeAnimationEncoder(
            _ format: ImageFormat, _ animation: AnimationDescription, _ options: EncodeOptions
        ) throws(WebImageError) -> (any AnimationEncoder)? {
            format == .heicSequence ? HEICAnimationEncoder(animation, options) : nil
        }
    }
#endif

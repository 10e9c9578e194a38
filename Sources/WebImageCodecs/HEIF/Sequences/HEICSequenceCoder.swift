#if HEIF
    package import WebImageCore

    /// HEIC image sequences: libde265 decodes their HEVC pictures, which may depend on each other, and libheif converts their
    /// colours as those of stills; 8, 10 and 12 bits, with and without alpha.
    ///
    /// We parse the boxes ourselves. `clap` crops, and a matrix that turns by quarters becomes the orientation; other edits
    /// of a track are ignored, except how often it is repeated.
    package struct HEICSequenceCoder: ImageCoder {
        package init() {}

        package var decodableFormats: Set<ImageFormat> { [.heicSequence] }

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
    }
#endif

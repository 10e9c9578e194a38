#if AVIF
    public import WebImageCore

    /// AVIF through libavif: stills, grids and the first frame of sequences; 8, 10 and 12 bits, with and without alpha.
    ///
    /// An `irot` or `imir` property becomes the orientation; `clap` (a crop) is not applied. What `nclx` says
    /// of the colours is kept for others to apply.
    public struct AVIFCoder: ImageCoder {
        public init() {}

        public var decodableFormats: Set<ImageFormat> { [.avif, .avifSequence] }
        /// Empty when the installed libavif has no encoder.
        public var encodableFormats: Set<ImageFormat> { AVIFEncoder.isThere ? [.avif] : [] }

        public func makeDecoder(
            _ options: DecodeOptions, plan: @escaping DecodePlanner
        ) throws(WebImageError) -> any ImageDecoder {
            try AVIFDecoder(options, plan: plan)
        }

        /// An AVIF still: 8 bits, 10 for 16-bit pictures; colour at half resolution below quality 90. Quality 60 unless
        /// it is given. Premultiplied pictures are written straight; an orientation as `irot` and `imir`.
        ///
        /// - Throws: `cannotEncode` for another format, a picture with a side over 65 536 pixels, or without an encoder.
        public func encode(
            _ image: Image, as format: ImageFormat, _ options: EncodeOptions
        ) throws(WebImageError) -> [UInt8] {
            guard format == .avif else {
                throw WebImageError(.cannotEncode, "the AVIF coder does not write \(format.rawValue)", format: format)
            }
            return try AVIFEncoder.encode(image, options)
        }
    }
#endif

#if HEIF
    public import WebImageCore

    /// HEIC and HEIF through libheif: the primary picture, tiled or not; 8 bits and more, with and without alpha.
    ///
    /// `irot` and `imir` properties become the orientation; `clap` (a crop) is not applied, and an EXIF orientation is
    /// not looked at, as HEIF demands. All bytes must be there before anything is known.
    public struct HEIFCoder: ImageCoder {
        public init() {}

        public var decodableFormats: Set<ImageFormat> { [.heic, .heif] }

        public var decodesInOneCall: Bool { true }

        public func makeDecoder(
            _ options: DecodeOptions, plan: @escaping DecodePlanner
        ) throws(WebImageError) -> any ImageDecoder {
            HEIFDecoder(options, plan: plan)
        }
    }
#endif

#if TIFF
    public import WebImageCore

    /// TIFF and BigTIFF through libtiff: the first page.
    ///
    /// Grey, RGB, palette, CMYK and YCbCr of 1 to 16 bits, in strips or tiles; samples that are no unsigned integers
    /// are refused. The bytes are collected and decoded once they are all there, since a TIFF's parts may lie in any
    /// order.
    public struct TIFFCoder: ImageCoder {
        public init() {}

        public var decodableFormats: Set<ImageFormat> { [.tiff, .bigTIFF] }

        public func makeDecoder(
            _ options: DecodeOptions, plan: @escaping DecodePlanner
        ) throws(WebImageError) -> any ImageDecoder {
            TIFFDecoder(options, plan: plan)
        }
    }
#endif

#if JXL
    import CSysJXL
    public import WebImageCore

    /// JPEG XL through libjxl: bare codestreams and boxed files; of an animation the first frame.
    public struct JXLCoder: ImageCoder {
        public init() {}

        public var decodableFormats: Set<ImageFormat> { [.jxl] }
        public var encodableFormats: Set<ImageFormat> { [.jxl] }

        public func makeDecoder(
            _ options: DecodeOptions, plan: @escaping DecodePlanner
        ) throws(WebImageError) -> any ImageDecoder {
            try JXLDecoder(options, plan: plan)
        }

        /// A JPEG XL with the picture's orientation and, if wished, its profile. Quality 80 unless `options` say
        /// otherwise; 100 keeps every pixel. Alpha is always kept exactly.
        ///
        /// - Throws: `cannotEncode` for another format or when libjxl refuses the picture, `limitExceeded` without
        ///   memory.
        /// - Complexity: the picture once more as RGB when it is opaque, and libjxl's own memory, several times that.
        public func encode(
            _ image: Image, as format: ImageFormat, _ options: EncodeOptions
        ) throws(WebImageError) -> [UInt8] {
            guard format == .jxl else {
                throw WebImageError(
                    .cannotEncode, "the JPEG XL coder does not write \(format.rawValue)", format: format)
            }
            return try JXLEncoding(image, options).run()
        }
    }
#endif

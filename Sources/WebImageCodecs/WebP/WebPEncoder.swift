import CSysWebP
import WebImageCore

/// One run of libwebp's encoder.
struct WebPEncoder {
    /// libwebp's middle between speed and size for lossy pictures, of 0 to 6.
    private static let method: Int32 = 4
    /// For animations: half the time of the above, for files 1 % longer.
    static let animationMethod: Int32 = 2
    /// The same for lossless ones, of 0 to 9.
    private static let losslessLevel: Int32 = 6

    private(set) var config = WebPConfig()

    /// - Parameter method: of lossy pictures where the options say none.
    init(_ options: EncodeOptions, method: Int32 = Self.method) throws(WebImageError) {
        guard WebPConfigInit(&config) != 0 else { throw Self.otherVersion }
        // Two halves are analysed at a time, or alpha in parallel to colour.
        defer { config.thread_level = (options.context.idleThreads?.idleCount ?? 0) > 0 ? 1 : 0 }
        if options.isLossless {
            _ = WebPConfigLosslessPreset(&config, Self.losslessLevel)
            config.exact = 1
        } else {
            try options.checkChroma([.yuv420], .webp)
            let quality = Float(min(max(options.quality ?? 80, 1), 100))
            guard WebPConfigPreset(&config, options.webpContent.preset, quality) != 0 else { throw Self.otherVersion }
            config.method = options.webpEffort.map { Int32(min(max($0, 0), 6)) } ?? method
        }
    }

    /// Gives `body` libwebp's picture of some pixels; straight alpha, 8 bits.
    static func withPicture<Result>(
        of pixels: PixelBuffer, isOpaque: Bool, argb: Bool,
        _ body: (inout WebPPicture) throws(WebImageError) -> Result
    ) throws(WebImageError) -> Result {
        var picture = WebPPicture()
        guard WebPPictureInit(&picture) != 0 else { throw otherVersion }
        defer { WebPPictureFree(&picture) }
        picture.use_argb = argb ? 1 : 0
        picture.width = Int32(pixels.size.width)
        picture.height = Int32(pixels.size.height)
        let take = isOpaque ? WebPPictureImportRGBX : WebPPictureImportRGBA
        let isTaken = withExtendedLifetime(pixels) {
            take(&picture, UnsafePointer(pixels.base.assumingMemoryBound(to: UInt8.self)), Int32(pixels.bytesPerRow))
                != 0
        }
        guard isTaken else { throw error(picture.error_code) }
        return try body(&picture)
    }

    /// A simple or extended WebP without metadata.
    func encode(_ pixels: PixelBuffer, isOpaque: Bool) throws(WebImageError) -> [UInt8] {
        // The picture keeps the writer's address, so it must not move.
        let writer = UnsafeMutablePointer<WebPMemoryWriter>.allocate(capacity: 1)
        WebPMemoryWriterInit(writer)
        defer {
            WebPMemoryWriterClear(writer)
            writer.deallocate()
        }
        let isLossless = config.lossless != 0
        return try Self.withPicture(of: pixels, isOpaque: isOpaque, argb: isLossless) {
            (picture) throws(WebImageError) in
            picture.writer = WebPMemoryWrite
            picture.custom_ptr = UnsafeMutableRawPointer(writer)
            var config = self.config
            guard WebPEncode(&config, &picture) != 0, let bytes = writer.pointee.mem else {
                throw Self.error(picture.error_code)
            }
            return [UInt8](UnsafeBufferPointer(start: bytes, count: writer.pointee.size))
        }
    }

    static func error(_ code: WebPEncodingError) -> WebImageError {
        switch code {
        case VP8_ENC_ERROR_OUT_OF_MEMORY, VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY:
            WebImageError(.limitExceeded, "there is no memory to write the WebP", format: .webp)
        case VP8_ENC_ERROR_PARTITION0_OVERFLOW, VP8_ENC_ERROR_PARTITION_OVERFLOW:
            failed("the picture has too much detail for the format at this quality")
        default: failed("error \(code.rawValue)")
        }
    }

    private static var otherVersion: WebImageError { failed("its version is another one than was built with") }

    static func failed(_ what: String) -> WebImageError {
        WebImageError(.cannotEncode, "libwebp: \(what)", format: .webp)
    }
}

extension WebPContent {
    fileprivate var preset: WebPPreset {
        switch self {
        case .picture: WEBP_PRESET_DEFAULT
        case .portrait: WEBP_PRESET_PICTURE
        case .photo: WEBP_PRESET_PHOTO
        case .drawing: WEBP_PRESET_DRAWING
        case .icon: WEBP_PRESET_ICON
        case .text: WEBP_PRESET_TEXT
        }
    }
}

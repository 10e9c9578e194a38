import CSysWebP
import WebImageCore

/// One run of libwebp's lossy encoder.
struct WebPEncoder {
    /// libwebp's middle between speed and size, of 0 to 6.
    private static let method: Int32 = 4

    private var config = WebPConfig()

    init(quality: Int) throws(WebImageError) {
        guard WebPConfigInit(&config) != 0 else { throw Self.failed("its version is another one than was built with") }
        config.quality = Float(quality)
        config.method = Self.method
    }

    /// A simple or extended WebP without metadata.
    func encode(_ pixels: PixelBuffer, isOpaque: Bool) throws(WebImageError) -> [UInt8] {
        var picture = WebPPicture()
        guard WebPPictureInit(&picture) != 0 else {
            throw Self.failed("its version is another one than was built with")
        }
        picture.width = Int32(pixels.size.width)
        picture.height = Int32(pixels.size.height)
        // The picture keeps the writer's address, so that it may not move.
        let writer = UnsafeMutablePointer<WebPMemoryWriter>.allocate(capacity: 1)
        WebPMemoryWriterInit(writer)
        defer {
            WebPPictureFree(&picture)
            WebPMemoryWriterClear(writer)
            writer.deallocate()
        }
        picture.writer = WebPMemoryWrite
        picture.custom_ptr = UnsafeMutableRawPointer(writer)
        let source = UnsafePointer(pixels.base.assumingMemoryBound(to: UInt8.self))
        let take = isOpaque ? WebPPictureImportRGBX : WebPPictureImportRGBA
        var config = self.config
        let isDone = withExtendedLifetime(pixels) {
            take(&picture, source, Int32(pixels.bytesPerRow)) != 0 && WebPEncode(&config, &picture) != 0
        }
        guard isDone, let bytes = writer.pointee.mem else { throw Self.error(picture.error_code) }
        return [UInt8](UnsafeBufferPointer(start: bytes, count: writer.pointee.size))
    }

    private static func error(_ code: WebPEncodingError) -> WebImageError {
        switch code {
        case VP8_ENC_ERROR_OUT_OF_MEMORY, VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY:
            WebImageError(.limitExceeded, "there is no memory to write the WebP", format: .webp)
        case VP8_ENC_ERROR_PARTITION0_OVERFLOW, VP8_ENC_ERROR_PARTITION_OVERFLOW:
            failed("the picture has too much detail for the format at this quality")
        default: failed("error \(code.rawValue)")
        }
    }

    private static func failed(_ what: String) -> WebImageError {
        WebImageError(.cannotEncode, "libwebp: \(what)", format: .webp)
    }
}

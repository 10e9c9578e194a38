import CSysWebP
import Synchronization
import WebImageCore
import WebImageSystem

/// One run of libwebp's encoder.
struct WebPEncoder {
    /// libwebp's compromise between speed and size for lossy pictures, of 0 to 6.
    private static let method: Int32 = 4
    /// For animations: half the time of `method`, for files that are 1 % longer.
    static let animationMethod: Int32 = 2
    /// The compromise for lossless pictures, of 0 to 9.
    private static let losslessLevel: Int32 = 6

    private(set) var config = WebPConfig()
    private let checkpoint: (@Sendable () throws(WebImageError) -> Void)?

    /// - Parameter method: for lossy pictures, if the options do not contain one.
    init(_ options: EncodeOptions, method: Int32 = Self.method) throws(WebImageError) {
        checkpoint = options.context.checkpoint
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

    /// Calls `body` with the pixels as a picture of libwebp. They must have straight alpha and 8 bits.
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
            let interruption = Interruption(checkpoint)
            picture.user_data = Unmanaged.passUnretained(interruption).toOpaque()
            picture.progress_hook = { _, picture in Interruption.check(picture?.pointee.user_data) }
            var config = self.config
            let isDone = withExtendedLifetime(interruption) { WebPEncode(&config, &picture) != 0 }
            guard isDone, let bytes = writer.pointee.mem else {
                throw interruption.error ?? Self.error(picture.error_code)
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

/// Ends an encode that is cancelled.
private final class Interruption: Sendable {
    private let checkpoint: (@Sendable () throws(WebImageError) -> Void)?
    private let reason = Guarded<WebImageError?>(nil)

    /// The checkpoint's error.
    var error: WebImageError? { reason.withLock { $0 } }

    init(_ checkpoint: (@Sendable () throws(WebImageError) -> Void)?) { self.checkpoint = checkpoint }

    /// Called by libwebp after each percent or two of its work.
    ///
    /// - Parameter interruption: an instance.
    /// - Returns: 0 to end it.
    static func check(_ interruption: UnsafeMutableRawPointer?) -> Int32 {
        guard let interruption else { return 1 }
        let found = Unmanaged<Interruption>.fromOpaque(interruption).takeUnretainedValue()
        do throws(WebImageError) {
            try found.checkpoint?()
            return 1
        } catch {
            found.reason.withLock { $0 = error }
            return 0
        }
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

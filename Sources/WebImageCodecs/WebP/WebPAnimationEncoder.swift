import CSysWebP
import WebImageCore
import WebImageProcessing

/// Writes an animated WebP through libwebpmux, which encodes the changed rectangle of each frame.
///
/// Equal consecutive frames become one with a longer duration; a single frame becomes a still. No keyframes are forced:
/// they cost a third more time and space, and our decoder keeps canvases for seeking.
final class WebPAnimationEncoder: AnimationEncoder {
    /// Durations have 24 bits (RFC 9649, 2.7.1.1), and libwebpmux refuses the last value.
    private static let longestDelay = (1 << 24) - 2

    private let size: PixelSize
    private let options: EncodeOptions
    private let config: WebPConfig
    private let handle: OpaquePointer
    private var metadata: EmbeddedMetadata?
    /// Whether a pixel of any frame is not opaque.
    private var hasAlpha = false
    private var clock = DelayClock(longest: longestDelay)
    /// When the next frame begins, in milliseconds.
    private var time = 0

    init(_ animation: AnimationDescription, _ options: EncodeOptions) throws(WebImageError) {
        size = animation.size
        self.options = options
        config = try WebPEncoder(options, method: WebPEncoder.animationMethod).config
        var settings = WebPAnimEncoderOptions()
        guard WebPAnimEncoderOptionsInit(&settings) != 0 else {
            throw WebPEncoder.failed("its version is another one than was built with")
        }
        settings.anim_params.bgcolor = 0
        settings.anim_params.loop_count = Int32(min(max(animation.loopCount ?? 1, 0), 65_535))
        guard let handle = WebPAnimEncoderNew(Int32(size.width), Int32(size.height), &settings) else {
            throw WebImageError(.limitExceeded, "there is no memory to write an animated WebP", format: .webp)
        }
        self.handle = handle
    }

    deinit { WebPAnimEncoderDelete(handle) }

    func add(_ frame: Image, delay: Duration) throws(WebImageError) {
        guard frame.size == size else {
            throw WebImageError(.cannotEncode, "a frame is \(frame.size), the animation is \(size)", format: .webp)
        }
        let start = Int32(time)
        let next = time + clock.ticks(delay)
        guard next <= Int(Int32.max) else {
            throw WebImageError(.cannotEncode, "an animated WebP lasts at most 24 days", format: .webp)
        }
        if metadata == nil { metadata = EmbeddedMetadata(frame, options) }
        let pixels = try frame.straightBytes(for: options)
        hasAlpha = hasAlpha || frame.alpha != .opaque && !pixels.isOpaque
        var config = config
        try WebPEncoder.withPicture(of: pixels, isOpaque: frame.alpha == .opaque, argb: true) {
            (picture) throws(WebImageError) in
            guard WebPAnimEncoderAdd(handle, &picture, start, &config) != 0 else { throw failure(picture.error_code) }
        }
        time = next
    }

    func finish() throws(WebImageError) -> [UInt8] {
        guard let metadata else {
            throw WebImageError(.cannotEncode, "an animation needs a frame", format: .webp)
        }
        var output = WebPData()
        defer { WebPDataClear(&output) }
        guard WebPAnimEncoderAdd(handle, nil, Int32(time), nil) != 0, WebPAnimEncoderAssemble(handle, &output) != 0,
            let bytes = output.bytes
        else { throw failure(VP8_ENC_OK) }
        var file = [UInt8](UnsafeBufferPointer(start: bytes, count: output.size))
        if !metadata.isEmpty { file = try WebPContainer.wrap(file, metadata) }
        // libwebpmux checks the stored rectangles, which may be opaque on a canvas that is not.
        if hasAlpha { WebPContainer.announceAlpha(&file) }
        return file
    }

    private func failure(_ code: WebPEncodingError) -> WebImageError {
        if code != VP8_ENC_OK { return WebPEncoder.error(code) }
        let told = WebPAnimEncoderGetError(handle).map { String(cString: $0) } ?? ""
        return WebPEncoder.failed(told.isEmpty ? "the animation cannot be written" : told)
    }
}

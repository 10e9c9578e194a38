import WebImageCore

/// The encoder of a still, used like that of an animation with one frame.
final class StillEncoder: AnimationEncoder {
    private let coder: any ImageCoder
    private let format: ImageFormat
    private let options: EncodeOptions
    private var picture: Image?

    init(_ coder: any ImageCoder, _ format: ImageFormat, _ options: EncodeOptions) {
        self.coder = coder
        self.format = format
        self.options = options
    }

    func add(_ picture: Image, delay: Duration) { self.picture = picture }

    func finish() throws(WebImageError) -> [UInt8] {
        guard let picture else { throw WebImageError(.cannotEncode, "there is no picture", format: format) }
        return try coder.encode(picture, as: format, options)
    }
}

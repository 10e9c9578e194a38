import WebImageCore

extension EncodeOptions {
    /// - Throws: `cannotEncode` if the encoding must be lossless, and the picture has more than the format's 8 bits a
    ///   channel.
    func checkDepth(of image: Image, _ format: ImageFormat) throws(WebImageError) {
        guard isLossless, image.layout == .rgba16 else { return }
        throw WebImageError(
            .cannotEncode, "\(format.rawValue) has 8 bits a channel: a picture of 16 cannot be lossless",
            format: format)
    }

    /// - Throws: `cannotEncode` if the encoding must be lossless, and an animation's file has more bits than its frames
    ///   are decoded or written with.
    func checkDepth(ofFrames image: Image, _ format: ImageFormat) throws(WebImageError) {
        guard isLossless, image.layout == .rgba16 else { return }
        if let source = image.info.format, !source.has(.deepFrames) {
            throw WebImageError(
                .cannotEncode,
                "the frames of \(source.rawValue) are decoded with 8 bits a channel: the animation cannot be lossless; "
                    + "ask for the first frame alone", format: format)
        }
        guard format.has(.deepFrames) else {
            throw WebImageError(
                .cannotEncode,
                "the frames of \(format.rawValue) are written with 8 bits a channel: an animation of more cannot be "
                    + "lossless; ask for the first frame alone, or for JPEG XL", format: format)
        }
    }
}

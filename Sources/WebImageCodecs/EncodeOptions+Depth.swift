import WebImageCore

extension EncodeOptions {
    /// - Throws: `cannotEncode` if nothing may be lost, and the picture has more bits than a format of 8 bits a channel.
    func checkDepth(of image: Image, _ format: ImageFormat) throws(WebImageError) {
        guard isLossless, image.layout == .rgba16 else { return }
        throw WebImageError(
            .cannotEncode, "\(format.rawValue) has 8 bits a channel: a picture of 16 cannot be lossless",
            format: format)
    }

    /// Frames of animations are decoded and written with 8 bits a channel.
    ///
    /// - Throws: `cannotEncode` if nothing may be lost, and the file of the animation has more bits.
    func checkDepth(ofFrames image: Image, _ format: ImageFormat) throws(WebImageError) {
        let bits = image.info.header?.bitDepth ?? image.layout.bitDepth
        guard isLossless, bits > 8 else { return }
        throw WebImageError(
            .cannotEncode,
            "animations are written with 8 bits a channel: one of \(bits) cannot be lossless; ask for the first frame "
                + "alone", format: format)
    }
}

import WebImage

extension ImageRequest {
    /// Whether a picture is decoded with all of its bits to be written in a format. With 8 bits it takes half the memory.
    ///
    /// For formats of 8 bits, more are of use to steps of a transform, and are necessary to refuse a loss. Colours are
    /// converted with all bits in any case.
    ///
    /// - Parameter format: the output's; nil: not known.
    func needsBitDepth(for format: ImageFormat?, isLossless: Bool) -> Bool {
        guard let format, !format.has(.manyBits), !isLossless else { return true }
        return !options.transformers.isEmpty
    }
}

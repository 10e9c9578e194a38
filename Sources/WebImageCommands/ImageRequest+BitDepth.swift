import WebImage

extension ImageRequest {
    /// Whether a picture must be decoded with its full bit depth to be written in a format. With 8 bits it takes half
    /// the memory.
    ///
    /// For output with 8 bits, more bits improve the steps of a transform, and are necessary to refuse a loss. Colours
    /// are converted with all bits in any case.
    ///
    /// - Parameter format: the format of the output; nil if it is unknown.
    func needsBitDepth(for format: ImageFormat?, isLossless: Bool) -> Bool {
        guard let format, !format.has(.manyBits), !isLossless else { return true }
        return !options.transformers.isEmpty
    }
}

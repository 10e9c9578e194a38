import WebImage

extension ImageManager {
    /// Whether a picture is decoded with all of its bits to be written in a format. With 8 bits it takes half the memory.
    ///
    /// For formats of 8 bits, more are of use to steps of a transform and for the conversion of colours, and are necessary
    /// to refuse a loss. For remote pictures, whose header would take a request of its own, a conversion is assumed.
    ///
    /// - Parameter format: the output's; nil: not known.
    func needsBitDepth(of request: ImageRequest, for format: ImageFormat?, isLossless: Bool) async -> Bool {
        guard let format, !format.holdsManyBits, !isLossless, request.transformers.isEmpty else { return true }
        guard request.decoding.convertsToSRGB else { return false }
        guard request.isLocal, let header = try? await details(for: request).header else { return true }
        return header.colors.map { $0 != .described(.sRGB) } ?? false
    }
}

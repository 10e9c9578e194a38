package import WebImageCore
import WebImageProcessing

/// A picture, and the error if a part of it is missing.
package struct DecodedPicture: Sendable {
    package let image: Image
    /// `truncatedData` when the data ended early and `image` is a part of the picture; else nil.
    package let error: WebImageError?
}

extension CoderRegistry {
    /// Decodes a picture in full size from complete bytes.
    ///
    /// - Parameter coder: used instead of the registry's coders.
    /// - Returns: the picture, or its available part; missing rows are transparent black.
    /// - Throws: `unknownFormat`, `formatNotBuilt`, `corruptData`, `unsupportedFeature`, `limitExceeded`,
    ///   `truncatedData` if not even one row is available, and errors of the checkpoint.
    /// - Complexity: the picture's memory; the same again for interlaced pictures and twice that for several scans.
    package func decode(
        _ bytes: UnsafeRawBufferPointer, _ options: DecodeOptions = DecodeOptions(), coder: (any ImageCoder)? = nil
    ) throws(WebImageError) -> DecodedPicture {
        let chosen: any ImageCoder
        if let coder {
            chosen = coder
        } else {
            chosen = try self.coder(for: ImageFormat(sniffing: bytes), prefix: bytes)
        }
        let sink = PixelBufferSink()
        let decoder = try chosen.makeDecoder(options) { (_) throws(WebImageError) in DecodePlan(sink: sink) }
        let error = try Self.run(decoder, bytes)
        guard let header = decoder.header, let pixels = sink.buffer, let format = sink.format, sink.rowsDone > 0 else {
            throw error ?? WebImageError(.truncatedData, "the data ends before the picture begins")
        }
        let hasAllRows = sink.rowsDone >= pixels.size.height
        sink.clearMissingRows()
        let colors = header.colorsOfPixels
        let info = Image.Info(
            header: header, alpha: hasAllRows ? format.alpha : .straight, orientation: header.orientation,
            iccProfile: colors.profile, colorDescription: colors.description, isPartial: error != nil)
        return DecodedPicture(image: Image(pixels: pixels, info: info), error: error)
    }

    /// Pushes everything.
    ///
    /// - Returns: an error that the data ended early; any other failure is thrown.
    private static func run(
        _ decoder: any ImageDecoder, _ bytes: UnsafeRawBufferPointer
    ) throws(WebImageError) -> WebImageError? {
        do throws(WebImageError) {
            _ = try decoder.push(bytes)
            try decoder.finish()
            return nil
        } catch {
            guard error.code == .truncatedData else { throw error }
            return error
        }
    }
}

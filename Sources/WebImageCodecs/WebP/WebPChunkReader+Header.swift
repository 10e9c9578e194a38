import WebImageCore

extension WebPChunkReader {
    /// The header of a picture whose first chunk has begun.
    func header(_ canvas: PixelSize, hasAlpha: Bool) -> ImageHeader {
        var header = ImageHeader(
            format: .webp, size: canvas, hasAlpha: hasAlpha || frame.map { $0.size != canvas } ?? false,
            iccProfile: iccProfile)
        header.loopCount = isAnimated ? loopCount : nil
        return header
    }

    /// Checks that the sizes in a file agree, before libwebp allocates memory for one of them.
    ///
    /// - Throws: `corruptData`, `limitExceeded`.
    func check(_ bitstream: WebPBitstreamHeader, _ limits: DecodeLimits) throws(WebImageError) {
        try limits.check(bitstream.size, of: .webp)
        guard let told = frame?.size ?? canvas, told != bitstream.size else { return }
        throw WebImageError(
            .corruptData, "the WebP says it is \(told), its picture is \(bitstream.size)", format: .webp)
    }
}

extension ImageHeader {
    /// Adds the information that may follow the picture.
    mutating func learn(from chunks: WebPChunkReader) {
        if chunks.exif != nil || chunks.xmp != nil {
            metadata = ImageMetadata(readingEXIF: chunks.exif, xmp: chunks.xmp)
            orientation = metadata.orientation
        }
        if chunks.isAnimated { frameCount = chunks.isAtEnd ? chunks.frames : nil }
    }
}

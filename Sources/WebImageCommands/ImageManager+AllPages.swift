import WebImage

extension ImageManager {
    /// Encodes a picture. If it is the first page of a TIFF and the format has pages, the other pages are encoded too.
    ///
    /// - Parameters:
    ///   - response: the picture; with its bytes if pages may be wanted.
    ///   - settings: the request of which `response` is the result.
    /// - Throws: `cannotEncode`, also if pages would be lost although nothing may be; errors of loading the pages.
    func encode(
        _ response: ImageResponse, allPagesOf settings: ImageRequest, as format: ImageFormat, _ options: EncodeOptions
    ) async throws(WebImageError) -> [UInt8] {
        let pageCount = settings.decoding.firstFrameOnly ? 1 : response.header?.pageCount ?? 1
        guard pageCount > 1, let data = response.data, coders.writesPages(format) else {
            try CoderRegistry.refuseLoss(of: pageCount, "pages", format, options)
            return try await encode(response.image, as: format, options)
        }
        let most = settings.decoding.limits.frames
        guard pageCount <= most else {
            throw WebImageError(
                .limitExceeded, "the TIFF has more than \(most) pages; --first-frame writes the first one",
                format: .tiff)
        }
        let others = settings.reading(data, pages: 1..<pageCount)
        return try await encode(response.image, andPages: others, as: format, options)
    }
}

extension ImageHeader {
    fileprivate var pageCount: Int { [.tiff, .bigTIFF].contains(format) ? frameCount ?? 1 : 1 }
}

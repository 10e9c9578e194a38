import WebImage

extension ImageManager {
    /// A picture's bytes in a format, with the pages behind it where it is the first of a TIFF's and the format has pages.
    ///
    /// - Parameters:
    ///   - response: with its bytes, where pages may be wanted.
    ///   - settings: the request that it answers.
    /// - Throws: `cannotEncode`, also when nothing shall be lost and pages would be; what loading the pages throws.
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

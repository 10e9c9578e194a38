import WebImage

extension ImageManager {
    /// Encodes a picture. If it is the first page of a TIFF and the format has pages, the other pages are encoded too.
    ///
    /// - Parameters:
    ///   - response: the picture; with its bytes if pages may be wanted.
    ///   - settings: the request of which `response` is the result.
    ///   - onPartial: called with the reason if some of the other pages are incomplete or missing, which `settings` may
    ///     allow.
    /// - Throws: `cannotEncode`, also if pages would be lost although nothing may be; errors of loading the pages.
    func encode(
        _ response: ImageResponse, allPagesOf settings: ImageRequest, as format: ImageFormat, _ options: EncodeOptions,
        onPartial: (WebImageError) -> Void
    ) async throws(WebImageError) -> [UInt8] {
        if !settings.decoding.firstFrameOnly, coders.writesPages(format), let error = response.missingPages(settings) {
            guard settings.decoding.allowsPartial else { throw error }
            onPartial(error)
        }
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
        return try await encode(
            response.image, andPages: others, as: format, options, leavesOutDamaged: true, onPartial: onPartial)
    }

    /// Decodes the other pages of a TIFF that is written unchanged, to see whether they are whole.
    func checkPages(of response: ImageResponse, _ settings: ImageRequest) async throws(WebImageError) {
        if let error = response.missingPages(settings) { throw error }
        guard let data = response.data, let header = response.header else { return }
        try await checkPages(of: data, header, settings)
    }
}

extension ImageResponse {
    /// Why the last pages of a TIFF cannot be found, and what can be done; nil if nothing says that there are more.
    fileprivate func missingPages(_ settings: ImageRequest) -> WebImageError? {
        guard let data, let error = header?.missingPages(in: data, limit: settings.decoding.limits.frames) else {
            return nil
        }
        return WebImageError(error.code, error.message + "; --first-frame writes the first one", format: .tiff)
    }
}

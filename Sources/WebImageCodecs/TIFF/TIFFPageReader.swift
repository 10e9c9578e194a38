#if TIFF
    package import WebImageCore
    import WebImageProcessing

    /// Decodes the pages of a complete TIFF, in any order. Not thread-safe.
    package final class TIFFPageReader {
        /// The number of pages, at least 1.
        package var pageCount: Int { directories.count }
        private let bytes: [UInt8]
        private let options: DecodeOptions
        private let directories: [UInt64]

        /// Finds the pages; none is decoded.
        ///
        /// - Throws: `limitExceeded` when there are more pages than `DecodeLimits.frames`, or bytes than
        ///   `DecodeLimits.bytes`; `corruptData` when the chain of pages goes in circles; `truncatedData` when the data
        ///   ends before the first page.
        package init(_ bytes: [UInt8], _ options: DecodeOptions = DecodeOptions()) throws(WebImageError) {
            try options.limits.check(byteCount: bytes.count, of: .tiff)
            let pages = bytes.withUnsafeBytes { TIFFPages(in: $0, limit: options.limits.frames) }
            guard !pages.goesInCircles else {
                throw WebImageError(.corruptData, "the TIFF's pages go in circles", format: .tiff)
            }
            guard !pages.isCutOff else {
                throw WebImageError(
                    over: .frames, "the TIFF has more than \(options.limits.frames) pages", format: .tiff)
            }
            guard !pages.directories.isEmpty else {
                throw WebImageError(.truncatedData, "the TIFF ends before its first page", format: .tiff)
            }
            self.bytes = bytes
            self.options = options
            directories = pages.directories
        }

        /// A page with its own size, alpha, orientation and profile; pages may differ in each.
        ///
        /// - Parameter index: 0 is the first; at least 0 and below ``pageCount``.
        /// - Throws: `limitExceeded` when the page has more pixels than allowed, `truncatedData` when the page is
        ///   incomplete, and other errors of decoding.
        /// - Complexity: the page's pixels, whatever the index. Memory: the page, and one strip or row of tiles.
        package func readPage(_ index: Int) throws(WebImageError) -> Image {
            precondition(directories.indices.contains(index), "a page was asked for that the TIFF does not have")
            let sink = PixelBufferSink()
            let page = TIFFPageDecoder(options) { (_) throws(WebImageError) in DecodePlan(sink: sink) }
            try bytes.withUnsafeBufferPointer { buffer throws(WebImageError) in
                try page.decode(
                    UnsafeRawBufferPointer(buffer), directory: directories[index], pageCount: directories.count)
            }
            guard let header = page.header, let pixels = sink.buffer, let format = sink.format else {
                throw WebImageError(.corruptData, "the TIFF's page \(index + 1) has no pixels", format: .tiff)
            }
            let colors = header.colorsOfPixels
            let info = Image.Info(
                header: header, alpha: format.alpha, orientation: header.orientation, iccProfile: colors.profile,
                colorDescription: colors.description)
            return Image(pixels: pixels, info: info)
        }
    }
#endif

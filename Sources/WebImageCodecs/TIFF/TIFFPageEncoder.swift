#if TIFF
    import WebImageCore

    /// Writes pictures as the pages of a TIFF, each with its own size, depth, orientation and profile. The first one's
    /// EXIF applies to all.
    final class TIFFPageEncoder: PageEncoder {
        private let format: ImageFormat
        private let options: EncodeOptions
        private var exif: EXIFFields?
        /// Made with the first page, whose EXIF determines the byte order.
        private var pages: TIFFEncoder?

        init(_ format: ImageFormat, _ options: EncodeOptions) {
            self.format = format
            self.options = options
        }

        func add(_ page: Image) throws(WebImageError) {
            let metadata = EmbeddedMetadata(
                page, options, formatTells: [.orientation, .orientationTag, .density], writesGray: true)
            if pages == nil {
                exif = metadata.exif.withUnsafeBytes { EXIFFields($0, limit: $0.count) }
                // EXIF values are copied unchanged.
                pages = try TIFFEncoder(format, options, isBigEndian: exif?.layout.isBigEndian ?? false)
            }
            try pages?.add(page, metadata)
        }

        func finish() throws(WebImageError) -> [UInt8] {
            guard let pages else {
                throw WebImageError(.cannotEncode, "a TIFF without pages cannot be written", format: format)
            }
            var bytes = try pages.finish()
            exif?.add(to: &bytes)
            return bytes
        }
    }
#endif

#if TIFF
    import WebImageCore

    /// Writes the frames of an animation as the pages of a TIFF, each with the first one's EXIF.
    final class TIFFAnimationEncoder: AnimationEncoder {
        private let format: ImageFormat
        private let animation: AnimationDescription
        private let options: EncodeOptions
        private var exif: EXIFFields?
        /// Made with the first frame, whose EXIF says in which byte order.
        private var pages: TIFFEncoder?

        init(_ format: ImageFormat, _ animation: AnimationDescription, _ options: EncodeOptions) {
            self.format = format
            self.animation = animation
            self.options = options
        }

        func add(_ frame: Image, delay: Duration) throws(WebImageError) {
            let page = try animation.plain(frame, format)
            let metadata = EmbeddedMetadata(page, options, formatTells: [.orientation, .density])
            if pages == nil {
                exif = metadata.exif.withUnsafeBytes { EXIFFields($0, limit: $0.count) }
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

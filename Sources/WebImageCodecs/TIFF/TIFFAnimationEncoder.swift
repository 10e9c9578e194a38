#if TIFF
    import WebImageCore

    /// Writes the frames of an animation as the pages of a TIFF.
    final class TIFFAnimationEncoder: AnimationEncoder {
        private let format: ImageFormat
        private let animation: AnimationDescription
        private let pages: TIFFPageEncoder

        init(_ format: ImageFormat, _ animation: AnimationDescription, _ options: EncodeOptions) {
            self.format = format
            self.animation = animation
            pages = TIFFPageEncoder(format, options)
        }

        func add(_ frame: Image, delay: Duration) throws(WebImageError) {
            try pages.add(try animation.upright(frame, format))
        }

        func finish() throws(WebImageError) -> [UInt8] { try pages.finish() }
    }
#endif

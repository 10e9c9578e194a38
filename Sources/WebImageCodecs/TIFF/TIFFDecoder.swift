#if TIFF
    import WebImageCore

    /// Collects a TIFF's bytes and decodes its first page when they are all there.
    final class TIFFDecoder: ImageDecoder {
        var header: ImageHeader? { page.header }
        private let options: DecodeOptions
        private let page: TIFFPageDecoder
        private var bytes: [UInt8] = []
        private var isFinished = false

        init(_ options: DecodeOptions, plan: @escaping DecodePlanner) {
            self.options = options
            page = TIFFPageDecoder(options, plan: plan)
        }

        func push(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) -> DecodeState {
            guard !isFinished else { return .complete }
            try options.checkpoint?()
            guard bytes.count <= options.limits.bytes.bytes - self.bytes.count else {
                throw WebImageError(
                    .limitExceeded,
                    "the TIFF is longer than \(options.limits.bytes); raise DecodeLimits.bytes to allow it",
                    format: .tiff)
            }
            self.bytes.append(contentsOf: bytes)
            return .needsBytes
        }

        func finish() throws(WebImageError) {
            guard !isFinished else { return }
            isFinished = true
            let bytes = self.bytes
            self.bytes = []
            try bytes.withUnsafeBufferPointer { buffer throws(WebImageError) in
                let bytes = UnsafeRawBufferPointer(buffer)
                let pages = TIFFPages(in: bytes, limit: options.limits.frames)
                try page.decode(bytes, directory: 0, pageCount: max(1, pages.directories.count))
            }
        }
    }
#endif

#if TIFF
    import WebImageCore

    /// Collects a TIFF's bytes and decodes its first page when they are all there.
    final class TIFFDecoder: CollectingDecoder {
        var header: ImageHeader? { page.header }
        private let options: DecodeOptions
        private let page: TIFFPageDecoder
        private let bytes: CollectedBytes
        private var isFinished = false

        init(_ options: DecodeOptions, plan: @escaping DecodePlanner) {
            self.options = options
            bytes = CollectedBytes(options.limits, format: .tiff)
            page = TIFFPageDecoder(options, plan: plan)
        }

        func push(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) -> DecodeState {
            guard !isFinished else { return .complete }
            try options.checkpoint?()
            try self.bytes.append(bytes)
            return .needsBytes
        }

        func push(whole file: WholeFile) throws(WebImageError) -> DecodeState {
            try bytes.take(file)
            return .needsBytes
        }

        func finish() throws(WebImageError) {
            guard !isFinished else { return }
            isFinished = true
            let bytes = self.bytes.all
            let pages = TIFFPages(in: bytes, limit: options.limits.frames)
            let count = max(1, pages.directories.count)
            guard options.page > 0 else { return try page.decode(bytes, directory: 0, pageCount: count) }
            guard pages.directories.indices.contains(options.page) else {
                throw WebImageError(
                    .unsupportedFeature, "the TIFF has no page \(options.page + 1), but \(count)", format: .tiff)
            }
            try page.decode(bytes, directory: pages.directories[options.page], pageCount: count)
        }
    }
#endif

#if TIFF
    import WebImageCore
    import WebImageSystem

    /// Collects a TIFF's bytes and decodes the requested page when they are complete, or reads it from a file.
    final class TIFFDecoder: FileReadingDecoder {
        var header: ImageHeader? { page.header }
        private let options: DecodeOptions
        private let page: TIFFPageDecoder
        private let bytes: CollectedBytes
        /// The file, if it is read in place of ``bytes``.
        private var file: FileBytes?
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

        func push(file: HeldFile) throws(WebImageError) -> DecodeState {
            try options.limits.check(byteCount: file.byteCount, of: .tiff)
            self.file = FileBytes(file)
            return .needsBytes
        }

        func finish() throws(WebImageError) {
            guard !isFinished else { return }
            isFinished = true
            guard let file else {
                let (directory, count) = try place(TIFFPages(in: bytes.all, limit: options.limits.frames))
                return try page.decode(bytes.all, directory: directory, pageCount: count)
            }
            do throws(WebImageError) {
                let (directory, count) = try place(TIFFPages(in: file, limit: options.limits.frames))
                try page.decode(file, directory: directory, pageCount: count)
            } catch {
                guard file.file.becameShorter else { throw error }
                throw WebImageError(.truncatedBody, "the file became shorter while it was read", cause: error)
            }
        }

        /// The position of the requested page, and the number of pages, which is one more than the limit if there are
        /// too many; 0: the first one.
        private func place(_ pages: TIFFPages) throws(WebImageError) -> (directory: UInt64, count: Int) {
            let count = max(1, pages.directories.count + (pages.isCutOff ? 1 : 0))
            guard options.page > 0 else { return (0, count) }
            guard pages.directories.indices.contains(options.page) else {
                throw WebImageError(
                    .unsupportedFeature, "the TIFF has no page \(UInt(clamping: options.page) + 1), but \(count)",
                    format: .tiff)
            }
            return (pages.directories[options.page], count)
        }
    }
#endif

#if TIFF
    import CShimTIFF
    import WebImageCore

    /// Writes the pages of a TIFF.
    final class TIFFEncoder {
        private let handle: OpaquePointer
        private let format: ImageFormat
        private let options: EncodeOptions
        private var hasPages = false

        init(
            _ format: ImageFormat, _ options: EncodeOptions, isBigEndian: Bool = false
        ) throws(WebImageError) {
            guard let handle = wi_tiff_writer_create(format == .bigTIFF ? 1 : 0, isBigEndian ? 1 : 0) else {
                throw WebImageError(.limitExceeded, "there is no memory to write the TIFF", format: format)
            }
            self.handle = handle
            self.format = format
            self.options = options
        }

        deinit { wi_tiff_writer_destroy(handle) }

        /// A file of one page, with the fields of its EXIF block among its own.
        static func encode(
            _ image: Image, as format: ImageFormat, _ options: EncodeOptions
        ) throws(WebImageError) -> [UInt8] {
            let pages = TIFFPageEncoder(format, options)
            try pages.add(image)
            return try pages.finish()
        }

        func add(_ image: Image, _ metadata: EmbeddedMetadata) throws(WebImageError) {
            guard let width = UInt32(exactly: image.size.width), let height = UInt32(exactly: image.size.height) else {
                throw WebImageError(.cannotEncode, "a TIFF cannot hold a picture of \(image.size)", format: format)
            }
            let result = image.withPixels { pixels in
                metadata.profile.withUnsafeBufferPointer { profile in
                    metadata.xmp.withUnsafeBufferPointer { xmp in
                        guard let base = pixels.bindMemory(to: UInt8.self).baseAddress else {
                            return Int32(WI_TIFF_CORRUPT)
                        }
                        var picture = wi_tiff_picture(
                            pixels: base, stride: image.pixels.bytesPerRow, width: width, height: height,
                            is_16_bit: image.layout == .rgba16 ? 1 : 0, alpha: alpha(of: image),
                            is_gray: metadata.isGray ? 1 : 0,
                            orientation: Int32(image.info.orientation.rawValue),
                            level: Int32(min(max(options.compressionLevel, 0), 9)), icc: profile.baseAddress,
                            icc_count: profile.count, xmp: xmp.baseAddress, xmp_count: xmp.count,
                            density_x: metadata.density?.horizontal ?? 0, density_y: metadata.density?.vertical ?? 0)
                        return wi_tiff_writer_add(handle, &picture)
                    }
                }
            }
            try check(result)
            hasPages = true
        }

        func finish() throws(WebImageError) -> [UInt8] {
            guard hasPages else {
                throw WebImageError(.cannotEncode, "a TIFF without pages cannot be written", format: format)
            }
            var bytes: UnsafePointer<UInt8>?
            var count = 0
            try check(wi_tiff_writer_finish(handle, &bytes, &count))
            return [UInt8](UnsafeBufferPointer(start: bytes, count: count))
        }

        private func check(_ result: Int32) throws(WebImageError) {
            guard Int(result) != WI_TIFF_OK else { return }
            let isMemory = Int(result) == WI_TIFF_NO_MEMORY
            throw WebImageError(
                isMemory ? .limitExceeded : .cannotEncode,
                isMemory
                    ? "there is no memory to write the TIFF"
                    : "libtiff: \(String(cString: wi_tiff_writer_message(handle)))",
                format: format)
        }

        private func alpha(of image: Image) -> Int32 {
            switch image.alpha {
            case .opaque: Int32(WI_TIFF_ALPHA_NONE)
            case .straight: Int32(WI_TIFF_ALPHA_STRAIGHT)
            case .premultiplied: Int32(WI_TIFF_ALPHA_ASSOCIATED)
            }
        }
    }
#endif

#if TIFF
    import CShimTIFF
    import WebImageCore
    import WebImageProcessing
    import WebImageSystem

    /// Decodes one page of a complete TIFF.
    final class TIFFPageDecoder {
        /// The minimum that libtiff may allocate for one tag or strip, in addition to the pixels.
        private static let minMemory = 64 << 20

        private(set) var header: ImageHeader?
        private let options: DecodeOptions
        private let planner: DecodePlanner

        init(_ options: DecodeOptions, plan: @escaping DecodePlanner) {
            self.options = options
            planner = plan
        }

        /// - Parameters:
        ///   - directory: the position of the page's tags; 0: the first page.
        ///   - pageCount: for the header.
        func decode(
            _ bytes: UnsafeRawBufferPointer, directory: UInt64, pageCount: Int
        ) throws(WebImageError) {
            guard let base = bytes.bindMemory(to: UInt8.self).baseAddress else {
                throw WebImageError(.truncatedData, "there is no data", format: .tiff)
            }
            guard let reader = wi_tiff_create(base, bytes.count) else { throw noMemory() }
            try decode(reader, of: bytes, directory: directory, pageCount: pageCount)
        }

        /// Decodes one page of a file, of which only the necessary parts are read.
        func decode(_ file: FileBytes, directory: UInt64, pageCount: Int) throws(WebImageError) {
            guard let reader = wi_tiff_create_reading(file.file.descriptor, file.count) else { throw noMemory() }
            try decode(reader, of: file, directory: directory, pageCount: pageCount)
        }

        private func decode(
            _ reader: OpaquePointer, of bytes: some RandomBytes, directory: UInt64, pageCount: Int
        ) throws(WebImageError) {
            defer { wi_tiff_destroy(reader) }
            let values = TIFFPages.values(in: bytes, directory: directory)
            guard values.byteCount <= bytes.count + Self.minMemory else {
                throw WebImageError(over: .bytes, "the TIFF's tags share their values", format: .tiff)
            }
            if values.lacksPalette {
                throw WebImageError(.truncatedData, "the TIFF ends before its palette", format: .tiff)
            }
            var info = wi_tiff_info()
            let memory = Self.memory(pixels: options.limits.pixels)
            try check(wi_tiff_open(reader, memory, directory, &info), reader)
            let size = PixelSize(width: Int(info.width), height: Int(info.height))
            let format =
                ImageFormat(sniffing: bytes.copy(at: 0, count: ImageFormat.sniffingLength)) == .bigTIFF
                ? ImageFormat.bigTIFF : .tiff
            try options.limits.check(size, of: format)
            let isDeep = options.keepsBitDepth && info.has_deep_rows != 0
            // 8 bits of L*a*b* would be too few to convert dark and saturated colours.
            let isDeepLab = info.has_lab != 0 && info.has_deep_rows != 0
            let pixels = UInt64(max(options.limits.pixels, 0))
            let buffer = UInt64(Self.memory(pixels: size.pixelCount ?? 0))
            try check(wi_tiff_begin(reader, isDeep || isDeepLab ? 1 : 0, pixels, buffer, &info), reader)
            var header = ImageHeader(
                format: format, size: size, orientation: Orientation(tag: Int(info.orientation)),
                hasAlpha: Int(info.alpha) != WI_TIFF_ALPHA_NONE, bitDepth: Int(info.bit_depth),
                iccProfile: info.has_lab != 0 ? nil : profile(reader))
            header.colorModel = info.is_separated != 0 ? .cmyk : info.is_gray != 0 ? .gray : .rgb
            header.metadata = metadata(
                reader, info, EXIFFields(bytes, directory: Int(directory), limit: options.limits.metadata.bytes)?.block)
            header.frameCount = pageCount
            self.header = header
            guard let sink = try planner(header).sink else { return }
            let rows = RowFormat(
                size: size, layout: isDeep ? .rgba16 : .rgba8, alpha: header.hasAlpha ? .straight : .opaque)
            // Pictures with kept inks have no room for alpha.
            let inks =
                info.has_inks != 0 && !header.hasAlpha
                ? header.iccProfile.flatMap { InkConverter(iccProfile: $0) } : nil
            if inks != nil { wi_tiff_keep_inks(reader) }
            var lab: LabConverter?
            if info.has_lab != 0 {
                guard let converter = LabConverter(isDeepLab ? .rgba16 : .rgba8) else { throw noMemory() }
                lab = converter
            }
            try sink.begin(rows)
            let isRounded = isDeepLab && !isDeep
            try read(reader, info, rows, isRounded: isRounded, into: sink) { (samples, count, pixels) in
                inks?.convert(pixels, count: count)
                if isRounded {
                    lab?.convert(
                        samples.assumingMemoryBound(to: UInt16.self), count: count, roundingInto: pixels)
                } else {
                    lab?.convert(pixels, count: count)
                }
            }
            // The pixels may be shown as a part of the picture, although their colours are not the right ones.
            if values.lacksProfile {
                throw WebImageError(.truncatedData, "the TIFF ends before its colour profile", format: .tiff)
            }
        }

        /// The memory of `pixels` pixels with 16 bits a channel, at least ``minMemory``. `.max` on overflow, because
        /// a limit may be any number.
        private static func memory(pixels: Int) -> Int {
            let (bytes, overflow) = pixels.multipliedReportingOverflow(by: PixelLayout.rgba16.bytesPerPixel)
            return overflow ? .max : max(minMemory, bytes)
        }

        /// - Parameters:
        ///   - isRounded: whether the samples are read with 16 bits, and rounded to the sink's 8 bits by `convert`.
        ///   - convert: converts samples to pixels. It gets the samples, the number of pixels, and the memory for them.
        private func read(
            _ reader: OpaquePointer, _ info: wi_tiff_info, _ format: RowFormat, isRounded: Bool, into sink: any RowSink,
            convert: (UnsafeMutableRawPointer, Int, UnsafeMutablePointer<UInt8>) -> Void
        ) throws(WebImageError) {
            let run = Int(info.run) == 1 ? RowBand.rows : min(Int(info.run), format.size.height)
            let rows = PixelSize(width: format.size.width, height: min(run, format.size.height))
            let wide = isRounded ? try PixelBuffer(size: rows, layout: .rgba16) : nil
            var row = 0
            while row < format.size.height {
                let count = min(run, format.size.height - row)
                let band = try sink.band(at: row, count: count)
                var done: UInt32 = 0
                let samples = wide?.base ?? band
                var result: Int32
                repeat {
                    try options.checkpoint?()
                    result = wi_tiff_read(
                        reader, samples.assumingMemoryBound(to: UInt8.self), UInt32(row), UInt32(count), &done)
                } while Int(result) == WI_TIFF_OK && done == 0
                if done > 0 {
                    convert(samples, Int(done) * format.size.width, band.assumingMemoryBound(to: UInt8.self))
                    try sink.commit(at: row, count: Int(done))
                }
                row += Int(done)
                guard Int(result) != WI_TIFF_TRUNCATED else {
                    let there = "\(row) of \(format.size.height) rows are there"
                    throw WebImageError(.truncatedData, "the TIFF's data ends early: \(there)", format: header?.format)
                }
                try check(result, reader)
            }
        }

        private func check(_ result: Int32, _ reader: OpaquePointer) throws(WebImageError) {
            // Many of libtiff's messages begin with the file's name, which is empty.
            let detail = String(String(cString: wi_tiff_message(reader)).drop { ": ".contains($0) })
            let message = "libtiff: \(detail.isEmpty ? "it cannot read the file and does not say why" : detail)"
            switch Int(result) {
            case WI_TIFF_OK: return
            case WI_TIFF_NO_MEMORY: throw noMemory()
            case WI_TIFF_TRUNCATED: throw WebImageError(.truncatedData, message, format: .tiff)
            case WI_TIFF_TOO_LARGE: throw WebImageError(.limitExceeded, message, format: .tiff)
            case WI_TIFF_UNSUPPORTED: throw WebImageError(.unsupportedFeature, message, format: .tiff)
            default: throw WebImageError(.corruptData, message, format: .tiff)
            }
        }

        private func noMemory() -> WebImageError {
            WebImageError(.limitExceeded, "there is no memory to decode the TIFF", format: .tiff)
        }

        private func profile(_ reader: OpaquePointer) -> [UInt8]? {
            var count = 0
            return copy(wi_tiff_icc(reader, &count), count)
        }

        private func metadata(
            _ reader: OpaquePointer, _ info: wi_tiff_info, _ exif: [UInt8]?
        ) -> ImageMetadata {
            var count = 0
            let xmp = copy(wi_tiff_xmp(reader, &count), count)
            let density = [2: 1, 3: 2.54][info.density_unit].flatMap {
                PixelDensity(horizontal: Double(info.density_x) * $0, vertical: Double(info.density_y) * $0)
            }
            return ImageMetadata(readingEXIF: exif, xmp: xmp, density: density)
        }

        private func copy(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8]? {
            guard let bytes, count > 0, count <= options.limits.metadata.bytes else { return nil }
            return [UInt8](UnsafeBufferPointer(start: bytes, count: count))
        }
    }
#endif

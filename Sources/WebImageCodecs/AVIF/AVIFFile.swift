#if AVIF
    import CSysAVIF
    import WebImageCore

    /// One file as libavif sees it while its bytes come: where they are not there yet, it waits.
    final class AVIFFile {
        let handle: UnsafeMutablePointer<avifDecoder>
        let bytes: CollectedBytes
        /// Known when ``parse()`` was true.
        private(set) var header: ImageHeader?
        /// Whether EXIF and XMP are there, or there are none.
        private(set) var knowsMetadata = false
        private let io: UnsafeMutablePointer<avifIO>
        private let limits: DecodeLimits

        init(_ limits: DecodeLimits) throws(WebImageError) {
            try OpenedLibrary.libavif.check(.avif)
            guard let handle = avifDecoderCreate() else {
                throw WebImageError(.limitExceeded, "there is no memory for an AVIF decoder", format: .avif)
            }
            self.handle = handle
            self.limits = limits
            bytes = CollectedBytes(limits, format: .avif)
            io = bytes.makeIO(limit: limits.bytes)
            avifDecoderSetIO(handle, io)
            configure()
        }

        deinit {
            avifDecoderDestroy(handle)
            io.deallocate()
        }

        /// Our limits; what many files leave out or get wrong is not insisted on.
        private func configure() {
            handle.pointee.maxThreads = 1
            handle.pointee.ignoreExif = 1
            handle.pointee.ignoreXMP = 1
            limits.apply(to: handle)
        }

        /// How many threads may decode the first picture. Set before it is.
        var threads: Int {
            get { Int(handle.pointee.maxThreads) }
            set { handle.pointee.maxThreads = Int32(newValue) }
        }

        /// Reads the boxes that describe the picture; false when they are not all there.
        func parse() throws(WebImageError) -> Bool {
            guard try check(avifDecoderParse(handle)) else { return false }
            let image = handle.pointee.image.pointee
            var header = ImageHeader(
                format: ImageFormat(sniffing: bytes.all) == .avifSequence ? .avifSequence : .avif,
                size: PixelSize(width: Int(image.width), height: Int(image.height)),
                orientation: orientation(of: image),
                hasAlpha: handle.pointee.alphaPresent != 0, bitDepth: Int(image.depth))
            if image.yuvFormat == AVIF_PIXEL_FORMAT_YUV400 { header.colorModel = .gray }
            if image.icc.size > 0, image.icc.size <= limits.metadata.bytes {
                header.iccProfile = [UInt8](UnsafeBufferPointer(start: image.icc.data, count: image.icc.size))
            }
            header.colorDescription = ColorDescription(
                primaries: UInt8(exactly: image.colorPrimaries) ?? 2,
                transfer: UInt8(exactly: image.transferCharacteristics) ?? 2,
                matrix: UInt8(exactly: image.matrixCoefficients) ?? 2, isFullRange: image.yuvRange == AVIF_RANGE_FULL)
            header.frameCount = frameCount
            if header.format == .avifSequence { header.loopCount = timing.loopCount }
            self.header = header
            try limits.check(header.size, of: header.format)
            learnMetadata()
            return true
        }

        /// Looks for EXIF and XMP, which may stand behind the picture.
        func learnMetadata() {
            guard !knowsMetadata, case .found(let metadata) = AVIFMetadata.read(bytes, limits) else { return }
            header?.metadata = metadata
            knowsMetadata = true
        }

        var frameCount: Int { max(Int(handle.pointee.imageCount), 1) }

        /// How long frames are shown, and how often all of them. Costs a look through the file's tables.
        var timing: SequenceTiming { SequenceTiming(bytes.all, frames: frameCount) }

        /// Where the data ends that a frame needs, those before it included; nil when that is not known.
        func dataEnd(of frame: Int) -> Int? {
            var extent = avifExtent()
            guard avifDecoderNthImageMaxExtent(handle, UInt32(frame), &extent) == AVIF_RESULT_OK,
                let start = Int(exactly: extent.offset)
            else { return nil }
            let (end, overflow) = start.addingReportingOverflow(extent.size)
            return overflow ? nil : end
        }

        private func orientation(of image: avifImage) -> Orientation {
            var transforms = ItemTransforms()
            if image.transformFlags & AVIF_TRANSFORM_IROT.rawValue != 0 { transforms.turn(Int(image.irot.angle)) }
            if image.transformFlags & AVIF_TRANSFORM_IMIR.rawValue != 0 {
                transforms.mirror(axis: Int(image.imir.mode))
            }
            return transforms.orientation
        }

        /// Decodes a frame into the handle's image; false when its bytes are not all there.
        func decode(_ frame: Int) throws(WebImageError) -> Bool {
            guard let header, try check(avifDecoderNthImage(handle, UInt32(frame))) else { return false }
            let image = handle.pointee.image.pointee
            guard Int(image.width) == header.size.width, Int(image.height) == header.size.height else {
                throw WebImageError(
                    .corruptData, "the AVIF's picture is not of the size that its boxes say", format: header.format)
            }
            return true
        }

        /// Makes a failure of libavif an error; false when it waits for bytes.
        func check(_ result: avifResult) throws(WebImageError) -> Bool {
            switch result {
            case AVIF_RESULT_OK: return true
            case AVIF_RESULT_WAITING_ON_IO: return false
            case AVIF_RESULT_OUT_OF_MEMORY: throw failure(.limitExceeded, result)
            case AVIF_RESULT_NO_CODEC_AVAILABLE, AVIF_RESULT_NOT_IMPLEMENTED, AVIF_RESULT_UNSUPPORTED_DEPTH:
                throw failure(.unsupportedFeature, result)
            default:
                // libavif has one result for damaged boxes and for what is over its limits; its message tells which.
                let message = text(of: handle.pointee.diag.error)
                let isLimit = ["dimensions are too large", "imageCountLimit"].contains { message.contains($0) }
                throw failure(isLimit ? .limitExceeded : .corruptData, result)
            }
        }

        private func failure(_ code: WebImageError.Code, _ result: avifResult) -> WebImageError {
            let detail = text(of: handle.pointee.diag.error)
            return WebImageError(
                code, "libavif: \(String(cString: avifResultToString(result)))\(detail.isEmpty ? "" : ": \(detail)")",
                format: header?.format ?? .avif)
        }

        /// Converts an image of libavif, or a part of one, to RGBA with straight alpha; libavif divides where the file
        /// says that its colours are multiplied.
        static func convert(
            _ image: UnsafeMutablePointer<avifImage>, _ layout: PixelLayout, bytesPerRow: Int,
            into pixels: UnsafeMutablePointer<UInt8>
        ) -> avifResult {
            var rows = avifRGBImage()
            avifRGBImageSetDefaults(&rows, image)
            rows.depth = UInt32(layout.bitDepth)
            rows.format = AVIF_RGB_FORMAT_RGBA
            rows.alphaPremultiplied = 0
            rows.pixels = pixels
            rows.rowBytes = UInt32(bytesPerRow)
            return avifImageYUVToRGB(image, &rows)
        }
    }
#endif

#if AVIF
    import CSysAVIF
    import WebImageCore

    /// One file as libavif sees it while its bytes arrive: libavif waits for missing ones.
    final class AVIFFile {
        let handle: UnsafeMutablePointer<avifDecoder>
        let bytes: CollectedBytes
        /// Set when ``parse()`` has returned true.
        private(set) var header: ImageHeader?
        /// Whether EXIF and XMP have arrived, or there are none.
        private(set) var knowsMetadata = false
        /// How many bytes must have arrived before EXIF and XMP are looked for again.
        private(set) var metadataNeeds = 0
        /// The shown part of the stored picture. Set with the header.
        private(set) var frame = ItemFrame(PixelSize(width: 0, height: 0))
        private let input: AVIFInput
        private let limits: DecodeLimits
        /// Whether to look for a thumbnail and decode it instead of the picture.
        private let wantsThumbnail: Bool
        private var hasCheckedItems = false

        init(_ options: DecodeOptions) throws(WebImageError) {
            try OpenedLibrary.libavif.check(.avif)
            guard let handle = avifDecoderCreate() else {
                throw WebImageError(.limitExceeded, "there is no memory for an AVIF decoder", format: .avif)
            }
            self.handle = handle
            limits = options.limits
            wantsThumbnail = options.usesEmbeddedThumbnail
            bytes = CollectedBytes(limits, format: .avif)
            input = AVIFInput(bytes, limit: limits.bytes)
            avifDecoderSetIO(handle, input.io)
            configure()
        }

        deinit { withExtendedLifetime(input) { avifDecoderDestroy(handle) } }

        /// Sets our limits, and accepts what many files leave out or get wrong.
        private func configure() {
            handle.pointee.maxThreads = 1
            handle.pointee.ignoreExif = 1
            handle.pointee.ignoreXMP = 1
            limits.apply(to: handle)
        }

        /// How many threads may decode the first picture. Must be set before that is decoded.
        var threads: Int {
            get { Int(handle.pointee.maxThreads) }
            set { handle.pointee.maxThreads = Int32(newValue) }
        }

        /// Parses the boxes that describe the picture; false if some have not arrived.
        func parse() throws(WebImageError) -> Bool {
            let format: ImageFormat = ImageFormat(sniffing: bytes.all) == .avifSequence ? .avifSequence : .avif
            if !hasCheckedItems { try checkItems(format) }
            guard try check(avifDecoderParse(handle)) else { return false }
            let image = handle.pointee.image.pointee
            let stored = PixelSize(width: Int(image.width), height: Int(image.height))
            frame = ItemFrame(stored, handle.pointee.image)
            var header = ImageHeader(
                format: format, size: frame.size, orientation: frame.transforms.orientation,
                hasAlpha: handle.pointee.alphaPresent != 0, bitDepth: Int(image.depth))
            if frame.size != stored { header.sizeBeforeCrop = stored }
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
            try limits.check(stored, of: header.format)
            learnMetadata()
            return true
        }

        /// Checks the items once, as soon as the boxes that describe them have arrived, and looks for a thumbnail. libavif
        /// needs the same boxes, and so begins no earlier.
        ///
        /// - Throws: `limitExceeded` for very many items, and for items that share data: libavif copies that of each.
        private func checkItems(_ format: ImageFormat) throws(WebImageError) {
            let boxes = BoxReader(bytes: bytes.all)
            guard let meta = boxes.first(["meta"], in: 0..<bytes.count) else { return }
            hasCheckedItems = true
            let items: HEIFItems
            do throws(WebImageError) { items = try HEIFItems(boxes, meta: meta, maxExtents: .max) } catch {
                // libavif itself reports invalid boxes.
                guard error.code == .limitExceeded else { return }
                throw WebImageError(.limitExceeded, error.message, format: format)
            }
            guard items.dataLength <= limits.bytes.bytes else {
                throw WebImageError(
                    over: .bytes, "the AVIF's items have \(items.dataLength) bytes together", format: format)
            }
            if wantsThumbnail, format == .avif { input.changes = items.changesForThumbnail }
        }

        /// Looks for EXIF and XMP, which may follow the picture.
        func learnMetadata() {
            guard !knowsMetadata, bytes.count >= metadataNeeds else { return }
            switch AVIFMetadata.read(bytes, limits) {
            case .found(let metadata):
                header?.metadata = metadata
                knowsMetadata = true
            case .tooShort(let needed): metadataNeeds = needed
            }
        }

        var frameCount: Int { max(Int(handle.pointee.imageCount), 1) }

        /// The frames' durations, and the number of repetitions. Costs a pass through the file's tables.
        var timing: SequenceTiming {
            let reader = BoxReader(bytes: bytes.all)
            return SequenceTiming(SequenceTrack.shown(in: reader, of: ["av01"]), frames: frameCount, reader)
        }

        /// The end of the data for a frame, including the frames that it depends on; nil if it is not known.
        func dataEnd(of frame: Int) -> Int? {
            var extent = avifExtent()
            guard avifDecoderNthImageMaxExtent(handle, UInt32(frame), &extent) == AVIF_RESULT_OK,
                let start = Int(exactly: extent.offset)
            else { return nil }
            let (end, overflow) = start.addingReportingOverflow(extent.size)
            return overflow ? nil : end
        }

        /// Decodes a frame into the handle's image; false if some of its bytes have not arrived.
        func decode(_ frame: Int) throws(WebImageError) -> Bool {
            guard let header, try check(avifDecoderNthImage(handle, UInt32(frame))) else { return false }
            let image = handle.pointee.image.pointee
            guard PixelSize(width: Int(image.width), height: Int(image.height)) == header.storedSize else {
                throw WebImageError(
                    .corruptData, "the AVIF's picture is not of the size that its boxes say", format: header.format)
            }
            return true
        }

        /// Throws the error for a failure of libavif; false if libavif waits for bytes.
        func check(_ result: avifResult) throws(WebImageError) -> Bool {
            switch result {
            case AVIF_RESULT_OK: return true
            case AVIF_RESULT_WAITING_ON_IO: return false
            case AVIF_RESULT_OUT_OF_MEMORY: throw failure(.limitExceeded, result)
            case AVIF_RESULT_NO_CODEC_AVAILABLE, AVIF_RESULT_NOT_IMPLEMENTED, AVIF_RESULT_UNSUPPORTED_DEPTH:
                throw failure(.unsupportedFeature, result)
            default:
                // libavif has one result for damaged boxes and for exceeded limits; its message distinguishes them.
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
    }

    extension ItemFrame {
        /// libavif returns `clap`, `irot` and `imir` without their order, which is this one (ISO/IEC 23000-22,
        /// 7.3.6.7).
        init(_ size: PixelSize, _ image: UnsafeMutablePointer<avifImage>) {
            self.init(size)
            let (flags, clap) = (image.pointee.transformFlags, image.pointee.clap)
            func signed(_ number: UInt32) -> Int { Int(Int32(bitPattern: number)) }
            if flags & AVIF_TRANSFORM_CLAP.rawValue != 0 {
                crop(
                    width: (signed(clap.widthN), signed(clap.widthD)),
                    height: (signed(clap.heightN), signed(clap.heightD)),
                    x: (signed(clap.horizOffN), signed(clap.horizOffD)),
                    y: (signed(clap.vertOffN), signed(clap.vertOffD)))
            }
            if flags & AVIF_TRANSFORM_IROT.rawValue != 0 { turn(Int(image.pointee.irot.angle)) }
            if flags & AVIF_TRANSFORM_IMIR.rawValue != 0 { mirror(axis: Int(wi_avif_mirror_axis(image).pointee)) }
        }
    }
#endif

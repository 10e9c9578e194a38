#if AVIF
    import CSysAVIF
    import WebImageCore

    /// Decodes one AVIF: the header as soon as the boxes that describe the picture are there, all rows at once when its
    /// data is.
    final class AVIFDecoder: ImageDecoder {
        enum Stage {
            case header
            case data
            /// The picture is there; EXIF or XMP may still come.
            case afterPicture
            case stoppedAtHeader
            case complete
        }

        /// How many more bytes must come before the boxes are looked at again, so that tiny pieces cost little.
        private static let leastGrowth = 1 << 10

        let options: DecodeOptions
        let handle: UnsafeMutablePointer<avifDecoder>
        private(set) var header: ImageHeader?
        private(set) var stage = Stage.header
        private let bytes: CollectedBytes
        private let io: UnsafeMutablePointer<avifIO>
        private var planner: DecodePlanner?
        private var sink: (any RowSink)?
        private var nextAttempt = 0
        private var knowsMetadata = false
        /// Where the first frame's data ends in the file; nil when that is not known.
        private var dataEnd: Int?

        init(_ options: DecodeOptions, plan: @escaping DecodePlanner) throws(WebImageError) {
            guard let handle = avifDecoderCreate() else {
                throw WebImageError(.limitExceeded, "there is no memory for an AVIF decoder", format: .avif)
            }
            self.handle = handle
            self.options = options
            planner = plan
            bytes = CollectedBytes(limit: options.limits.bytes, format: .avif)
            io = bytes.makeIO(limit: options.limits.bytes)
            avifDecoderSetIO(handle, io)
            configure()
        }

        deinit {
            avifDecoderDestroy(handle)
            io.deallocate()
        }

        /// What many files leave out or get wrong is not insisted on.
        private func configure() {
            handle.pointee.maxThreads = 1
            handle.pointee.ignoreExif = 1
            handle.pointee.ignoreXMP = 1
            options.limits.apply(to: handle)
        }

        func push(_ piece: UnsafeRawBufferPointer) throws(WebImageError) -> DecodeState {
            if isOpen {
                try options.checkpoint?()
                try bytes.append(piece)
                try advance()
            }
            switch stage {
            case .complete: return .complete
            case .stoppedAtHeader: return .stoppedAtHeader
            default: return .needsBytes
            }
        }

        func finish() throws(WebImageError) {
            guard isOpen else { return }
            nextAttempt = 0
            if stage == .header { try readHeader() }
            if stage == .data { try decode() }
            if stage == .afterPicture { learnLate(isLast: true) }
            guard isOpen else { return }
            throw WebImageError(
                .truncatedData,
                stage == .header ? "the data ends before the picture begins" : "the AVIF's data ends early",
                format: header?.format ?? .avif)
        }

        private var isOpen: Bool { stage != .complete && stage != .stoppedAtHeader }

        private func advance() throws(WebImageError) {
            if stage == .header, bytes.count >= nextAttempt { try readHeader() }
            if stage == .data, let dataEnd, bytes.count >= dataEnd { try decode() }
            if stage == .afterPicture { learnLate(isLast: false) }
        }

        private func readHeader() throws(WebImageError) {
            nextAttempt = bytes.count + max(bytes.count / 8, Self.leastGrowth)
            guard try check(avifDecoderParse(handle)) else { return }
            let image = handle.pointee.image.pointee
            var header = ImageHeader(
                format: ImageFormat(sniffing: bytes.all) == .avifSequence ? .avifSequence : .avif,
                size: PixelSize(width: Int(image.width), height: Int(image.height)),
                orientation: orientation(of: image),
                hasAlpha: handle.pointee.alphaPresent != 0, bitDepth: Int(image.depth))
            if image.icc.size > 0, image.icc.size <= options.limits.metadata.bytes {
                header.iccProfile = [UInt8](UnsafeBufferPointer(start: image.icc.data, count: image.icc.size))
            }
            header.colorDescription = ColorDescription(
                primaries: UInt8(exactly: image.colorPrimaries) ?? 2,
                transfer: UInt8(exactly: image.transferCharacteristics) ?? 2,
                matrix: UInt8(exactly: image.matrixCoefficients) ?? 2, isFullRange: image.yuvRange == AVIF_RANGE_FULL)
            if case .found(let metadata) = AVIFMetadata.read(bytes, options.limits) {
                header.metadata = metadata
                knowsMetadata = true
            }
            header.frameCount = max(Int(handle.pointee.imageCount), 1)
            self.header = header
            try options.limits.check(header.size, of: header.format)
            let plan = try planner?(header)
            planner = nil
            sink = plan?.sink
            stage = sink == nil ? .stoppedAtHeader : .data
            findData()
        }

        private func findData() {
            var extent = avifExtent()
            guard avifDecoderNthImageMaxExtent(handle, 0, &extent) == AVIF_RESULT_OK,
                let start = Int(exactly: extent.offset)
            else { return }
            let (end, overflow) = start.addingReportingOverflow(extent.size)
            dataEnd = overflow ? nil : end
        }

        private func orientation(of image: avifImage) -> Orientation {
            var transforms = ItemTransforms()
            if image.transformFlags & AVIF_TRANSFORM_IROT.rawValue != 0 { transforms.turn(Int(image.irot.angle)) }
            if image.transformFlags & AVIF_TRANSFORM_IMIR.rawValue != 0 {
                transforms.mirror(axis: Int(image.imir.mode))
            }
            return transforms.orientation
        }

        private func decode() throws(WebImageError) {
            guard let header, let sink else { return }
            try options.checkpoint?()
            guard try check(avifDecoderNthImage(handle, 0)) else { return }
            let image = handle.pointee.image.pointee
            guard Int(image.width) == header.size.width, Int(image.height) == header.size.height else {
                throw WebImageError(
                    .corruptData, "the AVIF's picture is not of the size that its boxes say", format: header.format)
            }
            let layout: PixelLayout = options.keepsBitDepth && image.depth > 8 ? .rgba16 : .rgba8
            let format = RowFormat(
                size: header.size, layout: layout, alpha: image.alphaPlane == nil ? .opaque : .straight)
            try sink.begin(format)
            try emit(format, sink)
            stage = .afterPicture
        }

        /// - Parameter isLast: no more bytes come; what is not there by now is missing.
        private func learnLate(isLast: Bool) {
            if !knowsMetadata, isLast || bytes.count >= nextAttempt {
                nextAttempt = bytes.count + max(bytes.count / 8, Self.leastGrowth)
                if case .found(let metadata) = AVIFMetadata.read(bytes, options.limits) {
                    header?.metadata = metadata
                    knowsMetadata = true
                }
            }
            if knowsMetadata || isLast { stage = .complete }
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
    }
#endif

#if JXL
    import CSysJXL
    import WebImageCore
    import WebImageSystem

    /// Decodes one JPEG XL as its bytes come; of an animation, the first frame. libjxl renders into the sink's memory
    /// if the sink keeps the whole picture, else into memory of our own.
    final class JXLDecoder: ImageDecoder {
        /// So many bytes are taken in between two checkpoints.
        private static let pieceLength = 64 << 10
        /// Rows are handed on in runs of so many.
        private static let bandRows = 16

        private enum Stage {
            case header
            case data
            /// The picture is there; EXIF or XMP may still come.
            case afterPicture
            case stoppedAtHeader
            case complete
        }

        private(set) var header: ImageHeader?
        private let options: DecodeOptions
        private let handle: OpaquePointer
        private var planner: DecodePlanner?
        private var stage = Stage.header
        private var info = JxlBasicInfo()
        private var sink: (any RowSink)?
        private var format: RowFormat?
        /// What libjxl renders into: the sink's memory, or `ownPicture`'s.
        private var picture: UnsafeMutableRawPointer?
        private var ownPicture: PixelBuffer?
        /// What libjxl did not take of the bytes before: the beginning of a box, say.
        private var rest: [UInt8] = []
        private var boxes: JXLBoxReader
        private var received = 0
        private var receivedAtPreview = 0

        init(_ options: DecodeOptions, plan: @escaping DecodePlanner) throws(WebImageError) {
            self.options = options
            self.planner = plan
            boxes = JXLBoxReader(limit: max(options.limits.metadata.bytes, 0))
            guard let handle = JxlDecoderCreate(nil) else {
                throw WebImageError(.limitExceeded, "there is no memory for a JPEG XL decoder", format: .jxl)
            }
            self.handle = handle
            let events = JXL_DEC_BASIC_INFO.rawValue | JXL_DEC_COLOR_ENCODING.rawValue | JXL_DEC_FULL_IMAGE.rawValue
            let settings = [
                JxlDecoderSubscribeEvents(handle, Int32(events)), JxlDecoderSetKeepOrientation(handle, JXL_TRUE),
                JxlDecoderSetUnpremultiplyAlpha(handle, JXL_TRUE),
            ]
            guard settings.allSatisfy({ $0 == JXL_DEC_SUCCESS }) else {
                JxlDecoderDestroy(handle)
                throw WebImageError(.unsupportedFeature, "libjxl refuses the settings of its decoder", format: .jxl)
            }
        }

        deinit { JxlDecoderDestroy(handle) }

        func push(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) -> DecodeState {
            var rest = bytes.bindMemory(to: UInt8.self)
            while isOpen, !rest.isEmpty {
                try options.checkpoint?()
                let piece = UnsafeBufferPointer(rebasing: rest.prefix(Self.pieceLength))
                rest = UnsafeBufferPointer(rebasing: rest.dropFirst(piece.count))
                try countBytes(piece.count)
                boxes.push(piece)
                if stage != .afterPicture { try feed(piece) }
                if stage == .afterPicture { learnLate() }
            }
            switch stage {
            case .complete: return .complete
            case .stoppedAtHeader: return .stoppedAtHeader
            default: return .needsBytes
            }
        }

        func finish() throws(WebImageError) {
            guard isOpen else { return }
            guard stage != .afterPicture else {
                stage = .complete
                return
            }
            guard stage == .data else {
                throw WebImageError(.truncatedData, "the data ends before the picture begins", format: .jxl)
            }
            let isCoarse = flush()
            if isCoarse { try emitPicture() }
            stage = .complete
            let there = isCoarse ? "the picture is there, but coarse or in parts" : "nothing can be shown of it"
            throw WebImageError(.truncatedData, "the JPEG XL's data ends early: \(there)", format: .jxl)
        }

        /// The picture as far as it is known, as large as in the end.
        func preview() throws(WebImageError) -> PixelBuffer? {
            guard stage == .data, received > receivedAtPreview, flush(), let picture, let format else { return nil }
            receivedAtPreview = received
            let copy = try PixelBuffer(size: format.size, layout: format.layout)
            copy.base.copyMemory(from: picture, byteCount: copy.byteCount.bytes)
            return copy
        }

        private var isOpen: Bool { stage != .complete && stage != .stoppedAtHeader }

        private func countBytes(_ count: Int) throws(WebImageError) {
            received += count
            guard received <= options.limits.bytes.bytes else {
                throw WebImageError(
                    .limitExceeded,
                    "the JPEG XL is longer than \(options.limits.bytes); raise DecodeLimits.bytes to allow it",
                    format: .jxl)
            }
        }

        private func feed(_ piece: UnsafeBufferPointer<UInt8>) throws(WebImageError) {
            if rest.isEmpty { return try run(piece) }
            let joined = rest + piece
            rest = []
            try joined.withUnsafeBufferPointer { bytes throws(WebImageError) in try run(bytes) }
        }

        private func run(_ bytes: UnsafeBufferPointer<UInt8>) throws(WebImageError) {
            guard let base = bytes.baseAddress, JxlDecoderSetInput(handle, base, bytes.count) == JXL_DEC_SUCCESS else {
                throw corrupt()
            }
            // libjxl must not keep a pointer to bytes that are the caller's.
            defer {
                let count = min(JxlDecoderReleaseInput(handle), bytes.count)
                rest = isOpen ? Array(bytes.suffix(count)) : []
            }
            while stage == .header || stage == .data {
                let status = JxlDecoderProcessInput(handle)
                switch status {
                case JXL_DEC_NEED_MORE_INPUT: return
                case JXL_DEC_BASIC_INFO: try readInfo()
                case JXL_DEC_COLOR_ENCODING: try begin()
                case JXL_DEC_NEED_IMAGE_OUT_BUFFER: try setPicture()
                case JXL_DEC_FULL_IMAGE:
                    try emitPicture()
                    // libjxl tells a still's end by asking for more; the first frame of an animation is all of it here.
                    stage = info.have_animation != JXL_FALSE ? .complete : .afterPicture
                default: throw corrupt()
                }
                try options.checkpoint?()
            }
        }

        private func learnLate() {
            let metadata = ImageMetadata(readingEXIF: boxes.exif, xmp: boxes.xmp)
            if metadata != header?.metadata { header?.metadata = metadata }
            let isAll = !boxes.isOpen || (boxes.exif != nil && boxes.xmp != nil)
            if isAll { stage = .complete }
        }

        private func corrupt() -> WebImageError {
            WebImageError(.corruptData, "libjxl refuses the data after \(received) bytes", format: .jxl)
        }

        /// Size and kind are known: nothing large has been allocated yet.
        private func readInfo() throws(WebImageError) {
            guard JxlDecoderGetBasicInfo(handle, &info) == JXL_DEC_SUCCESS else { throw corrupt() }
            try options.limits.check(PixelSize(width: Int(info.xsize), height: Int(info.ysize)), of: .jxl)
            for index in 0..<Int(info.num_extra_channels) {
                var channel = JxlExtraChannelInfo()
                guard JxlDecoderGetExtraChannelInfo(handle, index, &channel) == JXL_DEC_SUCCESS else { throw corrupt() }
                // libjxl 0.7 would give cyan, magenta and yellow as if they were red, green and blue.
                guard channel.type != JXL_CHANNEL_BLACK else {
                    throw WebImageError(.unsupportedFeature, "the JPEG XL is in CMYK", format: .jxl)
                }
            }
        }

        /// The header is complete, the profile included.
        private func begin() throws(WebImageError) {
            let isAnimation = info.have_animation != JXL_FALSE
            var header = ImageHeader(
                format: .jxl, size: PixelSize(width: Int(info.xsize), height: Int(info.ysize)),
                orientation: Orientation(tag: Int(info.orientation.rawValue)), hasAlpha: info.alpha_bits > 0,
                bitDepth: Int(info.bits_per_sample), isProgressive: true,
                iccProfile: JXLColor.profile(of: handle, info, limit: options.limits.metadata.bytes))
            if let description = JXLColor.description(of: handle) {
                header.colorDescription = description
                header.iccProfile = nil
            }
            header.metadata = ImageMetadata(readingEXIF: boxes.exif, xmp: boxes.xmp)
            header.frameCount = isAnimation ? nil : 1
            header.loopCount = isAnimation ? Int(info.animation.num_loops) : nil
            self.header = header
            let plan = try planner?(header)
            planner = nil
            guard let sink = plan?.sink else {
                stage = .stoppedAtHeader
                return
            }
            let isDeep = options.keepsBitDepth && header.bitDepth > 8
            let format = RowFormat(
                size: header.size, layout: isDeep ? .rgba16 : .rgba8, alpha: header.hasAlpha ? .straight : .opaque)
            try sink.begin(format)
            self.sink = sink
            self.format = format
            stage = .data
        }

        /// Gives libjxl memory for the picture, cleared, since a part of a picture need not fill it.
        private func setPicture() throws(WebImageError) {
            guard let sink, let format else { throw corrupt() }
            let byteCount = format.bytesPerRow * format.size.height
            let memory: UnsafeMutableRawPointer
            if let whole = sink.wholePicture {
                memory = whole
                wishForLargePages(memory, byteCount: byteCount)
            } else {
                let own = try PixelBuffer(size: format.size, layout: format.layout)
                ownPicture = own
                memory = own.base
            }
            memory.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
            var pixels = JxlPixelFormat(
                num_channels: 4, data_type: format.layout == .rgba16 ? JXL_TYPE_UINT16 : JXL_TYPE_UINT8,
                endianness: JXL_NATIVE_ENDIAN, align: 0)
            var needed = 0
            guard JxlDecoderImageOutBufferSize(handle, &pixels, &needed) == JXL_DEC_SUCCESS, needed <= byteCount,
                JxlDecoderSetImageOutBuffer(handle, &pixels, memory, byteCount) == JXL_DEC_SUCCESS
            else { throw corrupt() }
            picture = memory
        }

        /// Has libjxl render what it knows; false when that is nothing yet.
        private func flush() -> Bool {
            picture != nil && JxlDecoderFlushImage(handle) == JXL_DEC_SUCCESS
        }

        private func emitPicture() throws(WebImageError) {
            guard let picture, let sink, let format else { throw corrupt() }
            var row = 0
            while row < format.size.height {
                try options.checkpoint?()
                let count = min(Self.bandRows, format.size.height - row)
                let band = sink.band(at: row, count: count)
                let source = picture + row * format.bytesPerRow
                if band != source { band.copyMemory(from: source, byteCount: count * format.bytesPerRow) }
                try sink.commit(at: row, count: count)
                row += count
            }
            self.picture = nil
            ownPicture = nil
        }
    }
#endif

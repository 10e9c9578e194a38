#if JXL
    import CSysJXL
    import WebImageCore
    import WebImageSystem

    /// Decodes one JPEG XL as its bytes arrive; of an animation, it decodes the first frame and counts the others.
    /// libjxl renders into the sink's memory if the sink keeps the whole picture, else into memory of our own.
    final class JXLDecoder: ImageDecoder {
        /// How many bytes are decoded between two checkpoints; more with helpers, which find work only in long pieces.
        private static let pieceLength = (alone: 256 << 10, helped: 1 << 20)

        private enum Stage {
            case header
            case data
            /// The requested part of the picture is complete; frames are counted, and EXIF or XMP may follow.
            case counting
            case ended
        }

        private var isScoutLost = false
        private(set) var header: ImageHeader?
        private let options: DecodeOptions
        private let stream: JXLStream
        private let scout: JXLFrameScout
        private var boxes: JXLBoxReader
        private var planner: DecodePlanner?
        private var stage = Stage.header
        private var info = JxlBasicInfo()
        private var sink: (any RowSink)?
        private var format: RowFormat?
        /// The memory into which libjxl renders.
        private var picture: WholePicture?
        private var received = 0
        private var receivedAtPreview = 0

        init(_ options: DecodeOptions, plan: @escaping DecodePlanner) throws(WebImageError) {
            self.options = options
            self.planner = plan
            stream = try JXLStream(
                [JXL_DEC_BASIC_INFO, JXL_DEC_COLOR_ENCODING, JXL_DEC_FULL_IMAGE], helpers: options.idleThreads)
            scout = try JXLFrameScout(options.limits)
            boxes = JXLBoxReader(limit: max(options.limits.metadata.bytes, 0))
        }

        var mayExtendHeader: Bool { header != nil && header?.frameCount == nil && stage != .ended }

        /// Boxes with metadata may follow the picture.
        var mayFindLateMetadata: Bool { sink == nil && stage == .counting }

        private var knowsFrames: Bool { scout.isComplete || info.have_animation == JXL_FALSE }

        var acceptsLongPushes: Bool { true }

        func push(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) -> DecodeState {
            var rest = bytes.bindMemory(to: UInt8.self)
            while stage != .ended, !rest.isEmpty {
                try options.checkpoint?()
                let isHelped = options.idleThreads.map { $0.idleCount > 0 } ?? false
                let length = isHelped ? Self.pieceLength.helped : Self.pieceLength.alone
                let piece = UnsafeBufferPointer(rebasing: rest.prefix(length))
                rest = UnsafeBufferPointer(rebasing: rest.dropFirst(piece.count))
                try countBytes(piece.count)
                try take(piece)
            }
            if stage == .counting || stage == .ended, sink == nil { return .stoppedAtHeader }
            return stage == .ended ? .complete : .needsBytes
        }

        /// The scout goes first, so that no layer beyond the limits is decoded.
        private func take(_ piece: UnsafeBufferPointer<UInt8>) throws(WebImageError) {
            boxes.push(piece)
            let isScouting = !isScoutLost && (stage != .counting || !knowsFrames)
            do throws(WebImageError) { if isScouting { try scout.push(piece) } } catch {
                // If the first frame can be decoded, an error in later ones only stops the count.
                guard scout.hasFirstFrame else { throw error }
                isScoutLost = true
            }
            if stage != .counting { try stream.push(piece) { status throws(WebImageError) in try take(status) } }
            if scout.isComplete { header?.frameCount = scout.header?.frameCount }
            if stage == .counting { learnLate() }
            if stage == .counting, isScoutLost, !knowsFrames { stage = .ended }
        }

        private func learnLate() {
            let metadata = ImageMetadata(readingEXIF: boxes.exif, xmp: boxes.xmp)
            if metadata != header?.metadata { header?.metadata = metadata }
            let knowsMetadata = !boxes.isOpen || (boxes.exif != nil && boxes.xmp != nil)
            if knowsFrames, knowsMetadata { stage = .ended }
        }

        func finish() throws(WebImageError) {
            switch stage {
            case .header:
                throw WebImageError(.truncatedData, "the data ends before the picture begins", format: .jxl)
            case .data:
                let isCoarse = flush()
                if isCoarse { try emitPicture() }
                stage = .ended
                let there = isCoarse ? "the picture is there, but coarse or in parts" : "nothing can be shown of it"
                throw WebImageError(.truncatedData, "the JPEG XL's data ends early: \(there)", format: .jxl)
            case .counting, .ended:
                if header?.frameCount == nil { header?.frameCount = max(scout.delays.count, 1) }
                stage = .ended
            }
        }

        /// The known part of the picture, in its final size.
        func preview() throws(WebImageError) -> PixelBuffer? {
            guard stage == .data, received > receivedAtPreview, flush(), let picture else { return nil }
            receivedAtPreview = received
            return try picture.preview()
        }

        private func countBytes(_ count: Int) throws(WebImageError) {
            received += count
            try options.limits.check(byteCount: received, of: .jxl)
        }

        /// - Returns: whether libjxl should continue.
        private func take(_ status: JxlDecoderStatus) throws(WebImageError) -> Bool {
            switch status {
            case JXL_DEC_BASIC_INFO: info = try stream.info(options.limits)
            case JXL_DEC_COLOR_ENCODING: try begin()
            case JXL_DEC_NEED_IMAGE_OUT_BUFFER: try setPicture()
            case JXL_DEC_FULL_IMAGE:
                try emitPicture()
                stage = .counting
            default: throw stream.corrupt()
            }
            try options.checkpoint?()
            return stage == .header || stage == .data
        }

        /// The header is complete, the profile included.
        private func begin() throws(WebImageError) {
            var header = stream.header(info, options.limits)
            header.metadata = ImageMetadata(readingEXIF: boxes.exif, xmp: boxes.xmp)
            self.header = header
            let plan = try planner?(header)
            planner = nil
            guard let sink = plan?.sink else {
                stage = .counting
                return
            }
            let format = RowFormat(
                size: header.size, layout: options.layout(ofBits: header.bitDepth),
                alpha: header.hasAlpha ? .straight : .opaque)
            try sink.begin(format)
            self.sink = sink
            self.format = format
            stage = .data
        }

        /// Gives libjxl cleared memory for the picture, because a partial picture need not fill it.
        private func setPicture() throws(WebImageError) {
            guard let sink, let format else { throw stream.corrupt() }
            let whole = try WholePicture(sink, format)
            whole.clear()
            try stream.setOutput(format, whole.base)
            picture = whole
        }

        /// Makes libjxl render the data so far; false if there is nothing to show yet.
        private func flush() -> Bool {
            picture != nil && JxlDecoderFlushImage(stream.handle) == JXL_DEC_SUCCESS
        }

        private func emitPicture() throws(WebImageError) {
            guard let picture else { throw stream.corrupt() }
            try picture.emit(rows: picture.format.size.height, options)
            self.picture = nil
        }
    }
#endif

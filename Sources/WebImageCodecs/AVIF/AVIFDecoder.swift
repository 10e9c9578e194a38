#if AVIF
    import CSysAVIF
    import WebImageCore

    /// Decodes one AVIF: the header when the boxes that describe the picture have arrived, all rows at once when its
    /// data has.
    final class AVIFDecoder: AdvancingDecoder {
        private enum Stage {
            case header
            case data
            /// The picture is decoded; EXIF or XMP may follow.
            case afterPicture
            case stoppedAtHeader
            case complete
        }

        let options: DecodeOptions
        let file: AVIFFile
        private var stage = Stage.header
        private var planner: DecodePlanner?
        private var sink: (any RowSink)?
        private var attempts = ParseAttempts()
        /// The end of the first frame's data in the file; nil if it is not known.
        private var dataEnd: Int?

        init(_ options: DecodeOptions, plan: @escaping DecodePlanner) throws(WebImageError) {
            self.options = options
            planner = plan
            file = try AVIFFile(options)
        }

        var header: ImageHeader? { file.header }

        var bytes: CollectedBytes { file.bytes }

        var state: DecodeState {
            switch stage {
            case .complete: return .complete
            case .stoppedAtHeader: return .stoppedAtHeader
            default: return .needsBytes
            }
        }

        var missingMetadataEnd: Int? {
            stage == .stoppedAtHeader && !file.knowsMetadata ? file.metadataNeeds : nil
        }

        func finish() throws(WebImageError) {
            guard isOpen else { return }
            if stage == .header { try readHeader() }
            if stage == .data { try decode() }
            if stage == .afterPicture { stage = .complete }
            guard isOpen else { return }
            throw WebImageError(
                .truncatedData,
                stage == .header ? "the data ends before the picture begins" : "the AVIF's data ends early",
                format: header?.format ?? .avif)
        }

        func advance() throws(WebImageError) {
            if stage == .header, attempts.isDue(at: file.bytes.count) { try readHeader() }
            if stage == .data, let dataEnd, file.bytes.count >= dataEnd { try decode() }
            if stage == .afterPicture || stage == .stoppedAtHeader { file.learnMetadata() }
            if stage == .afterPicture, file.knowsMetadata { stage = .complete }
        }

        private func readHeader() throws(WebImageError) {
            guard try file.parse(), let header else { return }
            let plan = try planner?(header)
            planner = nil
            sink = plan?.sink
            stage = sink == nil ? .stoppedAtHeader : .data
            dataEnd = file.dataEnd(of: 0)
        }

        /// Each further thread takes more memory and gains less.
        private static let maxHelpers = 3

        private func decode() throws(WebImageError) {
            guard let header, let sink else { return }
            try options.checkpoint?()
            file.threads = 1 + min(options.idleThreads?.idleCount ?? 0, Self.maxHelpers)
            guard try file.decode(0) else { return }
            let image = file.handle.pointee.image.pointee
            let format = RowFormat(
                size: header.size, layout: options.layout(ofBits: Int(image.depth)),
                alpha: image.alphaPlane == nil ? .opaque : .straight)
            try sink.begin(format)
            try emit(format, sink)
            stage = .afterPicture
        }

        /// Passes on all rows at once if the sink keeps the whole picture, else in bands.
        private func emit(_ format: RowFormat, _ sink: any RowSink) throws(WebImageError) {
            let pixels = AVIFPixels(file, format)
            let whole = sink.wholePicture
            if let whole {
                try options.checkpoint?()
                try pixels.convert(into: whole)
            }
            for row in stride(from: 0, to: format.size.height, by: AVIFPixels.bandRows) {
                let count = min(AVIFPixels.bandRows, format.size.height - row)
                if whole == nil { try options.checkpoint?() }
                let band = try sink.band(at: row, count: count)
                if whole == nil { try pixels.convert(rows: row..<row + count, into: band) }
                try sink.commit(at: row, count: count)
            }
        }
    }

    /// Limits how often the boxes are parsed, so that tiny pieces cost little: libavif begins from the start each time.
    struct ParseAttempts {
        private static let minGrowth = 1 << 10
        private var next = 0

        mutating func isDue(at count: Int) -> Bool {
            guard count >= next else { return false }
            next = count + max(count / 8, Self.minGrowth)
            return true
        }
    }
#endif

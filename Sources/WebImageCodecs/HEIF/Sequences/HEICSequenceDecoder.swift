#if HEIF
    import WebImageCore

    /// Decodes the first frame of a HEIC image sequence. A file that claims to be a sequence but has only a still is
    /// decoded as a still.
    final class HEICSequenceDecoder: AdvancingDecoder {
        private enum Stage {
            case boxes
            case data(any RowSink)
            /// EXIF or XMP follow the picture.
            case afterPicture
            case stoppedAtHeader
            case complete
        }

        let options: DecodeOptions
        private let file: HEICSequenceFile
        private var planner: DecodePlanner?
        private var stage = Stage.boxes
        private var still: HEIFDecoder?

        init(_ options: DecodeOptions, plan: @escaping DecodePlanner) {
            self.options = options
            planner = plan
            file = HEICSequenceFile(options)
        }

        var header: ImageHeader? { still?.header.map(Self.ofSequence) ?? file.header }

        /// The header with the format that the file claims to have, even if it has only a still.
        private static func ofSequence(_ header: ImageHeader) -> ImageHeader {
            var header = header
            header.format = .heicSequence
            return header
        }

        var bytes: CollectedBytes { file.bytes }

        func finish() throws(WebImageError) {
            guard isOpen else { return }
            if case .afterPicture = stage {
                stage = .complete
                return
            }
            guard case .boxes = stage, let planner else { throw file.truncation }
            let still = HEIFDecoder(options) { header throws(WebImageError) in
                try planner(Self.ofSequence(header))
            }
            self.still = still
            self.planner = nil
            _ = try still.push(file.bytes.all)
            try still.finish()
            stage = still.state == .stoppedAtHeader ? .stoppedAtHeader : .complete
        }

        var state: DecodeState {
            switch stage {
            case .boxes, .data, .afterPicture: .needsBytes
            case .stoppedAtHeader: .stoppedAtHeader
            case .complete: .complete
            }
        }

        func advance() throws(WebImageError) {
            guard try file.parse(), let sequence = file.sequence else { return }
            let knowsMetadata = file.learnMetadata()
            if case .boxes = stage {
                let plan = try planner?(file.header ?? sequence.header)
                planner = nil
                stage = plan?.sink.map { .data($0) } ?? .stoppedAtHeader
            }
            if case .data(let sink) = stage, sequence.dataEnd(of: 0) <= file.bytes.count {
                try sequence.emit(0, of: file.bytes.all, to: sink, options)
                stage = .afterPicture
            }
            if case .afterPicture = stage, knowsMetadata { stage = .complete }
        }
    }
#endif

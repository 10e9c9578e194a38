#if HEIF
    import WebImageCore

    /// Decodes the first frame of a HEIC image sequence. A file that claims to be one and has only a still is decoded as such.
    final class HEICSequenceDecoder: CollectingDecoder {
        private enum Stage {
            case boxes
            case data(any RowSink)
            case stoppedAtHeader
            case complete
        }

        private let options: DecodeOptions
        private let file: HEICSequenceFile
        private var planner: DecodePlanner?
        private var stage = Stage.boxes
        private var still: HEIFDecoder?

        init(_ options: DecodeOptions, plan: @escaping DecodePlanner) {
            self.options = options
            planner = plan
            file = HEICSequenceFile(options)
        }

        var header: ImageHeader? { still?.header ?? file.header }

        func push(_ piece: UnsafeRawBufferPointer) throws(WebImageError) -> DecodeState {
            guard isOpen else { return state }
            try options.checkpoint?()
            try file.bytes.append(piece)
            try advance()
            return state
        }

        func push(whole: WholeFile) throws(WebImageError) -> DecodeState {
            try file.bytes.take(whole)
            try advance()
            return state
        }

        func finish() throws(WebImageError) {
            guard isOpen else { return }
            guard case .boxes = stage, let planner else { throw file.isTruncated }
            let still = HEIFDecoder(options, plan: planner)
            self.still = still
            self.planner = nil
            switch try still.push(file.bytes.all) {
            case .needsBytes:
                try still.finish()
                stage = .complete
            case .stoppedAtHeader: stage = .stoppedAtHeader
            case .complete: stage = .complete
            }
        }

        private var isOpen: Bool {
            switch stage {
            case .boxes, .data: true
            case .stoppedAtHeader, .complete: false
            }
        }

        private var state: DecodeState {
            switch stage {
            case .boxes, .data: .needsBytes
            case .stoppedAtHeader: .stoppedAtHeader
            case .complete: .complete
            }
        }

        private func advance() throws(WebImageError) {
            guard try file.parse(), let sequence = file.sequence else { return }
            if case .boxes = stage {
                let plan = try planner?(sequence.header)
                planner = nil
                stage = plan?.sink.map { .data($0) } ?? .stoppedAtHeader
            }
            guard case .data(let sink) = stage, sequence.dataEnd(of: 0) <= file.bytes.count else { return }
            try sequence.emit(0, of: file.bytes.all, to: sink, options)
            stage = .complete
        }
    }
#endif

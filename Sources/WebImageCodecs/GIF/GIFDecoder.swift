import WebImageCore

/// Decodes the first frame of one GIF as its bytes arrive, and then counts the other frames.
final class GIFDecoder: ImageDecoder {
    private enum Stage {
        case header
        case data
        /// The first frame is decoded, or not requested: frames are counted.
        case counting
        case ended
    }

    private let options: DecodeOptions
    private(set) var header: ImageHeader?
    private var stage = Stage.header
    private var planner: DecodePlanner?
    private var reader: GIFBlockReader
    private var frame = GIFFrame()
    private var frameWriter: GIFFrameWriter?
    private var lzw: LZWDecoder?
    private var received = 0
    private var rowsAtPreview = 0
    /// The error for `finish`: the frame has less data than pixels.
    private var shortage: WebImageError?

    init(_ options: DecodeOptions, plan: @escaping DecodePlanner) {
        self.options = options
        self.planner = plan
        reader = GIFBlockReader(metadataLimit: max(options.limits.metadata.bytes, 0))
    }

    func push(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) -> DecodeState {
        var rest = bytes.bindMemory(to: UInt8.self)
        var checked = rest.count
        while stage != .ended {
            let before = rest.count
            let piece = try reader.next(&rest)
            try countBytes(before - rest.count)
            guard let piece else { break }
            try take(piece)
            // A file of many small blocks takes long even between two rows.
            if checked - rest.count >= 64 << 10 {
                checked = rest.count
                try options.checkpoint?()
            }
        }
        try frameWriter?.flush()
        if stage != .header, frameWriter == nil { return .stoppedAtHeader }
        return stage == .ended && shortage == nil ? .complete : .needsBytes
    }

    var mayExtendHeader: Bool { stage != .header && stage != .ended }

    func finish() throws(WebImageError) {
        switch stage {
        case .header:
            throw WebImageError(.truncatedData, "the data ends before the picture begins", format: .gif)
        case .data:
            try frameWriter?.finishEarly()
            noteShortage()
        case .counting, .ended: break
        }
        header?.frameCount = reader.frameCount
        stage = .ended
        if let shortage { throw shortage }
    }

    func preview() throws(WebImageError) -> PixelBuffer? {
        guard stage == .data, let frameWriter, frameWriter.framesRowsDone > rowsAtPreview else { return nil }
        rowsAtPreview = frameWriter.framesRowsDone
        return try frameWriter.preview()
    }

    private func countBytes(_ count: Int) throws(WebImageError) {
        received += count
        try options.limits.check(byteCount: received, of: .gif)
    }

    private func take(_ piece: GIFBlockReader.Piece) throws(WebImageError) {
        switch (piece, stage) {
        case (.descriptor(let frame), .header): try begin(frame)
        case (.dataBegins(let codeSize), .data): try beginData(codeSize)
        case (.data(let bytes), .data): try decode(bytes)
        case (.frameEnds, .data):
            try frameWriter?.finishEarly()
            noteShortage()
            endFrame()
        case (.frameEnds, .counting): header?.loopCount = reader.loopCount
        case (.trailer, .header):
            throw WebImageError(.corruptData, "the GIF has no picture", format: .gif)
        case (.trailer, _):
            header?.frameCount = reader.frameCount
            header?.loopCount = reader.loopCount
            if reader.xmp != nil { header?.metadata.xmp = reader.xmp }
            stage = .ended
        default: break
        }
    }

    /// Place and size of the first frame are known, and so is the header.
    private func begin(_ frame: GIFFrame) throws(WebImageError) {
        let size = frame.canvas(stated: reader.canvas)
        try options.limits.check(size, of: .gif)
        var header = frame.header(of: size)
        header.loopCount = reader.loopCount
        header.metadata.xmp = reader.xmp
        self.header = header
        self.frame = frame
        stage = .counting
        let plan = try planner?(header)
        planner = nil
        guard let sink = plan?.sink else { return }
        let format = RowFormat(size: size, layout: .rgba8, alpha: header.hasAlpha ? .straight : .opaque)
        try sink.begin(format)
        frameWriter = try GIFFrameWriter(sink, format, frame, options)
        stage = .data
    }

    private func beginData(_ codeSize: Int) throws(WebImageError) {
        guard LZWDecoder.codeSizes.contains(codeSize) else {
            throw WebImageError(.corruptData, "the GIF's first code size is \(codeSize)", format: .gif)
        }
        try frameWriter?.setColors(reader.colors, transparentIndex: frame.transparentIndex)
        lzw = LZWDecoder(codeSize: codeSize)
        if frameWriter?.isComplete == true { endFrame() }
    }

    private func decode(_ bytes: UnsafeBufferPointer<UInt8>) throws(WebImageError) {
        guard let lzw else { return }
        var rest = bytes
        while true {
            let indices = lzw.decode(&rest)
            try frameWriter?.write(indices)
            if frameWriter?.isComplete == true { return endFrame() }
            if lzw.state == .damaged {
                throw WebImageError(.corruptData, "the GIF's data has an undefined LZW code", format: .gif)
            }
            if indices.isEmpty { return }
        }
    }

    private func endFrame() {
        lzw = nil
        stage = .counting
    }

    private func noteShortage() {
        guard let frameWriter, !frameWriter.isComplete else { return }
        let (done, all) = (frameWriter.framesRowsDone, frame.size.height)
        shortage = WebImageError(
            .truncatedData, "the GIF's data ends early: \(done) of \(all) rows of its first frame are there",
            format: .gif)
    }
}

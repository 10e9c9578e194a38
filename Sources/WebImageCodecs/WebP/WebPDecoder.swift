import WebImageCore
import WebImageSystem

/// Decodes one WebP as its bytes arrive; of an animation the first frame, on a transparent canvas.
final class WebPDecoder: ImageDecoder {
    /// How many bytes of data are decoded between two checkpoints.
    private static let pieceLength = 64 << 10

    enum Stage {
        case header
        case data
        /// The picture is complete; later chunks may contain orientation and number of frames.
        case afterPicture
        /// The picture is not requested; later chunks may contain orientation and number of frames.
        case headerOnly
        case complete
    }

    let options: DecodeOptions
    var header: ImageHeader?
    var stage = Stage.header
    var sink: (any RowSink)?
    /// The rows that the sink gets.
    var format: RowFormat?
    /// The rows from libwebp: larger ones if rows are scaled down here.
    var decoded: RowFormat?
    /// The memory of all rows that libwebp makes: the sink's, or `ownPicture`'s.
    var picture: UnsafeMutableRawPointer?
    var ownPicture: PixelBuffer?
    var frame: WebPFrame?
    /// Nil: the picture is decoded in full size.
    var scaling: WebPScaling?
    /// The first row that the sink has not got yet.
    var row = 0
    var bitstream: WebPBitstream?
    /// A lossless picture that is declared opaque may contain another alpha.
    var mustBecomeOpaque = false
    private var received = 0
    private var planner: DecodePlanner?
    private var chunks: WebPChunkReader

    init(_ options: DecodeOptions, plan: @escaping DecodePlanner) {
        self.options = options
        planner = plan
        chunks = WebPChunkReader(metadataLimit: max(options.limits.metadata.bytes, 0))
    }

    var acceptsLongPushes: Bool { true }

    func push(_ bytes: UnsafeRawBufferPointer) throws(WebImageError) -> DecodeState {
        let input = bytes.bindMemory(to: UInt8.self)
        var rest = input
        while isOpen {
            let before = rest.count
            let piece = try chunks.next(&rest)
            try countBytes(before - rest.count)
            guard let piece else { break }
            try take(piece, of: input, following: rest)
        }
        if isOpen, chunks.isAtEnd { try end() }
        if stage == .headerOnly { header?.learn(from: chunks) }
        return stage == .headerOnly ? .stoppedAtHeader : stage == .complete ? .complete : .needsBytes
    }

    var mayExtendHeader: Bool { header != nil && stage != .complete && chunks.mayExtendHeader }

    func finish() throws(WebImageError) {
        guard isOpen else { return }
        if stage == .data {
            try bitstream?.flush()
            try emitDecodedRows()
        }
        header?.learn(from: chunks)
        guard stage != .headerOnly else { return }
        let isWhole = stage == .afterPicture
        stage = .complete
        bitstream = nil
        guard !isWhole else { return }
        guard let format else {
            throw WebImageError(.truncatedData, "the data ends before the picture begins", format: .webp)
        }
        throw WebImageError(
            .truncatedData, "the WebP's data ends early: \(row) of \(format.size.height) rows are there", format: .webp)
    }

    private var isOpen: Bool { stage == .headerOnly ? chunks.mayExtendHeader : stage != .complete }

    private func countBytes(_ count: Int) throws(WebImageError) {
        received += count
        try options.limits.check(byteCount: received, of: .webp)
    }

    private func take(
        _ piece: WebPChunkReader.Piece, of input: UnsafeBufferPointer<UInt8>, following: UnsafeBufferPointer<UInt8>
    ) throws(WebImageError) {
        switch piece {
        case .canvas(let size): try options.limits.check(size, of: .webp)
        case .alphaHeader(let chunk):
            try begin(canvas: chunks.canvas, hasAlpha: true, following: following)
            try feed(chunk)
        case .bitstream(let bitstream, let chunk):
            guard stage != .headerOnly else { return }
            try chunks.check(bitstream, options.limits)
            let hasAlpha = chunks.canvas == nil ? bitstream.saysAlpha : chunks.saysAlpha
            try begin(canvas: chunks.canvas ?? bitstream.size, hasAlpha: hasAlpha, following: following)
            mustBecomeOpaque = bitstream.isLossless && format?.alpha == .opaque
            // The chunk begins with its name and its length.
            let length = 8 + WebPBytes.number(chunk[4..<8])
            let begin = input.count - following.count - chunk.count
            if begin >= 0, input.count - begin >= length {
                let whole = UnsafeBufferPointer(rebasing: input[begin..<begin + length])
                self.bitstream?.read(inPlace: whole, isLossless: bitstream.isLossless)
            } else if bitstream.isLossless, length <= options.limits.bytes.bytes {
                try self.bitstream?.gatherLossless(byteCount: length)
            }
            try feed(chunk)
        case .data(let bytes):
            var rest = bytes
            while !rest.isEmpty, stage == .data {
                try options.checkpoint?()
                let piece = UnsafeBufferPointer(rebasing: rest.prefix(Self.pieceLength))
                rest = UnsafeBufferPointer(rebasing: rest.dropFirst(piece.count))
                try feed(piece)
            }
        case .endOfBitstream:
            guard stage == .data else { return }
            try bitstream?.flush()
            try emitDecodedRows()
            guard stage == .afterPicture else {
                throw WebImageError(.corruptData, "the WebP's picture has too little data", format: .webp)
            }
        }
    }

    private func feed(_ chunk: [UInt8]) throws(WebImageError) {
        try chunk.withUnsafeBufferPointer { bytes throws(WebImageError) in try feed(bytes) }
    }

    private func feed(_ bytes: UnsafeBufferPointer<UInt8>) throws(WebImageError) {
        guard stage == .data, let bitstream else { return }
        try bitstream.push(bytes)
        try emitDecodedRows()
    }

    /// The first chunk of the picture has arrived: the header is complete, except for what follows the picture.
    ///
    /// - Parameter following: the available bytes after that chunk's beginning. If they are the rest of the file,
    ///   nothing need be learnt later.
    private func begin(
        canvas: PixelSize?, hasAlpha: Bool, following: UnsafeBufferPointer<UInt8>
    ) throws(WebImageError) {
        guard stage == .header, let canvas else { return }
        let frame = chunks.frame ?? WebPFrame(size: canvas)
        var header = chunks.header(canvas, hasAlpha: hasAlpha)
        header.learn(from: scout(following))
        self.header = header
        let plan = try planner?(header)
        planner = nil
        guard let plan, let sink = plan.sink else {
            stage = .headerOnly
            return
        }
        self.sink = sink
        if plan.scaleDenominator > 1 { scaling = WebPScaling(canvas, denominator: plan.scaleDenominator) }
        try beginRows(into: sink, canvas: canvas, frame: frame)
        stage = .data
    }

    /// A reader that has parsed `following` as far as it is valid.
    private func scout(_ following: UnsafeBufferPointer<UInt8>) -> WebPChunkReader {
        var (scout, rest) = (chunks, following)
        do throws(WebImageError) {
            while try scout.next(&rest) != nil {}
        } catch {
            return scout  // decoding finds the same fault when it gets there
        }
        return scout
    }

    /// The end of the file.
    private func end() throws(WebImageError) {
        guard stage == .afterPicture || stage == .headerOnly else {
            throw WebImageError(.corruptData, "the WebP has no picture", format: .webp)
        }
        header?.learn(from: chunks)
        if stage == .afterPicture { stage = .complete }
    }
}

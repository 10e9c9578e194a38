import WebImageCore
import WebImageSystem

/// Finds and decodes the frames of a WebP; a still has one.
///
/// The background colour of the file is ignored: as in browsers the canvas is transparent.
final class WebPPatchReader: FramePatchReader {
    /// How many bytes of data are decoded between two checkpoints.
    private static let pieceLength = 64 << 10

    /// The data for decoding a frame: the positions of its alpha and picture chunks.
    private struct FrameData {
        var alpha: Range<Int>?
        var bitstream = 0..<0
        var isLossless = false
    }

    private let options: DecodeOptions
    private(set) var header: ImageHeader?
    private(set) var patches: [FramePatch] = []
    private(set) var bytes: [UInt8] = []
    private var chunks: WebPChunkReader
    private var frames: [FrameData] = []
    private var current = FrameData()
    private var currentPatch = FramePatch()
    /// The memory of the frame that was decoded last.
    private var picture: PixelBuffer?

    init(_ options: DecodeOptions) {
        self.options = options
        chunks = WebPChunkReader(metadataLimit: max(options.limits.metadata.bytes, 0), entersAllFrames: true)
    }

    // MARK: finding

    func push(_ new: UnsafeRawBufferPointer, of file: [UInt8]?) throws(WebImageError) {
        guard !chunks.isAtEnd else { return }
        try options.limits.check(byteCount: bytes.count + new.count, of: .webp)
        var rest = new.bindMemory(to: UInt8.self)
        bytes.append(new, of: file)
        while let piece = try chunks.next(&rest) { try take(piece) }
        header?.learn(from: chunks)
        guard !chunks.isAtEnd || !patches.isEmpty else {
            throw WebImageError(.corruptData, "the WebP has no picture", format: .webp)
        }
    }

    func finish() throws(WebImageError) {
        let isWhole = chunks.isAtEnd || !chunks.isAnimated && !patches.isEmpty
        header?.learn(from: chunks)
        header?.frameCount = patches.count
        guard !isWhole else { return }
        throw WebImageError(
            .truncatedData, "the WebP's data ends early: \(patches.count) of its frames are there", format: .webp)
    }

    private func take(_ piece: WebPChunkReader.Piece) throws(WebImageError) {
        switch piece {
        case .canvas(let size): try options.limits.check(size, of: .webp)
        case .alphaHeader(let chunk):
            let length = WebPBytes.number(chunk[4..<8])
            current.alpha = chunks.position - chunk.count..<chunks.position + length + (length & 1)
        case .bitstream(let bitstream, let chunk): try begin(bitstream, at: chunks.position - chunk.count)
        case .data: break
        case .endOfBitstream:
            current.bitstream = current.bitstream.lowerBound..<chunks.position
            if let size = header?.size {
                try options.limits.check(frames: patches.count + 1, of: size, format: .webp)
            }
            frames.append(current)
            patches.append(currentPatch)
            current = FrameData()
        }
    }

    private func begin(_ bitstream: WebPBitstreamHeader, at place: Int) throws(WebImageError) {
        try chunks.check(bitstream, options.limits)
        let canvas = chunks.canvas ?? bitstream.size
        let isTransparent = bitstream.saysAlpha && (chunks.canvas == nil || chunks.saysAlpha)
        let hasAlpha = isTransparent || current.alpha != nil
        current.bitstream = place..<place
        current.isLossless = bitstream.isLossless
        currentPatch = FramePatch(chunks.frame ?? WebPFrame(size: canvas), isOpaque: !hasAlpha)
        if header == nil {
            header = chunks.header(canvas, hasAlpha: hasAlpha || chunks.saysAlpha)
        }
    }

    // MARK: decoding

    func decode(_ index: Int, into sink: any RowSink) throws(WebImageError) {
        let (data, patch) = (frames[index], patches[index])
        try sink.begin(
            RowFormat(size: patch.size, layout: .rgba8, alpha: patch.isOpaque ? .opaque : .straight))
        let picture = try memory(for: patch.size)
        let bitstream = try WebPBitstream(picture.base, bytesPerRow: picture.bytesPerRow, size: patch.size)
        try feed(data, to: bitstream)
        guard bitstream.isComplete else {
            throw WebImageError(.corruptData, "the WebP's frame \(index) has too little data", format: .webp)
        }
        // libwebp returns the alpha in the data, even if the header says that there is none.
        let mustBecomeOpaque = data.isLossless && patch.isOpaque
        var row = 0
        while row < patch.size.height {
            let count = min(RowBand.rows, patch.size.height - row)
            let source = picture.row(row)
            if mustBecomeOpaque { makeOpaque(source, pixels: count * patch.size.width) }
            try sink.band(at: row, count: count).copyMemory(from: source, byteCount: count * picture.bytesPerRow)
            try sink.commit(at: row, count: count)
            row += count
        }
    }

    private func memory(for size: PixelSize) throws(WebImageError) -> PixelBuffer {
        if let picture, picture.size == size { return picture }
        picture = nil
        let fresh = try PixelBuffer(size: size)
        picture = fresh
        return fresh
    }

    private func feed(_ data: FrameData, to bitstream: WebPBitstream) throws(WebImageError) {
        try bytes.withUnsafeBufferPointer { all throws(WebImageError) in
            if data.alpha == nil {
                let whole = UnsafeBufferPointer(rebasing: all[data.bitstream])
                bitstream.read(inPlace: whole, isLossless: data.isLossless)
            }
            for range in [data.alpha, data.bitstream].compactMap(\.self) {
                var rest = all[range]
                while !rest.isEmpty, !bitstream.isComplete {
                    try options.checkpoint?()
                    let piece = rest.prefix(Self.pieceLength)
                    rest = rest.dropFirst(piece.count)
                    try bitstream.push(UnsafeBufferPointer(rebasing: piece))
                }
            }
            try bitstream.flush()
        }
    }
}

extension FramePatch {
    fileprivate init(_ frame: WebPFrame, isOpaque: Bool) {
        self.init(x: frame.x, y: frame.y, size: frame.size)
        blend = frame.replaces ? .replace : .over
        disposal = frame.isCleared ? .clear : .keep
        delay = frame.delay
        self.isOpaque = isOpaque
    }
}

import WebImageCore

/// Finds and decodes the frames of a GIF.
final class GIFPatchReader: FramePatchReader {
    /// The data for decoding a frame.
    private struct FrameData {
        var frame: GIFFrame
        var colors: [UInt8] = []
        var codeSize = 0
        /// From its first block of data to the end of the last one.
        var range = 0..<0
    }

    private let options: DecodeOptions
    private(set) var header: ImageHeader?
    private(set) var patches: [FramePatch] = []
    private(set) var bytes: [UInt8] = []
    private var reader = GIFBlockReader()
    private var frames: [FrameData] = []
    private var current: FrameData?
    private var isAtEnd = false

    init(_ options: DecodeOptions) { self.options = options }

    // MARK: finding

    func push(_ new: UnsafeRawBufferPointer, of file: [UInt8]?) throws(WebImageError) {
        guard !isAtEnd else { return }
        try options.limits.check(byteCount: bytes.count + new.count, of: .gif)
        var rest = new.bindMemory(to: UInt8.self)
        let begin = bytes.count
        bytes.append(new, of: file)
        while let piece = try reader.next(&rest) {
            try take(piece, at: begin + new.count - rest.count)
            if isAtEnd { return }
        }
    }

    func finish() throws(WebImageError) {
        learnLoops()
        header?.frameCount = patches.count
        guard !patches.isEmpty, current == nil, reader.isBetweenBlocks else {
            throw WebImageError(
                .truncatedData, "the GIF's data ends early: \(patches.count) of its frames are there", format: .gif)
        }
    }

    /// - Parameter place: the position after the piece.
    private func take(_ piece: GIFBlockReader.Piece, at place: Int) throws(WebImageError) {
        switch piece {
        case .descriptor(let frame):
            try begin(frame)
        case .dataBegins(let codeSize):
            guard LZWDecoder.codeSizes.contains(codeSize) else {
                throw WebImageError(.corruptData, "a GIF frame's first code size is \(codeSize)", format: .gif)
            }
            current?.colors = reader.colors
            current?.codeSize = codeSize
            current?.range = place..<place
        case .data: break
        case .frameEnds:
            guard var data = current, let canvas = header?.size else { return }
            current = nil
            data.range = data.range.lowerBound..<place
            try options.limits.check(frames: patches.count + 1, of: canvas, format: .gif)
            frames.append(data)
            patches.append(FramePatch(data.frame, on: canvas))
            learnLoops()
        case .trailer:
            isAtEnd = true
            learnLoops()
        }
    }

    private func begin(_ frame: GIFFrame) throws(WebImageError) {
        // The part of a frame beside the canvas is decoded as well.
        if !frame.size.isEmpty { try options.limits.check(frame.size, of: .gif) }
        current = FrameData(frame: frame)
        guard header == nil else { return }
        let size = frame.canvas(stated: reader.canvas)
        try options.limits.check(size, of: .gif)
        header = frame.header(of: size)
    }

    private func learnLoops() {
        header?.loopCount = reader.loopCount
        header?.frameCount = isAtEnd ? patches.count : nil
    }

    // MARK: decoding

    func decode(_ index: Int, into sink: any RowSink) throws(WebImageError) {
        let (data, patch) = (frames[index], patches[index])
        var frame = data.frame
        (frame.x, frame.y) = (0, 0)
        let format = RowFormat(size: patch.size, layout: .rgba8, alpha: patch.isOpaque ? .opaque : .straight)
        try sink.begin(format)
        var writer = try GIFFrameWriter(sink, format, frame, options)
        try writer.setColors(data.colors, transparentIndex: frame.transparentIndex)
        let lzw = LZWDecoder(codeSize: data.codeSize)
        var offset = data.range.lowerBound
        while offset < data.range.upperBound, !writer.isComplete {
            let end = offset + 1 + Int(bytes[offset])
            guard end <= data.range.upperBound else { break }
            try bytes[(offset + 1)..<end].withUnsafeBufferPointer { block throws(WebImageError) in
                try Self.decode(block, lzw, &writer)
            }
            offset = end
        }
        // If a frame's data ends early, the available part is shown, as in browsers.
        try writer.finishEarly()
    }

    private static func decode(
        _ block: UnsafeBufferPointer<UInt8>, _ lzw: LZWDecoder, _ writer: inout GIFFrameWriter
    ) throws(WebImageError) {
        var rest = block
        while true {
            let indices = lzw.decode(&rest)
            try writer.write(indices)
            if writer.isComplete { return }
            if lzw.state == .damaged {
                throw WebImageError(.corruptData, "a GIF frame has an undefined LZW code", format: .gif)
            }
            if indices.isEmpty { return }
        }
    }
}

extension GIFFrame {
    /// The canvas of a file with this first frame: if the stated one is smaller, it is enlarged to hold the frame, as
    /// in Chrome and Pillow.
    func canvas(stated: PixelSize) -> PixelSize {
        PixelSize(width: max(stated.width, x + size.width), height: max(stated.height, y + size.height))
    }

    /// The header of a file with this first frame, before the file's end is seen.
    func header(of canvas: PixelSize) -> ImageHeader {
        var header = ImageHeader(
            format: .gif, size: canvas, hasAlpha: transparentIndex != nil || !covers(canvas),
            isProgressive: isInterlaced)
        header.paletteBits = paletteBits
        header.frameCount = nil
        return header
    }
}

extension FramePatch {
    /// A frame, cropped to the canvas.
    fileprivate init(_ frame: GIFFrame, on canvas: PixelSize) {
        self.init()
        x = min(frame.x, canvas.width)
        y = min(frame.y, canvas.height)
        size = PixelSize(
            width: min(frame.size.width, canvas.width - x), height: min(frame.size.height, canvas.height - y))
        if size.isEmpty { size = PixelSize(width: 0, height: 0) }
        isOpaque = frame.transparentIndex == nil
        delay = .milliseconds(frame.delay * 10)
        disposal =
            switch frame.disposal {
            case 2: .clear
            // Some descriptions of the format use the third bit instead of the number 3; browsers accept both.
            case 3, 4: .restore
            default: .keep
            }
    }
}

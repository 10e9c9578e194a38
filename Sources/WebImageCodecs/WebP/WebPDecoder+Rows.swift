import WebImageCore
import WebImageProcessing
import WebImageSystem

extension WebPDecoder {
    /// Gives libwebp memory for the whole picture: the sink's if it keeps the picture, else our own. It reads earlier
    /// rows, so it cannot be given a band at a time.
    func beginRows(into sink: any RowSink, canvas: PixelSize, frame: WebPFrame) throws(WebImageError) {
        let alpha: AlphaMode = header?.hasAlpha == true ? .straight : .opaque
        let format = RowFormat(size: scaling?.size ?? canvas, layout: .rgba8, alpha: alpha)
        try sink.begin(format)
        self.format = format
        let isCoarse = shrinkFactor != nil
        let decoded = isCoarse ? RowFormat(size: canvas, layout: .rgba8, alpha: alpha) : format
        let memory: UnsafeMutableRawPointer
        if let whole = sink.wholePicture, !isCoarse {
            memory = whole
        } else {
            let own = try PixelBuffer(size: decoded.size)
            ownPicture = own
            memory = own.base
        }
        let bytesPerRow = decoded.bytesPerRow
        if frame.size != canvas {
            memory.initializeMemory(as: UInt8.self, repeating: 0, count: bytesPerRow * decoded.size.height)
        }
        (self.frame, self.decoded, picture) = (frame, decoded, memory)
        let scale: WebPBitstream.Scale =
            if isCoarse { .coarse } else if let scaling { .smaller(scaling) } else { .full }
        bitstream = try WebPBitstream(
            memory + frame.y * bytesPerRow + frame.x * 4, bytesPerRow: bytesPerRow, size: frame.size, scale: scale,
            hasHelper: options.idleThreads.map { $0.idleCount > 0 } ?? false)
    }

    /// Passes on the rows that libwebp has decoded; with the last one, also those below a frame.
    func emitDecodedRows() throws(WebImageError) {
        guard let bitstream, let frame, let format, let decoded else { return }
        if bitstream.isComplete {
            try emit(upTo: format.size.height)
            stage = .afterPicture
            (self.bitstream, ownPicture, picture) = (nil, nil, nil)
        } else if bitstream.rows > 0 {
            let rows = min(frame.y + bitstream.rows, decoded.size.height)
            try emit(upTo: rows / (shrinkFactor ?? 1))
        }
    }

    /// The factor by which rows are scaled down here, for a picture with alpha. Nil: libwebp returns them in the final
    /// size.
    private var shrinkFactor: Int? { format?.alpha == .straight ? scaling?.denominator : nil }

    private func emit(upTo end: Int) throws(WebImageError) {
        guard let picture, let sink, let format else { return }
        if let factor = shrinkFactor { return try shrink(picture, by: factor, upTo: end, into: sink) }
        while row < end {
            try options.checkpoint?()
            let count = min(RowBand.rows, end - row)
            let source = picture + row * format.bytesPerRow
            scaling?.complete(picture, rows: row..<row + count)
            if mustBecomeOpaque { makeOpaque(source, pixels: count * format.size.width) }
            let band = try sink.band(at: row, count: count)
            if band != source { band.copyMemory(from: source, byteCount: count * format.bytesPerRow) }
            try sink.commit(at: row, count: count)
            row += count
        }
    }

    /// Like ``emit(upTo:)``, for rows that are scaled down here.
    private func shrink(
        _ picture: UnsafeRawPointer, by factor: Int, upTo end: Int, into sink: any RowSink
    ) throws(WebImageError) {
        guard let format, let decoded else { return }
        while row < end {
            try options.checkpoint?()
            let count = min(RowBand.rows, end - row)
            let band = try sink.band(at: row, count: count)
            for index in 0..<count {
                let from = (row + index) * factor
                PixelShrinking.shrink(
                    picture + from * decoded.bytesPerRow, bytesPerRow: decoded.bytesPerRow,
                    rows: min(factor, decoded.size.height - from), width: decoded.size.width, by: factor,
                    into: band + index * format.bytesPerRow)
            }
            try sink.commit(at: row, count: count)
            row += count
        }
    }
}

/// Sets the alpha of pixels to 255. Nearly all pixels are opaque already, and checking is cheaper than writing.
func makeOpaque(_ rows: UnsafeMutableRawPointer, pixels: Int) {
    let words = rows.assumingMemoryBound(to: UInt32.self)
    let alpha = UInt32(littleEndian: 0xFF00_0000)
    var common = UInt32.max
    for index in 0..<pixels { common &= words[index] }
    guard common & alpha != alpha else { return }
    for index in 0..<pixels { words[index] |= alpha }
}

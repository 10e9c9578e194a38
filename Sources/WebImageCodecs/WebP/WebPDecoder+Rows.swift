import WebImageCore
import WebImageSystem

extension WebPDecoder {
    /// Gives libwebp memory for the whole picture: the sink's if it keeps it, else our own. It needs the rows above
    /// the one at hand, so that they cannot be given to it a band at a time.
    func beginRows(into sink: any RowSink, canvas: PixelSize, frame: WebPFrame) throws(WebImageError) {
        let alpha: AlphaMode = header?.hasAlpha == true ? .straight : .opaque
        let size = scaling?.size ?? canvas
        let format = RowFormat(size: size, layout: .rgba8, alpha: alpha)
        try sink.begin(format)
        let memory: UnsafeMutableRawPointer
        if let whole = sink.wholePicture {
            memory = whole
        } else {
            let own = try PixelBuffer(size: size)
            ownPicture = own
            memory = own.base
        }
        let byteCount = format.bytesPerRow * size.height
        if frame.size != canvas { memory.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount) }
        self.format = format
        self.frame = frame
        picture = memory
        bitstream = try WebPBitstream(
            memory + frame.y * format.bytesPerRow + frame.x * 4, bytesPerRow: format.bytesPerRow,
            size: scaling?.made ?? frame.size, scaling: scaling,
            hasHelper: options.idleThreads.map { $0.idleCount > 0 } ?? false)
    }

    /// Hands on the rows that libwebp has decoded; with the last one, those below a frame too.
    func emitDecodedRows() throws(WebImageError) {
        guard let bitstream, let frame, let format else { return }
        if bitstream.isComplete {
            try emit(upTo: format.size.height)
            stage = .afterPicture
            (self.bitstream, ownPicture, picture) = (nil, nil, nil)
        } else {
            let rows = bitstream.rows
            if rows > 0 { try emit(upTo: min(frame.y + rows, format.size.height)) }
        }
    }

    private func emit(upTo end: Int) throws(WebImageError) {
        guard let picture, let sink, let format else { return }
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
}

/// Gives pixels an alpha of 255. Nearly all have it, and to look is half the way to memory of writing it again.
func makeOpaque(_ rows: UnsafeMutableRawPointer, pixels: Int) {
    let words = rows.assumingMemoryBound(to: UInt32.self)
    let alpha = UInt32(littleEndian: 0xFF00_0000)
    var common = UInt32.max
    for index in 0..<pixels { common &= words[index] }
    guard common & alpha != alpha else { return }
    for index in 0..<pixels { words[index] |= alpha }
}

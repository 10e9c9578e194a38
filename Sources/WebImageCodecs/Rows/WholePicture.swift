import WebImageCore

/// A whole picture's memory, for decoders that do not produce rows from the top: the sink's own if it keeps the
/// picture, else as much again.
struct WholePicture {
    let base: UnsafeMutableRawPointer
    let format: RowFormat
    private let sink: any RowSink
    private let own: PixelBuffer?

    /// Not cleared, so that a header alone touches no memory.
    init(_ sink: any RowSink, _ format: RowFormat) throws(WebImageError) {
        self.sink = sink
        self.format = format
        if let whole = sink.wholePicture {
            base = whole
            own = nil
        } else {
            let buffer = try PixelBuffer(size: format.size, layout: format.layout)
            base = buffer.base
            own = buffer
        }
    }

    /// Makes all of it transparent black, for decoders that may not write every pixel.
    func clear() { base.initializeMemory(as: UInt8.self, repeating: 0, count: format.bytesPerRow * format.size.height) }

    /// A copy of the picture so far.
    func preview() throws(WebImageError) -> PixelBuffer {
        let copy = try PixelBuffer(size: format.size, layout: format.layout)
        copy.base.copyMemory(from: base, byteCount: copy.byteCount.bytes)
        return copy
    }

    func row(_ index: Int) -> UnsafeMutableRawPointer { base + index * format.bytesPerRow }

    /// Passes the first `rows` rows to the sink.
    func emit(rows: Int, _ options: DecodeOptions) throws(WebImageError) {
        var writer = BandWriter(sink, format, options)
        while writer.row < rows, sink.wantsRows {
            let source = row(writer.row)
            let target = try writer.nextRow()
            if target != source { target.copyMemory(from: source, byteCount: format.bytesPerRow) }
            try writer.rowIsDone()
        }
        try writer.flush()
    }
}

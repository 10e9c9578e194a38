import WebImageCore

/// Writes a bitmap's rows to their positions: from the top, or from the bottom of a whole picture.
struct BMPRowWriter {
    /// Converts a row's bytes; set before the first row.
    var converter: BMPRowConverter?
    private(set) var rowsDone = 0
    private let format: RowFormat
    private let options: DecodeOptions
    private let sink: any RowSink
    private let isTopDown: Bool
    private var bands: BandWriter
    /// For a file that begins at the bottom and arrives in pieces.
    private var whole: WholePicture?

    init(_ sink: any RowSink, _ format: RowFormat, isTopDown: Bool, _ options: DecodeOptions) {
        self.format = format
        self.options = options
        self.sink = sink
        self.isTopDown = isTopDown
        bands = BandWriter(sink, format, options)
    }

    var isComplete: Bool { rowsDone == format.size.height }

    /// Writes all rows of the file at once, from the top of the picture, without buffering.
    ///
    /// - Parameter source: all rows of the file; none may have been written before.
    mutating func writeAll(_ source: UnsafePointer<UInt8>, bytesPerRow: Int) throws(WebImageError) {
        while !bands.isDone {
            let row = isTopDown ? bands.row : format.size.height - 1 - bands.row
            converter?.convert(source + row * bytesPerRow, try bands.nextRow())
            try bands.rowIsDone()
        }
        rowsDone = format.size.height
    }

    /// Takes the next row of the file.
    mutating func write(_ source: UnsafePointer<UInt8>) throws(WebImageError) {
        if !isTopDown, whole == nil { whole = try WholePicture(sink, format) }
        if let whole {
            if rowsDone % 64 == 0 { try options.checkpoint?() }
            converter?.convert(source, whole.row(format.size.height - 1 - rowsDone))
        } else {
            converter?.convert(source, try bands.nextRow())
            try bands.rowIsDone()
        }
        rowsDone += 1
    }

    /// Passes on the rows that the sink can have before the picture is complete.
    mutating func flush() throws(WebImageError) { try bands.flush() }

    /// Passes on all available rows. The missing upper rows of a picture that began at the bottom are transparent, or
    /// black if the picture has no alpha.
    mutating func finish() throws(WebImageError) {
        guard let whole else { return try bands.flush() }
        guard rowsDone > 0 else { return }
        let blank: UInt32 = format.alpha == .opaque ? UInt32(0xFF00_0000).littleEndian : 0
        whole.base.initializeMemory(
            as: UInt32.self, repeating: blank, count: (format.size.height - rowsDone) * format.size.width)
        try whole.emit(rows: format.size.height, options)
    }
}

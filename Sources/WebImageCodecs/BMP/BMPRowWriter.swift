import WebImageCore

/// Puts a bitmap's rows where they belong: from the top, or from the bottom of a whole picture.
struct BMPRowWriter {
    /// What is in a row of bytes; set before the first row.
    var converter: BMPRowConverter?
    private(set) var rowsDone = 0
    private let format: RowFormat
    private let options: DecodeOptions
    private let sink: any RowSink
    private let isTopDown: Bool
    private var bands: BandWriter
    /// Of a file that begins at the bottom and comes by and by.
    private var whole: WholePicture?

    init(_ sink: any RowSink, _ format: RowFormat, isTopDown: Bool, _ options: DecodeOptions) {
        self.format = format
        self.options = options
        self.sink = sink
        self.isTopDown = isTopDown
        bands = BandWriter(sink, format, options)
    }

    var isComplete: Bool { rowsDone == format.size.height }

    /// Takes all rows of the file at once, the picture's first one first: nothing is held.
    ///
    /// - Parameter source: every row that the file has, before any was written.
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

    /// Gives the sink the rows that it can have before the picture is complete.
    mutating func flush() throws(WebImageError) { try bands.flush() }

    /// Gives the sink all that there is. The missing upper rows of a picture that began at the bottom are transparent,
    /// or black where the picture has no alpha.
    mutating func finish() throws(WebImageError) {
        guard let whole else { return try bands.flush() }
        guard rowsDone > 0 else { return }
        let blank: UInt32 = format.alpha == .opaque ? UInt32(0xFF00_0000).littleEndian : 0
        whole.base.initializeMemory(
            as: UInt32.self, repeating: blank, count: (format.size.height - rowsDone) * format.size.width)
        try whole.emit(rows: format.size.height, options)
    }
}

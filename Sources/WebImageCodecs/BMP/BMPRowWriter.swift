import WebImageCore

/// Puts a bitmap's rows where they belong: from the top, or from the bottom of a whole picture.
struct BMPRowWriter {
    /// What is in a row of bytes; set before the first row.
    var converter: BMPRowConverter?
    private(set) var rowsDone = 0
    private let format: RowFormat
    private let options: DecodeOptions
    private var bands: BandWriter
    private let whole: WholePicture?

    init(
        _ sink: any RowSink, _ format: RowFormat, isTopDown: Bool, _ options: DecodeOptions
    ) throws(WebImageError) {
        self.format = format
        self.options = options
        bands = BandWriter(sink, format, options)
        whole = isTopDown ? nil : try WholePicture(sink, format)
    }

    var isComplete: Bool { rowsDone == format.size.height }

    /// Takes the next row of the file.
    mutating func write(_ source: UnsafePointer<UInt8>) throws(WebImageError) {
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

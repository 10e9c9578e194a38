import WebImageCore

/// Writes a bitmap's rows to their positions: from the top, or from the bottom of a whole picture.
///
/// Some programs give each pixel an alpha of 0 and mean an opaque picture. As in browsers, a picture with alpha in which no pixel
/// is visible is therefore opaque.
struct BMPRowWriter {
    /// Converts a row's bytes; set before the first row.
    var converter: BMPRowConverter?
    private(set) var rowsDone = 0
    private let format: RowFormat
    private let options: DecodeOptions
    private let sink: any RowSink
    private let isTopDown: Bool
    private var bands: BandWriter
    /// For a file that arrives in pieces, and begins at the bottom or may turn out to be opaque.
    private var whole: WholePicture?
    /// Whether a pixel is known not to be fully transparent.
    private var isVisible: Bool

    init(_ sink: any RowSink, _ format: RowFormat, isTopDown: Bool, _ options: DecodeOptions) {
        self.format = format
        self.options = options
        self.sink = sink
        self.isTopDown = isTopDown
        isVisible = format.alpha == .opaque
        bands = BandWriter(sink, format, options)
    }

    var isComplete: Bool { rowsDone == format.size.height }

    /// Writes all rows of the file at once, from the top of the picture, without buffering.
    ///
    /// - Parameter source: all rows of the file; none may have been written before.
    mutating func writeAll(_ source: UnsafePointer<UInt8>, bytesPerRow: Int) throws(WebImageError) {
        if let converter, !isVisible {
            isVisible = (0..<format.size.height).contains { converter.hasVisiblePixel(source + $0 * bytesPerRow) }
            if !isVisible { self.converter?.ignoreAlpha() }
        }
        while !bands.isDone {
            let row = isTopDown ? bands.row : format.size.height - 1 - bands.row
            converter?.convert(source + row * bytesPerRow, try bands.nextRow())
            try bands.rowIsDone()
        }
        rowsDone = format.size.height
    }

    /// Takes the next row of the file.
    mutating func write(_ source: UnsafePointer<UInt8>) throws(WebImageError) {
        if whole == nil, !isTopDown || format.alpha != .opaque { whole = try WholePicture(sink, format) }
        if let whole {
            if rowsDone % 64 == 0 { try options.checkpoint?() }
            if !isVisible { isVisible = converter?.hasVisiblePixel(source) ?? true }
            converter?.convert(source, whole.row(isTopDown ? rowsDone : format.size.height - 1 - rowsDone))
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
        let (height, width) = (format.size.height, format.size.width)
        if !isVisible {
            let pixels = whole.row(isTopDown ? 0 : height - rowsDone).assumingMemoryBound(to: UInt32.self)
            for index in 0..<rowsDone * width { pixels[index] |= UInt32(0xFF00_0000).littleEndian }
        }
        if isTopDown { return try whole.emit(rows: rowsDone, options) }
        let blank: UInt32 = format.alpha == .opaque ? UInt32(0xFF00_0000).littleEndian : 0
        whole.base.initializeMemory(as: UInt32.self, repeating: blank, count: (height - rowsDone) * width)
        try whole.emit(rows: height, options)
    }
}

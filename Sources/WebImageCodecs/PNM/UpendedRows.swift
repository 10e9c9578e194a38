import WebImageCore

/// Collects the rows of a picture whose last row comes first, and passes them on from the top when there are no more.
struct UpendedRows {
    private let whole: WholePicture
    private let options: DecodeOptions
    private var count = 0

    /// - Parameter sink: has begun with the format.
    init(_ sink: any RowSink, _ format: RowFormat, _ options: DecodeOptions) throws(WebImageError) {
        whole = try WholePicture(sink, format)
        self.options = options
    }

    private var height: Int { whole.format.size.height }
    var isComplete: Bool { count == height }

    func nextRow() throws(WebImageError) -> UnsafeMutableRawPointer {
        if count % RowBand.rows == 0 { try options.checkpoint?() }
        return whole.row(height - 1 - count)
    }

    mutating func rowIsDone() { count += 1 }

    /// Passes on all rows; the missing upper ones are black.
    ///
    /// - Throws: `truncatedData`, unless all rows are there.
    func end(of picture: ImageFormat) throws(WebImageError) {
        guard count > 0 || height == 0 else { throw truncated(picture) }
        for row in 0..<height - count {
            if row % RowBand.rows == 0 { try options.checkpoint?() }
            blacken(row)
        }
        try whole.emit(rows: height, options)
        guard isComplete else { throw truncated(picture) }
    }

    private func blacken(_ row: Int) {
        let format = whole.format
        for x in 0..<format.size.width {
            let channels = whole.row(row) + x * format.layout.bytesPerPixel
            if format.layout == .rgba16 {
                channels.storeBytes(of: UInt64(0xFFFF_0000_0000_0000).littleEndian, as: UInt64.self)
            } else {
                channels.storeBytes(of: UInt32(0xFF00_0000).littleEndian, as: UInt32.self)
            }
        }
    }

    private func truncated(_ picture: ImageFormat) -> WebImageError {
        WebImageError(.truncatedData, "the data ends early: \(count) of \(height) rows are there", format: picture)
    }
}

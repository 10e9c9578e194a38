import WebImageCore

extension BandWriter {
    /// Begins the sink, and makes a writer for its rows.
    init(beginning sink: any RowSink, _ format: RowFormat, _ options: DecodeOptions) throws(WebImageError) {
        try sink.begin(format)
        self.init(sink, format, options)
    }

    /// Passes on the available part of a picture whose data has ended.
    ///
    /// - Throws: `truncatedData`, unless all rows are there.
    mutating func end(of picture: ImageFormat) throws(WebImageError) {
        try flush()
        guard isComplete else {
            throw WebImageError(
                .truncatedData, "the data ends early: \(row) of \(format.size.height) rows are there", format: picture)
        }
    }
}

import WebImageCore

/// Passes rows to a sink in short runs, for decoders that produce them one by one from the top.
struct BandWriter {
    let sink: any RowSink
    let format: RowFormat
    private let checkpoint: (@Sendable () throws(WebImageError) -> Void)?
    /// The first row that was not committed.
    private var start = 0
    private var band: UnsafeMutableRawPointer?
    private var capacity = 0
    private var filled = 0

    init(_ sink: any RowSink, _ format: RowFormat, _ options: DecodeOptions) {
        self.sink = sink
        self.format = format
        self.checkpoint = options.checkpoint
    }

    /// The next row; the picture's height if all are written.
    var row: Int { start + filled }
    var isComplete: Bool { row >= format.size.height }
    /// Whether no further row is needed.
    var isDone: Bool { isComplete || !sink.wantsRows }

    /// Memory for row ``row``, not cleared and valid until the next call.
    mutating func nextRow() throws(WebImageError) -> UnsafeMutableRawPointer {
        precondition(!isComplete, "a row below the picture was asked for")
        if let band, filled < capacity { return band + filled * format.bytesPerRow }
        try flush()
        try checkpoint?()
        capacity = min(RowBand.rows, format.size.height - start)
        let fresh = try sink.band(at: start, count: capacity)
        band = fresh
        return fresh
    }

    /// Marks the last requested row as written.
    mutating func rowIsDone() throws(WebImageError) {
        filled += 1
        if filled == capacity { try flush() }
    }

    /// Commits the written rows.
    mutating func flush() throws(WebImageError) {
        let count = filled
        band = nil
        capacity = 0
        filled = 0
        guard count > 0 else { return }
        let first = start
        start += count
        try sink.commit(at: first, count: count)
    }
}

import CShimJPEG
import WebImageCore
import WebImageProcessing

extension JPEGDecoder {
    /// Writes the rows for which there are enough bytes to the sink.
    func readRows() throws(WebImageError) {
        guard let format, let sink else { return }
        while row < format.size.height, sink.wantsRows {
            guard try readBand(of: RowBand.rows, format, sink) else { return }
        }
        stage = .complete
    }

    /// Writes up to `count` rows to the sink; false if there are not enough bytes for all of them.
    private func readBand(
        of count: Int, _ format: RowFormat, _ sink: any RowSink
    ) throws(WebImageError) -> Bool {
        try options.checkpoint?()
        let wanted = min(count, format.size.height - row)
        let band = try sink.band(at: row, count: wanted)
        var done: UInt32 = 0
        let result = read(wanted, format, into: band, &done)
        if done > 0 {
            try sink.commit(at: row, count: Int(done))
            row += Int(done)
        }
        return try check(result) != WI_JPEG_NEEDS_BYTES
    }

    /// Reads up to `count` rows in the colours of the output.
    func read(
        _ count: Int, _ format: RowFormat, into rows: UnsafeMutableRawPointer, _ done: inout UInt32
    ) -> Int32 {
        let memory = rows.assumingMemoryBound(to: UInt8.self)
        let result = wi_jpeg_read_rows(handle, memory, format.bytesPerRow, UInt32(count), &done)
        for row in 0..<Int(done) { inks?.convert(memory + row * format.bytesPerRow, count: format.size.width) }
        return result
    }

    /// Reads the remaining rows when the data has ended. libjpeg continues with invented blocks, so rows are read one
    /// at a time, up to the first of these.
    func readLastRows() throws(WebImageError) {
        guard let format, let sink else { return }
        while row < format.size.height, sink.wantsRows {
            if row % RowBand.rows == 0 { try options.checkpoint?() }
            let band = try sink.band(at: row, count: 1)
            var done: UInt32 = 0
            try check(read(1, format, into: band, &done))
            guard done == 1, wi_jpeg_ran_out(handle) == 0 else { throw truncated(format) }
            try sink.commit(at: row, count: 1)
            row += 1
        }
    }

    /// Writes the first `rows` rows of the picture as known after the last scan.
    func emitPicture(rows: Int, _ format: RowFormat, _ sink: any RowSink) throws(WebImageError) {
        try check(wi_jpeg_start_output(handle, 1))
        while row < rows, sink.wantsRows {
            guard try readBand(of: min(RowBand.rows, rows - row), format, sink) else { throw truncated(format) }
        }
    }

    func truncated(_ format: RowFormat) -> WebImageError {
        let isCoarse = row == format.size.height
        let there = isCoarse ? "all rows are there, but coarse" : "\(row) of \(format.size.height) rows are there"
        return WebImageError(.truncatedData, "the JPEG's data ends early: \(there)", format: .jpeg)
    }
}

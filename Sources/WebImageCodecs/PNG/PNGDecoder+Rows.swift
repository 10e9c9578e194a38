import CShimPNG
import WebImageCore

extension PNGDecoder {
    // MARK: rows that come once

    /// Memory for the rows from `row` on; nil stops libpng. Called from within libpng.
    func nextBand(at row: Int, _ count: inout UInt32) -> UnsafeMutablePointer<UInt8>? {
        do throws(WebImageError) {
            try commitWrittenRows()
            guard let sink, let format, row < format.size.height else { return nil }
            try options.checkpoint?()
            let wanted = min(RowBand.rows, format.size.height - row)
            count = UInt32(wanted)
            return try sink.band(at: row, count: wanted).assumingMemoryBound(to: UInt8.self)
        } catch {
            failure = error
            return nil
        }
    }

    /// Passes on the rows that libpng has written into the band.
    func commitWrittenRows() throws(WebImageError) {
        guard let handle, let sink, picture == nil else { return }
        let count = Int(wi_png_rows(handle))
        guard count > 0 else { return }
        wi_png_forget_rows(handle)
        try sink.commit(at: row, count: count)
        row += count
    }

    // MARK: rows that come several times

    /// Gives libpng memory for the whole picture.
    func beginInterlaced(_ sink: any RowSink, _ format: RowFormat) throws(WebImageError) {
        guard let handle else { return }
        let whole = try WholePicture(sink, format)
        whole.clear()
        wi_png_set_picture(handle, whole.base.assumingMemoryBound(to: UInt8.self), format.bytesPerRow)
        picture = whole
    }

    /// How many rows of an interlaced picture have pixels: all after the first of the seven passes.
    var coarseRows: Int {
        guard let handle, let format else { return 0 }
        return wi_png_pass(handle) > 0 ? format.size.height : min(Int(wi_png_rows(handle)), format.size.height)
    }

    /// Passes on the first `rows` rows of an interlaced picture.
    func emitPicture(rows: Int) throws(WebImageError) {
        try picture?.emit(rows: rows, options)
        row = rows
        picture = nil
    }

    /// The known part of an interlaced picture, each pixel enlarged according to its pass.
    func preview() throws(WebImageError) -> PixelBuffer? {
        guard stage == .data, let picture, let handle, wi_png_pass(handle) > 0, received > receivedAtPreview else {
            return nil
        }
        receivedAtPreview = received
        return try picture.preview()
    }
}

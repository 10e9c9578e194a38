import CShimJPEG
import WebImageCore

extension JPEGDecoder {
    /// The limit for scans. A scan of a few bytes may cost a pass over the whole picture; ordinary pictures have ten
    /// scans.
    private static let maxScans = 500
    /// Rows of blocks between two checkpoints.
    private static let stepsBetweenCheckpoints: Int32 = 32

    /// Reads the available coefficients. At the end of the last scan it writes the picture to the sink, unless the
    /// bytes have ended: then it only returns true, which means that nothing more follows.
    func readScans(emits: Bool = true) throws(WebImageError) -> Bool {
        guard let format, let sink else { return false }
        while true {
            try options.checkpoint?()
            let result = try check(wi_jpeg_consume(handle, Self.stepsBetweenCheckpoints))
            guard wi_jpeg_scan(handle) <= Self.maxScans else {
                throw WebImageError(.limitExceeded, "the JPEG has more than \(Self.maxScans) scans", format: .jpeg)
            }
            if result == WI_JPEG_NEEDS_BYTES { return false }
            guard result == WI_JPEG_READY else { continue }
            if emits {
                try emitPicture(rows: format.size.height, format, sink)
                stage = .complete
            }
            return true
        }
    }

    /// Renders the picture from the available scans when the data has ended: all rows with less detail, or the first
    /// rows of the first scan.
    func readLastScans() throws(WebImageError) {
        guard let format, let sink else { return }
        guard try readScans(emits: false) else { throw truncated(format) }
        try emitPicture(rows: Int(wi_jpeg_known_rows(handle)), format, sink)
        if wi_jpeg_is_exact(handle) == 0 { throw truncated(format) }
    }

    /// The scans so far, rendered; nil until the first of them is complete.
    func preview() throws(WebImageError) -> PixelBuffer? {
        guard stage == .scans, let format, received > receivedAtPreview, wi_jpeg_scan(handle) > 1 else { return nil }
        receivedAtPreview = received
        let picture = try PixelBuffer(size: format.size, layout: format.layout)
        try check(wi_jpeg_start_output(handle, 0))
        var done = 0
        while done < format.size.height {
            try options.checkpoint?()
            var count: UInt32 = 0
            let wanted = min(64, format.size.height - done)
            let result = try check(read(wanted, format, into: picture.row(done), &count))
            guard result != WI_JPEG_NEEDS_BYTES else { return nil }
            done += Int(count)
        }
        try check(wi_jpeg_finish_output(handle))
        return picture
    }
}

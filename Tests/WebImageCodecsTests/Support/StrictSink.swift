import Testing
import WebImageCore

/// A sink that keeps no whole picture, and records an issue if a decoder breaks the rules: rows out of order, rows
/// without a band, or a second beginning.
final class StrictSink: RowSink {
    private(set) var format: RowFormat?
    private(set) var bytes: [UInt8] = []
    private(set) var rowsDone = 0
    private(set) var commits = 0
    /// Thrown by the commit of this row or a later one.
    var failure: (row: Int, error: WebImageError)?
    private var band: UnsafeMutableRawBufferPointer?
    private var bandRow = 0

    deinit { band?.deallocate() }

    func begin(_ format: RowFormat) throws(WebImageError) {
        #expect(self.format == nil, "begin was called twice")
        self.format = format
    }

    func band(at row: Int, count: Int) -> UnsafeMutableRawPointer {
        guard let format else { preconditionFailure("a band before begin") }
        #expect(row == rowsDone && count > 0 && row + count <= format.size.height)
        band?.deallocate()
        let fresh = UnsafeMutableRawBufferPointer.allocate(byteCount: format.bytesPerRow * count, alignment: 64)
        fresh.initializeMemory(as: UInt8.self, repeating: 0xA5)
        band = fresh
        bandRow = row
        guard let base = fresh.baseAddress else { preconditionFailure("an empty band") }
        return base
    }

    func commit(at row: Int, count: Int) throws(WebImageError) {
        guard let format, let band else { preconditionFailure("a commit without a band") }
        #expect(row == rowsDone && row == bandRow && count > 0 && count * format.bytesPerRow <= band.count)
        if let failure, row + count > failure.row { throw failure.error }
        bytes.append(contentsOf: band.prefix(count * format.bytesPerRow))
        rowsDone += count
        commits += 1
    }
}

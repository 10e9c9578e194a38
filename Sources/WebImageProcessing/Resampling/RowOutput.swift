import WebImageCore

/// Where a stage writes its rows, in order from the top: the pixels of the result, or what the next stage takes.
protocol RowOutput: AnyObject {
    /// Memory for the whole of a row; valid until it is committed.
    ///
    /// - Throws: `limitExceeded` when there is no memory for it.
    func row(_ index: Int) throws(WebImageError) -> UnsafeMutableRawPointer
    /// Says that the row is complete in the memory last given for it.
    func commit(_ index: Int) throws(WebImageError)
}

extension PixelBuffer: RowOutput {
    func commit(_ index: Int) {}
}

import WebImageCore

/// Receives the rows of a stage, from the top: the pixels of the result, or the input of the next stage.
protocol RowOutput: AnyObject {
    /// Memory for the whole of a row; valid until it is committed.
    ///
    /// - Throws: `limitExceeded` when there is no memory for it.
    func row(_ index: Int) throws(WebImageError) -> UnsafeMutableRawPointer
    /// Marks the row as complete in the memory last returned for it.
    func commit(_ index: Int) throws(WebImageError)
}

extension PixelBuffer: RowOutput {
    func commit(_ index: Int) {}
}

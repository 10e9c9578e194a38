public import WebImageCore

/// Encodes the pages of one file, in order. Not thread-safe.
public protocol PageEncoder: AnyObject {
    /// Adds a picture as a page, with its own size, depth and orientation.
    ///
    /// - Throws: `cannotEncode`; `limitExceeded` without memory.
    func add(_ page: Image) throws(WebImageError)

    /// Returns the file. No pages may be added afterwards.
    ///
    /// - Throws: `cannotEncode`, also when no page was added.
    func finish() throws(WebImageError) -> [UInt8]
}

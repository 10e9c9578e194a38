public import WebImageCore

/// Encodes the pages of one file, in order. Not thread-safe.
public protocol PageEncoder: AnyObject {
    /// Adds a picture as a page of its own size, depth and orientation.
    ///
    /// - Throws: `cannotEncode`; `limitExceeded` without memory.
    func add(_ page: Image) throws(WebImageError)

    /// The file. Nothing is added afterwards.
    ///
    /// - Throws: `cannotEncode`, also when no page was added.
    func finish() throws(WebImageError) -> [UInt8]
}

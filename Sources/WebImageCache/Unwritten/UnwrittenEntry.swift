package import WebImageCore

/// An entry that is not on disk yet but can be read.
package protocol UnwrittenEntry: Sendable {
    var key: CacheKey { get }
    var metadata: DiskMetadata { get }
    /// The place of the entry's write in the order of all writes.
    var number: UInt64 { get }
    /// Returns the entry's bytes. May block for a file.
    func allBytes() throws(WebImageError) -> [UInt8]
}

/// An entry with known bytes that code outside the cache will write, as the write of ``order``.
package protocol ExpectedEntry: UnwrittenEntry, AnyObject {
    var order: DiskWriteOrder { get }
    /// Whether all its bytes have arrived.
    var isComplete: Bool { get }
}

extension ExpectedEntry {
    package var number: UInt64 { order.number }
}

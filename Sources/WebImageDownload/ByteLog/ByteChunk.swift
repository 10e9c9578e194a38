/// Memory that a log's bytes lie in: filled once from front to back, freed with its last user.
final class ByteStorage: @unchecked Sendable {
    // Sendable: the writer only touches bytes that no chunk covers yet, and publishes them under the log's lock.
    let base: UnsafeMutableRawPointer
    let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
        base = .allocate(byteCount: max(capacity, 1), alignment: 16)
    }

    deinit { base.deallocate() }
}

/// A piece of a log: immutable, shared by reference count, valid for as long as it is held.
package struct ByteChunk: Sendable {
    /// Where the bytes lie in the log.
    package let range: Range<Int>
    private let storage: ByteStorage
    private let start: Int

    init(storage: ByteStorage, start: Int, range: Range<Int>) {
        self.storage = storage
        self.start = start
        self.range = range
    }

    package var count: Int { range.count }

    package func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { withExtendedLifetime(storage) {} }
        return try body(UnsafeRawBufferPointer(start: storage.base + start, count: range.count))
    }

    /// A copy.
    package var array: [UInt8] { withUnsafeBytes { Array($0) } }
}

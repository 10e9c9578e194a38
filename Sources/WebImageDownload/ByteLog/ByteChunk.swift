/// The memory of a log's bytes: filled once from front to back, and freed with its last user.
final class ByteStorage: @unchecked Sendable {
    // Sendable: the writer only touches bytes that no chunk covers yet, and publishes them under the log's lock.
    let base: UnsafeMutableRawPointer
    let capacity: Int
    /// Existing bytes, which are read instead of those at `base`.
    let array: [UInt8]?

    init(capacity: Int) {
        self.capacity = capacity
        array = nil
        base = .allocate(byteCount: max(capacity, 1), alignment: 16)
    }

    /// Makes full storage from an array, without a copy, because a body from disk or from the caller may be long.
    init(_ array: [UInt8]) {
        capacity = array.count
        self.array = array
        base = .allocate(byteCount: 1, alignment: 16)
    }

    deinit { base.deallocate() }

    func withUnsafeBytes<Result, Failure: Error>(
        _ range: Range<Int>, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { withExtendedLifetime(self) {} }
        guard let array else {
            return try body(UnsafeRawBufferPointer(start: base + range.lowerBound, count: range.count))
        }
        return try array.withUnsafeBufferPointer { bytes throws(Failure) in
            try body(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[range])))
        }
    }
}

/// A piece of a log: immutable, shared by reference count, valid for as long as it is held.
package struct ByteChunk: Sendable {
    /// The position of the bytes in the log.
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
        try storage.withUnsafeBytes(start..<start + range.count, body)
    }

    /// The array that holds exactly these bytes, if there is one.
    package var wholeArray: [UInt8]? { start == 0 && storage.array?.count == count ? storage.array : nil }

    /// A copy of the bytes.
    package var array: [UInt8] { withUnsafeBytes { Array($0) } }
}

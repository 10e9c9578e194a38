/// Collects a known number of bytes, such as the header of a chunk or a row, from input in arbitrary pieces.
struct ByteCollector {
    private(set) var bytes: [UInt8] = []

    var count: Int { bytes.count }
    var isEmpty: Bool { bytes.isEmpty }

    /// Takes the missing part of `count` bytes from the start of `input`.
    ///
    /// - Returns: whether they are complete.
    mutating func collect(_ count: Int, _ input: inout UnsafeBufferPointer<UInt8>) -> Bool {
        bytes.append(contentsOf: input.takeFirst(max(count - bytes.count, 0)))
        return bytes.count >= count
    }

    /// Returns the bytes so far, and starts again.
    mutating func take() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }

    /// Starts again with the same memory.
    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }
}

extension UnsafeBufferPointer<UInt8> {
    /// Removes up to `count` bytes from the start.
    mutating func takeFirst(_ count: Int) -> UnsafeBufferPointer<UInt8> {
        let taken = UnsafeBufferPointer(rebasing: prefix(count))
        self = UnsafeBufferPointer(rebasing: dropFirst(count))
        return taken
    }
}

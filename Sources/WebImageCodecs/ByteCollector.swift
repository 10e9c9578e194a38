/// Gathers the bytes of something whose length is known, such as the header of a chunk or a row, from input that comes in any
/// pieces.
struct ByteCollector {
    private(set) var bytes: [UInt8] = []

    var count: Int { bytes.count }
    var isEmpty: Bool { bytes.isEmpty }

    /// Takes from the start of `input` what is missing of `count` bytes.
    ///
    /// - Returns: whether they are all there.
    mutating func collect(_ count: Int, _ input: inout UnsafeBufferPointer<UInt8>) -> Bool {
        bytes.append(contentsOf: input.takeFirst(max(count - bytes.count, 0)))
        return bytes.count >= count
    }

    /// The bytes so far; it begins anew.
    mutating func take() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }

    /// Begins anew with the memory that it has.
    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }
}

extension UnsafeBufferPointer<UInt8> {
    /// Cuts up to `count` bytes off the start.
    mutating func takeFirst(_ count: Int) -> UnsafeBufferPointer<UInt8> {
        let taken = UnsafeBufferPointer(rebasing: prefix(count))
        self = UnsafeBufferPointer(rebasing: dropFirst(count))
        return taken
    }
}

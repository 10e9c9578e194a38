/// All bytes of a file in their original memory, which is retained and never changed.
package final class WholeFile: @unchecked Sendable {
    // Sendable: neither the bytes nor their owner change.
    package let bytes: UnsafeRawBufferPointer
    /// The owner of the bytes.
    private let holder: any Sendable

    package init(_ array: [UInt8]) {
        holder = array
        // The array is held here and never changed, so its memory stays in place.
        bytes = array.withUnsafeBytes { $0 }
    }

    init(_ mapping: FileMapping) {
        holder = mapping
        bytes = mapping.bytes
    }
}

/// All bytes of a file, where they lie: held, and never changed.
package final class WholeFile: @unchecked Sendable {
    // Sendable: nothing changes it, nor what its bytes are part of.
    package let bytes: UnsafeRawBufferPointer
    /// What they are part of.
    private let holder: any Sendable

    package init(_ array: [UInt8]) {
        holder = array
        // Nobody changes the array that is held here, so that its memory stays where it is.
        bytes = array.withUnsafeBytes { $0 }
    }

    init(_ mapping: FileMapping) {
        holder = mapping
        bytes = mapping.bytes
    }
}

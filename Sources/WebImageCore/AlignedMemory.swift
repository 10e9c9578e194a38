/// Memory for pixels: it begins at a multiple of 64 bytes, is not cleared, and is deallocated by hand.
///
/// Not from `allocate(byteCount:alignment:)`: glibc before 2.38 never fits an aligned request into the block that an equal
/// one has freed, so that a process grows with every picture that it decodes (measured: by 260 MB over 25 of 16 MB each).
package struct AlignedMemory {
    package let base: UnsafeMutableRawPointer
    private let block: UnsafeMutableRawPointer

    package init(byteCount: Int) {
        block = .allocate(byteCount: byteCount + 48, alignment: 16)
        base = block.alignedUp(toMultipleOf: 64)
    }

    package func deallocate() { block.deallocate() }
}

import CShimSystem

/// Memory for pixels: it begins at a multiple of 64 bytes, is not cleared, and is deallocated by hand.
///
/// Not from `allocate(byteCount:alignment:)`: glibc before 2.38 never fits an aligned request into the block that an equal
/// one has freed, so that a process grows with every picture that it decodes (measured: by 260 MB over 25 of 16 MB each).
/// And Swift's own allocation ends the process where there is no memory.
package struct AlignedMemory {
    package let base: UnsafeMutableRawPointer
    private let block: UnsafeMutableRawPointer
    private let count: Int

    /// The room that it may take to come from where the allocator begins a block, a multiple of 16, to one of 64.
    private static let slack = 48

    /// - Throws: `limitExceeded` when the system gives no such memory.
    package init(byteCount: Int) throws(WebImageError) {
        let (count, overflow) = byteCount.addingReportingOverflow(Self.slack)
        self.count = max(count, Self.slack)
        guard !overflow, let block = wi_allocate(self.count) else {
            throw WebImageError(.limitExceeded, "there is no memory for \(ByteCount(byteCount)) of pixels")
        }
        self.block = block
        base = block.alignedUp(toMultipleOf: 64)
    }

    package func deallocate() { wi_free(block, count) }
}

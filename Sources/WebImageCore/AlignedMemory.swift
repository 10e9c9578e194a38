import CShimSystem

/// Memory for pixels. It begins at a multiple of 64 bytes, is not cleared, and must be deallocated explicitly.
///
/// It is not allocated with `allocate(byteCount:alignment:)` for two reasons. glibc before 2.38 does not reuse a freed
/// aligned block for an equal aligned request, so that a process grows with every picture that it decodes (measured: by
/// 260 MB over 25 pictures of 16 MB each). And Swift's allocation ends the process when there is no memory.
package struct AlignedMemory {
    package let base: UnsafeMutableRawPointer
    private let block: UnsafeMutableRawPointer
    private let count: Int

    /// The most bytes between the start of the allocator's block, a multiple of 16, and the next multiple of 64.
    private static let slack = 48

    /// - Throws: `limitExceeded` when the system has no memory left.
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

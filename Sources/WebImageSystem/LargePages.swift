import CShimSystem

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Asks the kernel to back fresh memory with large pages (on Linux madvise(2), `MADV_HUGEPAGE`): the first write to each
/// page of a 12-megapixel picture otherwise costs a third of its decode (measured). A wish: what the kernel answers does
/// not matter, and small blocks are left alone.
package func wishForLargePages(_ start: UnsafeMutableRawPointer, byteCount: Int) {
    guard byteCount >= 8 << 20 else { return }
    let page = max(Int(getpagesize()), 1)
    let unaligned = Int(bitPattern: start) % page
    let unused = unaligned == 0 ? 0 : page - unaligned
    wi_wish_for_large_pages(start + unused, (byteCount - unused) / page * page)
}

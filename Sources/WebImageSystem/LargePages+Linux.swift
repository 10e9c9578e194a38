#if os(Linux)
    import Glibc
#endif

/// Asks the kernel to back fresh memory with large pages (madvise(2), `MADV_HUGEPAGE`): the first write to each page
/// of a 12-megapixel picture otherwise costs a third of its decode (measured). A wish: what the kernel answers does not
/// matter, and small blocks are left alone.
package func wishForLargePages(_ start: UnsafeMutableRawPointer, byteCount: Int) {
    #if os(Linux)
        guard byteCount >= 8 << 20 else { return }
        let page = max(Int(sysconf(Int32(_SC_PAGESIZE))), 1)
        let unaligned = Int(bitPattern: start) % page
        let unused = unaligned == 0 ? 0 : page - unaligned
        madvise(start + unused, (byteCount - unused) / page * page, MADV_HUGEPAGE)
    #endif
}

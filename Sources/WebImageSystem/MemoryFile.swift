import CShimSystem
package import WebImageCore

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Bytes that the C libraries of this process can open as a file by name: in memory on Linux, elsewhere in a temporary
/// file that only this user can read.
package struct MemoryFile: Sendable {
    package let name: String
    private let file: Int32

    package init(_ bytes: [UInt8]) throws(FileFault) {
        var file: Int32 = -1
        name = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer in
            guard let start = buffer.baseAddress else { return "" }
            file = wi_memory_file(start, buffer.count)
            return file < 0 ? "" : String(cString: start)
        }
        guard file >= 0 else { throw FileFault("open", "a file in memory", errno) }
        self.file = file
        do throws(FileFault) {
            try PosixFileSystem().writeAll(file, bytes, at: 0)
        } catch {
            remove()
            throw error
        }
    }

    /// Frees the memory when all users have closed the file.
    package func remove() { wi_remove_memory_file(file, name) }
}

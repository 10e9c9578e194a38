import CShimSandbox

/// A file that a worker reads itself, mapped into memory.
final class FileMapping: @unchecked Sendable {
    // Sendable: nothing changes it.
    let bytes: UnsafeRawBufferPointer

    /// - Parameter descriptor: the open file, which is closed here.
    /// - Returns: nil if it cannot be mapped, or has been shortened.
    init?(descriptor: Int32, byteCount: Int) {
        guard let base = wi_worker_map_file(descriptor, byteCount) else { return nil }
        bytes = UnsafeRawBufferPointer(start: base, count: byteCount)
    }

    deinit { wi_worker_unmap_file(bytes.baseAddress, bytes.count) }
}

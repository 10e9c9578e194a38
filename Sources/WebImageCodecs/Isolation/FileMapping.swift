import CShimSandbox

/// A file that a worker reads by itself, in the memory of nobody but the system.
final class FileMapping: @unchecked Sendable {
    // Sendable: nothing changes it.
    let bytes: UnsafeRawBufferPointer

    /// - Parameter descriptor: closed by this.
    /// - Returns: nil where it cannot be mapped, or is shorter by now.
    init?(descriptor: Int32, byteCount: Int) {
        guard let base = wi_worker_map_file(descriptor, byteCount) else { return nil }
        bytes = UnsafeRawBufferPointer(start: base, count: byteCount)
    }

    deinit { wi_worker_unmap_file(bytes.baseAddress, bytes.count) }
}
